#pragma once

#include <sluice/event/event_queue.hpp>
#include <sluice/eventpp/detail/queue/void_enqueue.hpp>

namespace sluice::void_enqueue {

/// An EventQueue whose enqueue() returns nothing, as eventpp's does.
///
///     void tell(eventpp::EventQueue<int, void(int)>& queue) {
///         return queue.enqueue(3, 4);  // an error if enqueue() returned bool
///     }
///
/// Use it through <eventpp/eventqueue.h>, for programs written for eventpp. Use EventQueue in new
/// programs: its enqueue() says whether the queue has refused the event. This class has the same
/// name, because derived classes call their base `EventQueue`.
template <class Event, class Prototype, class Policies = DefaultPolicies>
class EventQueue : public detail::VoidEnqueue<sluice::EventQueue<Event, Prototype, Policies>> {
    using Base = detail::VoidEnqueue<sluice::EventQueue<Event, Prototype, Policies>>;

public:
    using Base::Base;
};

}  // namespace sluice::void_enqueue
