#pragma once

// eventpp's heterogeneous callback list: see sluice/event/heter_callback_list.hpp.

#include <eventpp/callbacklist.h>
#include <sluice/event/heter_callback_list.hpp>
#include <sluice/event/heter_tuple.hpp>

#include <array>

namespace eventpp {

using sluice::HeterCallbackList;
using sluice::HeterTuple;

}  // namespace eventpp
