#pragma once

#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "Sluice needs C++17: compile with -std=c++17 or later"
#else

#include <eventpp/eventqueue.h>
#include <eventpp/hetereventdispatcher.h>
#include <sluice/eventpp/heter_event_queue.hpp>

namespace eventpp {

using sluice::void_enqueue::HeterEventQueue;

namespace internal_ {

template <class Event, class PrototypeList, class Policies>
using HeterEventQueueBase = sluice::void_enqueue::HeterEventQueue<Event, PrototypeList, Policies>;

}  // namespace internal_

}  // namespace eventpp

#endif
