#pragma once

#include <sluice/base/spin_lock.hpp>
#include <sluice/event/event_policies.hpp>
#include <sluice/event/event_queue.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <type_traits>
#include <utility>

// eventpp's EventQueue, and the policies of an optimised fork of eventpp.

namespace sluice {

namespace detail {

/// A queue whose enqueue() returns nothing, as in eventpp. Only a bool result is dropped, because
/// an enqueue() that a mixin defines may return another type.
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
    void enqueue(...) = delete;  // pass the prototype's arguments, alone or after the event
};

}  // namespace detail

namespace void_enqueue {

/// An EventQueue with eventpp's interface: enqueue() returns nothing. This class and its base are
/// both named EventQueue, because derived classes use that name.
template <class Event, class Prototype, class Policies = DefaultPolicies>
class EventQueue : public detail::VoidEnqueue<sluice::EventQueue<Event, Prototype, Policies>> {
    using Base = detail::VoidEnqueue<sluice::EventQueue<Event, Prototype, Policies>>;

public:
    using Base::Base;
};

}  // namespace void_enqueue

/// In eventpp's fork, these names select a memory pool. Sluice needs no pool, because its queues
/// store events in blocks of nodes instead of a std::list, and the blocks are as fast as a pool.
template <class T, std::size_t = 4096>
using PoolQueueAllocator = std::allocator<T>;
template <class T, std::size_t Capacity = 4096>
using PoolQueueList = std::list<T, PoolQueueAllocator<T, Capacity>>;

/// The policies of a fast shared queue in eventpp's fork. In Sluice, DefaultPolicies are as fast.
struct HighPerfPolicy {
    using Threading = GeneralThreading<SpinLock>;
    template <class T>
    using QueueList = PoolQueueList<T, 8192>;
};

}  // namespace sluice
