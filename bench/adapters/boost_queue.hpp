#pragma once

#include "adapters/try_pop_adapter.hpp"

#include <boost/lockfree/queue.hpp>

#include <cstddef>

namespace sluice::bench {

/// boost::lockfree::queue with its nodes allocated up front: bounded_push(), pop().
template <class Message>
struct BoostQueueCalls {
    explicit BoostQueueCalls(std::size_t capacity) : queue(capacity) {}
    bool tryPush(const Message& message) { return queue.bounded_push(message); }
    bool tryPop(Message& message) { return queue.pop(message); }

    boost::lockfree::queue<Message> queue;
};

template <class Message>
using BoostQueue = TryPopAdapter<Message, BoostQueueCalls<Message>>;

}  // namespace sluice::bench
