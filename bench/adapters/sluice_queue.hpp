#pragma once

#include <sluice/base/send_result.hpp>

#include <cstddef>

namespace sluice::bench {

/// A queue of ours whose producers share the queue itself: tryPush(), consume().
template <class Queue, class Message>
class SluiceQueue {
public:
    SluiceQueue(std::size_t capacity, std::size_t) : queue_(capacity) {}

    struct Producer {
        Queue& queue;
        bool tryPush(const Message& message) { return queue.tryPush(message) == SendResult::ok; }
    };

    struct Consumer {
        Queue& queue;
        template <class Handler>
        std::size_t poll(Handler&& handler) {
            return queue.consume(handler);
        }
    };

    Producer producer() { return {queue_}; }
    Consumer consumer() { return {queue_}; }

private:
    Queue queue_;
};

}  // namespace sluice::bench
