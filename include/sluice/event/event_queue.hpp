#pragma once

#include <sluice/event/detail/queue/queue_base.hpp>

namespace sluice {

/// Events that wait to be dispatched: an EventDispatcher with a queue in front of it.
///
///     sluice::EventQueue<int, void(const std::string&)> queue;
///     queue.appendListener(3, [](const std::string& text) { ... });
///     queue.enqueue(3, "hello");   // any thread
///     queue.process();             // calls the listeners
///
/// Use it to take work from the thread where something happens to the thread, or the moment, where
/// it is dealt with. Use EventDispatcher when listeners may run at once; a Bus for typed messages
/// with priorities.
///
/// Threads: any thread anything at any time, also from inside a listener, except that
/// copying, moving, assigning, swapping and destroying need the queue for themselves as far as
/// other threads go. A listener may destroy the queue that is calling it: the events that were not
/// dispatched yet are destroyed with it.
///
/// Each event is dispatched once, by one of the threads that process, and its arguments are
/// destroyed right after. One thread's events stay in order. An event that a listener queues is
/// dispatched by the next process(), or by a nested one, which also dispatches it before the rest
/// of the outer batch.
///
/// Progress: blocking, since producers and consumers take turns under a lock for a few
/// instructions; no listener and no constructor of an argument runs under it. Memory promise: what
/// a producer wrote before enqueue() is visible to the listeners.
///
/// Exceptions: those of a listener leave process(); its event counts as dispatched, and all
/// others stay queued, in order. When an argument's constructor throws in enqueue(), nothing was
/// queued.
///
/// Capacity: unlimited, or as EventQueueOptions says. Memory is allocated in blocks of some
/// kilobytes when more events are queued than there is memory for, and used again. It is freed by
/// trim(), with the queue, and when the last event of a burst has been processed that took more
/// than EventQueueOptions::keptBytes.
///
/// Shutdown: close() refuses further events and wakes all waiters; drain() waits until what was
/// accepted has been processed. Events that are left are destroyed with the queue. After drain()
/// the queue may be destroyed, although the process() that has handled the last event has not
/// returned yet.
///
/// fork(): the child uses the queue. Events that other threads were adding or handling are the
/// parent's; the child counts the latter as discarded. See docs/guide/events.md.
///
/// `Policies`: those of EventDispatcher, and QueueList.
template <class Event, class Prototype, class Policies = DefaultPolicies>
class EventQueue : public detail::WithMixins<detail::QueueBase<Event, Prototype, Policies>,
                                             detail::MixinsOf<Policies>>::Type,
                   public TagEventDispatcher,
                   public TagEventQueue {
    using Base = typename detail::WithMixins<detail::QueueBase<Event, Prototype, Policies>,
                                             detail::MixinsOf<Policies>>::Type;

public:
    using Base::Base;
};

}  // namespace sluice
