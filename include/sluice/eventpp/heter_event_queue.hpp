#pragma once

#include <sluice/eventpp/detail/heter/heter_queue_base.hpp>

namespace sluice {

/// Keeps events with arguments of several prototypes until a thread dispatches them: a
/// HeterEventDispatcher with a queue in front of it.
///
///     using Prototypes = sluice::HeterTuple<void(), void(int, const std::string&)>;
///     sluice::HeterEventQueue<int, Prototypes> queue;
///     queue.appendListener(3, [](int value, const std::string& text) { ... });
///     queue.enqueue(3, 42, "text");  // any thread
///     queue.process();               // calls the listeners
///
/// Use it if queued events have different arguments. Use EventQueue if all have the same. Use Bus
/// for messages that are types of their own.
///
/// All events are in one queue, first in, first out, whatever their prototype. The prototype is
/// chosen when an event is queued. Each event takes as much memory as the arguments of the largest
/// prototype.
///
/// Threads, order, progress, memory, exceptions, capacity and shutdown: as for EventQueue.
/// `Policies`: as for HeterEventDispatcher, and QueueList.
template <class Event, class PrototypeList, class Policies = DefaultPolicies>
class HeterEventQueue
    : public detail::Mixed<detail::HeterQueueBase<Event, PrototypeList, Policies>, Policies>,
      public TagEventDispatcher,
      public TagEventQueue,
      public TagHeterEventDispatcher,
      public TagHeterEventQueue {
    using Base = detail::Mixed<detail::HeterQueueBase<Event, PrototypeList, Policies>, Policies>;

public:
    using Base::Base;
};

}  // namespace sluice
