#pragma once

#include "adapters/pop_until_empty.hpp"

#include <boost/lockfree/queue.hpp>

#include <cstddef>

namespace sluice::bench {

/// boost::lockfree::queue with its nodes allocated up front: bounded_push(), pop().
template <class Message>
class BoostQueue {
    using Queue = boost::lockfree::queue<Message>;

public:
    BoostQueue(std::size_t capacity, std::size_t) : queue_(capacity), most_(capacity) {}

    struct Producer {
        Queue& queue;
        bool tryPush(const Message& message) { return queue.bounded_push(message); }
    };

    struct Consumer {
        Queue& queue;
        std::size_t most;
        template <class Handler>
        std::size_t poll(Handler&& handler) {
            const auto pop = [this](Message& message) { return queue.pop(message); };
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
