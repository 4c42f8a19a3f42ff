#pragma once

// eventpp's heterogeneous dispatcher: see sluice/event/heter_event_dispatcher.hpp.

#include <eventpp/mixins/mixinheterfilter.h>
#include <sluice/event/heter_event_dispatcher.hpp>

namespace eventpp {

using sluice::HeterEventDispatcher;

}  // namespace eventpp
