#pragma once

#include <sluice/bus/priority.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sluice {

/// The outcome counts of the messages of one type and one priority.
struct MessageCounts {
    std::uint64_t published = 0;  ///< accepted; the counts of a single type exclude queued messages
    std::uint64_t full = 0;       ///< refused: the quota was used up; includes countAsFull()
    std::uint64_t closed = 0;     ///< refused: the bus was closed
    std::uint64_t dropped = 0;    ///< accepted, and dropped in favour of a later message
    std::uint64_t delivered = 0;  ///< accepted, and passed to its handlers or the visitor
    std::uint64_t unhandled = 0;  ///< accepted, but no handler or visitor took it
    std::uint64_t discarded = 0;  ///< accepted, and destroyed by stop() or discard()
    std::uint64_t expired = 0;    ///< accepted, and destroyed because they had expired
    std::uint64_t failed = 0;     ///< handler calls that threw

    [[nodiscard]] std::uint64_t rejected() const noexcept { return full + closed; }
    [[nodiscard]] std::uint64_t attempted() const noexcept { return published + rejected(); }
    [[nodiscard]] std::uint64_t queued() const noexcept {
        return published - dropped - delivered - unhandled - discarded - expired;
    }

    MessageCounts& operator+=(const MessageCounts& other) noexcept {
        published += other.published;
        full += other.full;
        closed += other.closed;
        dropped += other.dropped;
        delivered += other.delivered;
        unhandled += other.unhandled;
        discarded += other.discarded;
        expired += other.expired;
        failed += other.failed;
        return *this;
    }
};

/// How long messages of one priority stayed in the bus, from their time stamp until their handlers
/// returned. With TimeStamp::cached, a time may be too long by up to 128 handler calls. If the
/// consumer never calls waitFor(), a time may also include an idle period before the publication.
struct QueueTimes {
    std::uint64_t count = 0;  ///< messages
    std::chrono::nanoseconds sum{0};
    std::chrono::nanoseconds max{0};

    [[nodiscard]] std::chrono::nanoseconds mean() const noexcept {
        return count == 0 ? sum : sum / static_cast<std::chrono::nanoseconds::rep>(count);
    }
};

/// The outcomes of all messages. These equations hold for each priority and in total:
///
///     attempted = published + rejected
///     published = delivered + unhandled + dropped + discarded + expired + queued
///
/// A message under construction counts as published, except with Producers::one. A message whose
/// constructor throws is not an attempt. Under concurrency, counts may lag slightly, but each
/// message counts as published before it leaves the bus.
template <std::size_t TypeCount>
struct BusStatistics {
    std::array<std::array<MessageCounts, priorityCount>, TypeCount> counts;  ///< [type][priority]
    std::array<std::uint64_t, priorityCount> queued{};                       ///< by priority
    std::array<QueueTimes, priorityCount> times;                             ///< by priority
    /// The highest number of messages of one priority so far. `highWater` is exact while no call of
    /// the bus runs, unless a constructor of a message has thrown.
    std::size_t highWater = 0;

    [[nodiscard]] MessageCounts of(std::size_t typeIndex, Priority priority) const noexcept {
        return counts[typeIndex][detail::indexOf(priority)];
    }
    [[nodiscard]] MessageCounts ofType(std::size_t typeIndex) const noexcept {
        MessageCounts sum;
        for (const MessageCounts& each : counts[typeIndex]) {
            sum += each;
        }
        return sum;
    }
    [[nodiscard]] MessageCounts ofPriority(Priority priority) const noexcept {
        MessageCounts sum;
        for (std::size_t type = 0; type < TypeCount; ++type) {
            sum += of(type, priority);
        }
        sum.published += queued[detail::indexOf(priority)];
        return sum;
    }
    [[nodiscard]] MessageCounts total() const noexcept {
        MessageCounts sum;
        for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
            sum += ofPriority(priority);
        }
        return sum;
    }
};

}  // namespace sluice
