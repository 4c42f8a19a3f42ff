#pragma once

#include "adapters/try_pop_adapter.hpp"

#include <tbb/concurrent_queue.h>

#include <cstddef>

namespace sluice::bench {

/// tbb::concurrent_bounded_queue: set_capacity(), try_push(), try_pop().
template <class Message>
struct TbbBoundedCalls {
    explicit TbbBoundedCalls(std::size_t capacity) { queue.set_capacity(std::ptrdiff_t(capacity)); }
    bool tryPush(const Message& message) { return queue.try_push(message); }
    bool tryPop(Message& message) { return queue.try_pop(message); }

    tbb::concurrent_bounded_queue<Message> queue;
};

template <class Message>
using TbbBounded = TryPopAdapter<Message, TbbBoundedCalls<Message>>;

}  // namespace sluice::bench
