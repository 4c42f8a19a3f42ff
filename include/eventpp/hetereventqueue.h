#pragma once

#include <eventpp/internal/language.h>

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
