#pragma once

#include <sluice/event/callback_list.hpp>

namespace sluice::test {

/// Callbacks that write the version of their plugin.
using VersionList = CallbackList<void(int&)>;
using UseVersion = void (*)(VersionList& list);

}  // namespace sluice::test
