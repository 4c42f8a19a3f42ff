#pragma once

#include "adapters/pop_until_empty.hpp"

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
class AtomicQueue {
    using Queue =
        atomic_queue::AtomicQueueB2<Message, std::allocator<Message>, true, false, SingleProducer>;

public:
    AtomicQueue(std::size_t capacity, std::size_t) : queue_(unsigned(capacity)), most_(capacity) {}

    struct Producer {
        Queue& queue;
        bool tryPush(const Message& message) { return queue.try_push(message); }
    };

    struct Consumer {
        Queue& queue;
        std::size_t most;
        template <class Handler>
        std::size_t poll(Handler&& handler) {
            const auto pop = [this](Message& message) { return queue.try_pop(message); };
            return popUntilEmpty<Message>(most, pop, handler);
        }
    };

    Producer producer() { return {queue_}; }
    Consumer consumer() { return {queue_, most_}; }

private:
    Queue queue_;
    const std::size_t most_;
};

}  // namespace sluice::bench
