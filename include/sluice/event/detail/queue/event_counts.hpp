#pragma once

#include <sluice/event/event_queue_statistics.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice::detail {

template <class P>
using StatisticsMember = std::enable_if_t<P::statistics>;

/// The counts of a queue's statistics, changed under its lock.
template <bool IsOn>
class EventCounts {
public:
    static constexpr bool areKept = true;

    void addEnqueued(std::size_t queued) noexcept {
        ++enqueued_;
        addQueued(queued);
    }
    void addQueued(std::size_t queued) noexcept { highWater_ = std::max(highWater_, queued); }
    void addRejected() noexcept { ++rejected_; }
    void addProcessed(std::size_t events) noexcept { processed_ += events; }

    [[nodiscard]] EventQueueStatistics with(std::uint64_t discarded,
                                            std::size_t queued) const noexcept {
        return {enqueued_, rejected_, discarded, processed_, queued, highWater_};
    }

private:
    std::uint64_t enqueued_ = 0;
    std::uint64_t rejected_ = 0;
    std::uint64_t processed_ = 0;
    std::size_t highWater_ = 0;
};

/// Nothing, when statistics are off.
template <>
class EventCounts<false> {
public:
    static constexpr bool areKept = false;

    void addEnqueued(std::size_t) noexcept {}
    void addQueued(std::size_t) noexcept {}
    void addRejected() noexcept {}
    void addProcessed(std::size_t) noexcept {}
};

}  // namespace sluice::detail
