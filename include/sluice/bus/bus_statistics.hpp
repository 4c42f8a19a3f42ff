#pragma once

#include <sluice/bus/priority.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sluice {

/// Tells how the messages of one type and one priority ended. Counts are members; sums of counts
/// are functions.
struct MessageCounts {
    std::uint64_t published = 0;  ///< accepted
    /// Not accepted: the room of high priority was full, or the room of a bus without priorities.
    /// The calls of countAsFull() count, too.
    std::uint64_t full = 0;
    std::uint64_t refused = 0;    ///< not accepted: the room of low or medium priority was full
    std::uint64_t closed = 0;     ///< not accepted: the bus was closed
    std::uint64_t dropped = 0;    ///< accepted, and dropped to make room for a later one
    std::uint64_t delivered = 0;  ///< accepted, and passed to its handlers or the visitor
    std::uint64_t discarded = 0;  ///< accepted, and destroyed by discard() or processUntil()
    std::uint64_t failed = 0;     ///< calls of handlers that threw

    [[nodiscard]] std::uint64_t rejected() const noexcept { return full + refused + closed; }
    [[nodiscard]] std::uint64_t attempted() const noexcept { return published + rejected(); }
    /// The messages that are in the bus.
    [[nodiscard]] std::uint64_t queued() const noexcept {
        const std::uint64_t gone = dropped + delivered + discarded;
        return published < gone ? 0 : published - gone;
    }

    MessageCounts& operator+=(const MessageCounts& other) noexcept {
        published += other.published;
        full += other.full;
        refused += other.refused;
        closed += other.closed;
        dropped += other.dropped;
        delivered += other.delivered;
        discarded += other.discarded;
        failed += other.failed;
        return *this;
    }
};

/// Tells how long the messages of one priority were in the bus. A time begins with the time stamp
/// of the message.
///
/// With TimeStamp::exact it ends when the handlers of the message have returned. With
/// TimeStamp::cached the consumer reads the clock once for up to 64 messages, after their handlers.
/// So a time contains up to 64 handlers that ran after the message. It also contains up to 64
/// handlers that ran before its publication, because the stamp is the last reading of the clock.
struct QueueTimes {
    std::uint64_t count = 0;          ///< messages
    std::chrono::nanoseconds sum{0};  ///< the sum of the times of these messages
    std::chrono::nanoseconds max{0};  ///< the longest of these times

    [[nodiscard]] std::chrono::nanoseconds mean() const noexcept {
        return count == 0 ? sum : sum / static_cast<std::chrono::nanoseconds::rep>(count);
    }

    QueueTimes& operator+=(const QueueTimes& other) noexcept {
        count += other.count;
        sum += other.sum;
        max = std::max(max, other.max);
        return *this;
    }
};

/// Tells how all messages ended that publishers offered. It is exact whenever no call on the bus is
/// under way:
///
///     attempted = published + rejected
///     published = delivered + dropped + discarded + queued
///
/// Both sums hold for each type and priority. A message whose constructor threw counts as no
/// attempt. While calls are under way, each count is the count of a moment shortly before.
template <std::size_t TypeCount>
struct BusStatistics {
    std::array<std::array<MessageCounts, priorityCount>, TypeCount> counts;  ///< by type, priority
    std::array<QueueTimes, priorityCount> times;                             ///< by priority
    /// The most messages of one priority that were in the bus at once. It is exact for times at
    /// which no thread consumed, and no constructor threw or was under way. During a harvest the
    /// bus updates it every 64 messages, and when it refuses a message.
    std::size_t highWater = 0;

    [[nodiscard]] MessageCounts of(std::size_t typeIndex, Priority priority) const noexcept {
        return counts[typeIndex][static_cast<std::size_t>(priority)];
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
        return sum;
    }
    /// Adds the figures of another bus. The high-water mark becomes the higher one of the two.
    BusStatistics& operator+=(const BusStatistics& other) noexcept {
        for (std::size_t type = 0; type < TypeCount; ++type) {
            for (std::size_t level = 0; level < priorityCount; ++level) {
                counts[type][level] += other.counts[type][level];
            }
        }
        for (std::size_t level = 0; level < priorityCount; ++level) {
            times[level] += other.times[level];
        }
        highWater = std::max(highWater, other.highWater);
        return *this;
    }

    [[nodiscard]] MessageCounts total() const noexcept {
        MessageCounts sum;
        for (std::size_t type = 0; type < TypeCount; ++type) {
            sum += ofType(type);
        }
        return sum;
    }
};

}  // namespace sluice
