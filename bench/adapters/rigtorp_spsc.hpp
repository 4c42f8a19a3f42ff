#pragma once

#include "adapters/try_pop_adapter.hpp"

#include <rigtorp/SPSCQueue.h>

#include <cstddef>

namespace sluice::bench {

/// rigtorp::SPSCQueue: try_push(), and front() with pop(), which shows messages in place.
template <class Message>
class RigtorpSpscQueue {
public:
    explicit RigtorpSpscQueue(std::size_t capacity) : queue_(capacity) {}

    bool tryPush(const Message& message) { return queue_.try_push(message); }

    template <class Handler>
    bool tryConsume(Handler& handler) {
        const Message* const message = queue_.front();
        if (message == nullptr) {
            return false;
        }
        handler(*message);
        queue_.pop();
        return true;
    }

private:
    rigtorp::SPSCQueue<Message> queue_;
};

template <class Message>
using RigtorpSpsc = TryPopAdapter<Message, RigtorpSpscQueue<Message>, Taking::inPlace>;

}  // namespace sluice::bench
