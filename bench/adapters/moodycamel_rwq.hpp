#pragma once

#include "adapters/try_pop_adapter.hpp"

#include <readerwriterqueue/readerwriterqueue.h>

#include <cstddef>

namespace sluice::bench {

/// moodycamel::ReaderWriterQueue: try_enqueue() on blocks that were allocated up front,
/// try_dequeue().
template <class Message>
struct MoodycamelRwqCalls {
    explicit MoodycamelRwqCalls(std::size_t capacity) : queue(capacity) {}
    bool tryPush(const Message& message) { return queue.try_enqueue(message); }
    bool tryPop(Message& message) { return queue.try_dequeue(message); }

    moodycamel::ReaderWriterQueue<Message> queue;
};

template <class Message>
using MoodycamelRwq = TryPopAdapter<Message, MoodycamelRwqCalls<Message>>;

}  // namespace sluice::bench
