#pragma once

// eventpp's callback list: see sluice/event/callback_list.hpp.

#include <eventpp/eventpolicies.h>
#include <sluice/event/callback_list.hpp>

#include <cassert>
#include <functional>
#include <mutex>
#include <vector>

namespace eventpp {

using sluice::CallbackList;

}  // namespace eventpp
