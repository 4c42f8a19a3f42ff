#pragma once

#include <array>
#include <concurrentqueue/concurrentqueue.h>
#include <cstddef>

namespace sluice::bench {

/// moodycamel::ConcurrentQueue: one token per producer and one for the consumer, bulk dequeue. The
/// queue is unbounded by nature; try_enqueue() on blocks that were allocated up front makes it
/// bounded. A producer keeps its blocks, so another one may find none left for ever: after many
/// refusals it allocates one.
template <class Message>
class MoodycamelCq {
    using Queue = moodycamel::ConcurrentQueue<Message>;
    static constexpr std::size_t bulk = 256;
    static constexpr unsigned manyRefusals = 1024;

public:
    MoodycamelCq(std::size_t capacity, std::size_t producers) : queue_(capacity, producers, 0) {}

    struct Producer {
        Queue& queue;
        moodycamel::ProducerToken token;
        explicit Producer(Queue& of) : queue(of), token(of) {}
        unsigned refusals = 0;
        bool tryPush(const Message& message) {
            return queue.try_enqueue(token, message) ||
                   (++refusals % manyRefusals == 0 && queue.enqueue(token, message));
        }
    };

    struct Consumer {
        Queue& queue;
        moodycamel::ConsumerToken token;
        std::array<Message, bulk> taken;
        explicit Consumer(Queue& of) : queue(of), token(of) {}

        template <class Handler>
        std::size_t poll(Handler&& handler) {
            const std::size_t count = queue.try_dequeue_bulk(token, taken.begin(), bulk);
            for (std::size_t i = 0; i < count; ++i) {
                handler(taken[i]);
            }
            return count;
        }
    };

    Producer producer() { return Producer(queue_); }
    Consumer consumer() { return Consumer(queue_); }

private:
    Queue queue_;
};

}  // namespace sluice::bench
