#pragma once

#include <rigtorp/SPSCQueue.h>

#include <cstddef>

namespace sluice::bench {

/// rigtorp::SPSCQueue: try_push(), and front() with pop(), which hands messages out in place.
template <class Message>
class RigtorpSpsc {
    using Queue = rigtorp::SPSCQueue<Message>;

public:
    RigtorpSpsc(std::size_t capacity, std::size_t) : queue_(capacity), most_(capacity) {}

    struct Producer {
        Queue& queue;
        bool tryPush(const Message& message) { return queue.try_push(message); }
    };

    struct Consumer {
        Queue& queue;
        std::size_t most;

        template <class Handler>
        std::size_t poll(Handler&& handler) {
            std::size_t count = 0;
            for (; count < most; ++count) {
                const Message* message = queue.front();
                if (message == nullptr) {
                    break;
                }
                handler(*message);
                queue.pop();
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
