#pragma once

#include <sluice/base/spin_lock.hpp>
#include <sluice/event/event_policies.hpp>
#include <sluice/event/event_queue.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <type_traits>
#include <utility>

// The queue of eventpp, and the policies that eventpp's optimised fork adds.

namespace sluice {

namespace detail {

/// A queue whose enqueue() returns nothing, as in eventpp. Only a bool result is dropped, because a
/// mixin's enqueue() may return another type.
template <class Queue>
class VoidEnqueue : public Queue {
    template <class Result>
    using NotBool = std::conditional_t<std::is_same_v<Result, bool>, void, Result>;
    template <class... A>
    using ResultOf = NotBool<decltype(std::declval<Queue&>().enqueue(std::declval<A>()...))>;

public:
    using Queue::Queue;

    template <class... A>
    ResultOf<A...> enqueue(A&&... args) {
        return static_cast<ResultOf<A...>>(Queue::enqueue(std::forward<A>(args)...));
    }
    template <int = 0>           // see EventQueue
    void enqueue(...) = delete;  // it takes the prototype's arguments, or the event and these
};

}  // namespace detail

namespace void_enqueue {

/// An EventQueue with eventpp's interface: enqueue() returns nothing. The class has the name of its
/// base, because derived classes call their base `EventQueue`.
template <class Event, class Prototype, class Policies = DefaultPolicies>
class EventQueue : public detail::VoidEnqueue<sluice::EventQueue<Event, Prototype, Policies>> {
    using Base = detail::VoidEnqueue<sluice::EventQueue<Event, Prototype, Policies>>;

public:
    using Base::Base;
};

}  // namespace void_enqueue

/// The names of eventpp's fork. A queue whose QueueList is a std::list stores events in blocks of
/// nodes, which are as fast as a pool.
template <class T, std::size_t = 4096>
using PoolQueueAllocator = std::allocator<T>;
template <class T, std::size_t Capacity = 4096>
using PoolQueueList = std::list<T, PoolQueueAllocator<T, Capacity>>;

/// The policies of eventpp's fork for a fast shared queue. The default policies are as fast.
struct HighPerfPolicy {
    using Threading = GeneralThreading<SpinLock>;
    template <class T>
    using QueueList = PoolQueueList<T, 8192>;
};

}  // namespace sluice
