#pragma once

#include <sluice/event/detail/queue/queue_base.hpp>

namespace sluice {

/// Keeps events until a thread dispatches them: an EventDispatcher with a queue in front of it.
///
///     sluice::EventQueue<int, void(const std::string&)> queue;
///     queue.appendListener(3, [](const std::string& text) { ... });
///     queue.enqueue(3, "hello");   // any thread
///     queue.process();             // calls the listeners
///
/// Use it if listeners run later, or on another thread than the producer. Use EventDispatcher if
/// listeners run at once. Use Bus for typed messages with priorities.
///
/// Threads: any thread may call any member at any time, also from inside a listener. While a thread
/// copies, moves, assigns, swaps or destroys a queue, no other thread may use it. A listener may
/// destroy the queue that is calling it: then the events that were not dispatched yet are
/// destroyed.
///
/// Order: one of the processing threads dispatches each event, once, and destroys its arguments
/// afterwards. The events of one thread stay in order. The next process() dispatches an event that
/// a listener queues. A nested process() dispatches it before the rest of the outer batch.
///
/// Progress: producers and consumers share a lock, which is held for a few instructions. No
/// listener and no constructor of an argument runs under it. Memory promise: the listeners see all
/// that a producer wrote before enqueue().
///
/// Exceptions: an exception of a listener leaves process(). Its event counts as dispatched, and all
/// other events stay queued, in order. If an argument's constructor throws in enqueue(), nothing
/// was queued.
///
/// Capacity: unlimited, or as EventQueueOptions says. If the queue has no memory for an event, it
/// allocates a block of some kilobytes, and reuses it. trim() and the end of the queue free the
/// memory. If a burst took more than EventQueueOptions::keptBytes, the queue frees all blocks after
/// the last event of the burst.
///
/// Shutdown: close() refuses later events and wakes all waiters. drain() waits until all accepted
/// events have been processed. The destructor of the queue destroys the events that are left. After
/// drain() the queue may be destroyed, even if the last process() has not returned yet.
///
/// `Policies`: as for EventDispatcher, and QueueList.
template <class Event, class Prototype, class Policies = DefaultPolicies>
class EventQueue : public detail::Mixed<detail::QueueBase<Event, Prototype, Policies>, Policies>,
                   public TagEventDispatcher,
                   public TagEventQueue {
    using Base = detail::Mixed<detail::QueueBase<Event, Prototype, Policies>, Policies>;

public:
    using Base::Base;
};

}  // namespace sluice
