#pragma once

/// \file
/// Push and consume of a queue.

#include "count.hpp"

#include <cstddef>
#include <initializer_list>
#include <string>

namespace sluice::count {

/// Counts the pushes of a round into an empty queue with room for all of them. `Queue` is an
/// adapter of bench/adapters.
template <class Queue>
void countPush(const Counting& counting) {
    Queue queue(slots, 1);
    auto producer = queue.producer();
    auto consumer = queue.consumer();
    counting.each(
        [&] {
            while (consumer.poll([](const Message&) {}) != 0) {
            }
        },
        [&] {
            forEachMessage([&](const Message& message) {
                expect(producer.tryPush(message), "a push was refused");
            });
        });
}

/// Counts the harvest of a round of messages; the handler reads one word of each.
template <class Queue>
void countConsume(const Counting& counting) {
    Queue queue(slots, 1);
    auto producer = queue.producer();
    auto consumer = queue.consumer();
    counting.whole(
        [&] {
            forEachMessage([&](const Message& message) {
                expect(producer.tryPush(message), "a push was refused");
            });
        },
        [&] {
            std::size_t count = 0;
            while (count < roundSize) {
                count += consumer.poll([](const Message& message) { use(message.first()); });
            }
        });
}

/// Adds both rows of a queue. A peer stands beside several of our rings.
template <class Queue>
void addQueue(Rows& rows, const std::string& subject, std::initializer_list<const char*> rings) {
    for (const char* const ring : rings) {
        const std::string path = std::string("queue/") + ring;
        rows.push_back({path + "/push", subject, &countPush<Queue>});
        rows.push_back({path + "/consume", subject, &countConsume<Queue>});
    }
}

}  // namespace sluice::count
