#pragma once

/// \file
/// An event queue between threads, as a queue whose rounds the crew runs.

#include "harness/run/event_batches.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sluice::bench {

/// How the consumer learns of events. It asks again and again, or it sleeps in the queue's wait.
enum class Waiting { polls, sleeps };

/// Producers enqueue. The consumer calls process() in a loop, and the listeners pass each argument
/// to the crew's handler. Compared with a program's own listener, this costs one more indirect
/// call, the same for all subjects.
template <class Queue, Waiting How = Waiting::polls>
class EventTransport {
    using Argument = typename Queue::Argument;

public:
    /// Event queues are unbounded.
    EventTransport(std::size_t, std::size_t) {
        for (std::uint64_t event = 0; event < queuedEventIds; ++event) {
            queue_.add(int(event), Relay{&hand_});
        }
    }

    struct Producer {
        Queue& queue;
        bool tryPush(const Argument& argument) {
            queue.enqueue(int(argument.sequence() % queuedEventIds), argument);
            return true;
        }
    };

    struct Consumer {
        EventTransport& owner;
        template <class Handler>
        std::size_t poll(const Handler& handler) {
            return owner.poll(handler);
        }
    };

    Producer producer() { return {queue_}; }
    Consumer consumer() { return {*this}; }

private:
    struct Hand {
        void (*pass)(const void* handler, const Argument& argument) = nullptr;
        const void* handler = nullptr;
        std::size_t count = 0;
    };

    struct Relay {
        Hand* hand;
        void operator()(const Argument& argument) const {
            ++hand->count;
            hand->pass(hand->handler, argument);
        }
    };

    template <class Handler>
    std::size_t poll(const Handler& handler) {
        hand_.pass = [](const void* to, const Argument& argument) {
            (*static_cast<const Handler*>(to))(argument);
        };
        hand_.handler = &handler;
        hand_.count = 0;
        if constexpr (How == Waiting::sleeps) {
            // Limited, because a round also polls when no event will come.
            queue_.waitFor(std::chrono::milliseconds(1));
        }
        // Some queues read a plain variable to see whether they are empty. Without the barrier the
        // compiler may read it once and poll for ever. All subjects have the barrier.
        asm volatile("" : : : "memory");
        queue_.process();
        return hand_.count;
    }

    Queue queue_;
    Hand hand_;
};

}  // namespace sluice::bench
