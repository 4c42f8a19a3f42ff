#pragma once

#include <boost/lockfree/spsc_queue.hpp>

#include <cstddef>

namespace sluice::bench {

/// boost::lockfree::spsc_queue: push(), and consume_all(), which hands messages out in place.
template <class Message>
class BoostSpsc {
    using Queue = boost::lockfree::spsc_queue<Message>;

public:
    BoostSpsc(std::size_t capacity, std::size_t) : queue_(capacity) {}

    struct Producer {
        Queue& queue;
        bool tryPush(const Message& message) { return queue.push(message); }
    };

    struct Consumer {
        Queue& queue;
        template <class Handler>
        std::size_t poll(Handler&& handler) {
            return queue.consume_all(handler);
        }
    };

    Producer producer() { return {queue_}; }
    Consumer consumer() { return {queue_}; }

private:
    Queue queue_;
};

}  // namespace sluice::bench
