#pragma once

#include <sluice/event/heter_event_queue.hpp>

#include <utility>

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
class HeterEventQueue : public sluice::HeterEventQueue<Event, PrototypeList, Policies> {
    using Base = sluice::HeterEventQueue<Event, PrototypeList, Policies>;

public:
    using Base::Base;

    template <class... A>
    void enqueue(A&&... args) {
        (void)Base::enqueue(std::forward<A>(args)...);
    }
};

}  // namespace sluice::void_enqueue
