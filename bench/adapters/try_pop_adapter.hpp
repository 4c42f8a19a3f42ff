#pragma once

/// \file
/// Queues that accept one message and give one message, with the interface of the rounds.

#include <cstddef>

namespace sluice::bench {

/// The way in which a queue gives a message.
enum class Taking { copies, inPlace };

/// `Queue` is made with a capacity. It has tryPush(message), false if it is full. Queues that copy
/// have tryPop(message), the others tryConsume(handler), false if they are empty. The consumer runs
/// the documented loop of such queues: it pops until the queue is empty, but at most as many
/// messages as the queue holds.
template <class Message, class Queue, Taking How = Taking::copies>
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
            std::size_t count = 0;
            if constexpr (How == Taking::inPlace) {
                for (; count < most && queue.tryConsume(handler); ++count) {
                }
            } else {
                Message message{};
                for (; count < most && queue.tryPop(message); ++count) {
                    handler(message);
                }
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
