#pragma once

#include <sluice/event/callback_list.hpp>

// Two shared libraries use a list of the program. The libraries hide all their other symbols.

namespace sluice::test {

using List = CallbackList<void()>;

[[gnu::visibility("default")]] void callInOneLibrary(const List& list);
[[gnu::visibility("default")]] bool removeInAnother(List& list, const List::Handle& handle);

}  // namespace sluice::test
