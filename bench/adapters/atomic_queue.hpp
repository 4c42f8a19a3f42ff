#pragma once

#include "adapters/try_pop_adapter.hpp"

#include <atomic_queue/atomic_queue.h>

#include <cstddef>
#include <memory>

namespace sluice::bench {

/// atomic_queue::AtomicQueueB2, its run-time-sized ring for elements that are not atomic:
/// try_push(), try_pop(). `SingleProducer` selects its single-producer-single-consumer mode. Its
/// other pair, the "optimist" push() and pop(), waits inside the queue and is left out, since
/// waiting is alike for all here. The library promises an order only for that pair: a producer that
/// is preempted after it took its place can be overtaken by one that is a lap ahead.
template <class Message, bool SingleProducer>
struct AtomicQueueCalls {
    explicit AtomicQueueCalls(std::size_t capacity) : queue(unsigned(capacity)) {}
    bool tryPush(const Message& message) { return queue.try_push(message); }
    bool tryPop(Message& message) { return queue.try_pop(message); }

    atomic_queue::AtomicQueueB2<Message, std::allocator<Message>, true, false, SingleProducer>
        queue;
};

template <class Message, bool SingleProducer>
using AtomicQueue = TryPopAdapter<Message, AtomicQueueCalls<Message, SingleProducer>>;

}  // namespace sluice::bench
