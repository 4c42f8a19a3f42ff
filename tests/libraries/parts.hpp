#pragma once

#include <sluice/event/callback_list.hpp>

// What two shared libraries that hide all their other symbols do with a list of the program.

namespace sluice::test {

using List = CallbackList<void()>;

[[gnu::visibility("default")]] void callInOneLibrary(const List& list);
[[gnu::visibility("default")]] bool removeInAnother(List& list, const List::Handle& handle);

}  // namespace sluice::test
