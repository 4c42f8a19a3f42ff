#pragma once

// eventpp's heterogeneous queue: see sluice/event/heter_event_queue.hpp.

#include <eventpp/eventqueue.h>
#include <eventpp/hetereventdispatcher.h>
#include <sluice/event/heter_event_queue.hpp>

namespace eventpp {

using sluice::HeterEventQueue;

}  // namespace eventpp
