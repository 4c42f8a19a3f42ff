#pragma once

#if __cplusplus < 201703L
#error "Sluice needs C++17: compile with -std=c++17 or later"
#else

// eventpp's heterogeneous queue: see sluice/event/heter_event_queue.hpp.

#include <eventpp/eventqueue.h>
#include <eventpp/hetereventdispatcher.h>
#include <sluice/event/heter_event_queue.hpp>

namespace eventpp {

using sluice::HeterEventQueue;

namespace internal_ {

template <class Event, class PrototypeList, class Policies>
using HeterEventQueueBase = sluice::HeterEventQueue<Event, PrototypeList, Policies>;

}  // namespace internal_

}  // namespace eventpp

#endif
