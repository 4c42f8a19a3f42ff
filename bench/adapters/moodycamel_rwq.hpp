#pragma once

#include "adapters/pop_until_empty.hpp"

#include <readerwriterqueue/readerwriterqueue.h>

#include <cstddef>

namespace sluice::bench {

/// moodycamel::ReaderWriterQueue: try_enqueue() on blocks that were allocated up front,
/// try_dequeue().
template <class Message>
class MoodycamelRwq {
    using Queue = moodycamel::ReaderWriterQueue<Message>;

public:
    MoodycamelRwq(std::size_t capacity, std::size_t) : queue_(capacity), most_(capacity) {}

    struct Producer {
        Queue& queue;
        bool tryPush(const Message& message) { return queue.try_enqueue(message); }
    };

    struct Consumer {
        Queue& queue;
        std::size_t most;
        template <class Handler>
        std::size_t poll(Handler&& handler) {
            const auto pop = [this](Message& message) { return queue.try_dequeue(message); };
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
