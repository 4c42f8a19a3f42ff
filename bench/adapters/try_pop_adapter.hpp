#pragma once

/// \file
/// Queues that take one message and hand out one copy, behind the interface of the rounds.

#include <cstddef>

namespace sluice::bench {

/// `Queue` is made with a capacity. It has tryPush(message), false when it is full, and
/// tryPop(message), false when it is empty. The consumer runs the documented loop of such queues:
/// it pops until the queue is empty, at most as many as the queue holds.
template <class Message, class Queue>
class TryPopAdapter {
public:
    TryPopAdapter(std::size_t capacity, std::size_t) : queue_(capacity), most_(capacity) {}

    struct Producer {
        Queue& queue;
        bool tryPush(const Message& message) { return queue.tryPush(message); }
    };

    struct Consumer {
        Queue& queue;
        std::size_t most;
        template <class Handler>
        std::size_t poll(Handler&& handler) {
            Message message{};
            std::size_t count = 0;
            for (; count < most && queue.tryPop(message); ++count) {
                handler(message);
            }
            return count;
        }
    };

    Producer producer() { return {queue_}; }
    Consumer consumer() { return {queue_, most_}; }

private:
    Queue queue_;
    const std::size_t most_;
};

}  // namespace sluice::bench
