#pragma once

#include <sluice/eventpp/detail/queue/void_enqueue.hpp>
#include <sluice/eventpp/heter_event_queue.hpp>

namespace sluice::void_enqueue {

/// A HeterEventQueue whose enqueue() returns nothing, as eventpp's does.
///
///     using Prototypes = eventpp::HeterTuple<void(), void(int)>;
///     void tell(eventpp::HeterEventQueue<int, Prototypes>& queue) {
///         return queue.enqueue(3, 4);  // an error if enqueue() returned bool
///     }
///
/// Use it through <eventpp/hetereventqueue.h>, for programs written for eventpp. Use
/// HeterEventQueue in new programs. See void_enqueue.hpp.
template <class Event, class PrototypeList, class Policies = DefaultPolicies>
class HeterEventQueue
    : public detail::VoidEnqueue<sluice::HeterEventQueue<Event, PrototypeList, Policies>> {
    using Base = detail::VoidEnqueue<sluice::HeterEventQueue<Event, PrototypeList, Policies>>;

public:
    using Base::Base;
};

}  // namespace sluice::void_enqueue
