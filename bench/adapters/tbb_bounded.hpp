#pragma once

#include "adapters/pop_until_empty.hpp"

#include <tbb/concurrent_queue.h>

#include <cstddef>

namespace sluice::bench {

/// tbb::concurrent_bounded_queue: set_capacity(), try_push(), try_pop().
template <class Message>
class TbbBounded {
    using Queue = tbb::concurrent_bounded_queue<Message>;

public:
    TbbBounded(std::size_t capacity, std::size_t) : most_(capacity) {
        queue_.set_capacity(std::ptrdiff_t(capacity));
    }

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
