#pragma once

#include <sluice/event/event_queue_statistics.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice::detail {

template <class P>
using StatisticsMember = std::enable_if_t<P::statistics>;

/// The counts of a queue's statistics. Each function takes the guard of the queue's lock.
template <bool IsOn>
class EventCounts {
public:
    static constexpr bool areKept = true;

    template <class Guard>
    void addEnqueued(const Guard& guard, std::size_t queued) noexcept {
        ++enqueued_;
        addQueued(guard, queued);
    }
    template <class Guard>
    void addQueued(const Guard& /*guard*/, std::size_t queued) noexcept {
        highWater_ = std::max(highWater_, queued);
    }
    template <class Guard>
    void addRejected(const Guard& /*guard*/) noexcept {
        ++rejected_;
    }
    template <class Guard>
    void addProcessed(const Guard& /*guard*/, std::size_t events) noexcept {
        processed_ += events;
    }

    template <class Guard>
    [[nodiscard]] EventQueueStatistics with(const Guard& /*guard*/, std::uint64_t discarded,
                                            std::size_t queued) const noexcept {
        return {enqueued_, rejected_, discarded, processed_, queued, highWater_};
    }

private:
    std::uint64_t enqueued_ = 0;
    std::uint64_t rejected_ = 0;
    std::uint64_t processed_ = 0;
    std::size_t highWater_ = 0;
};

/// Counts nothing: statistics are off.
template <>
class EventCounts<false> {
public:
    static constexpr bool areKept = false;

    template <class Guard>
    void addEnqueued(const Guard&, std::size_t) noexcept {}
    template <class Guard>
    void addQueued(const Guard&, std::size_t) noexcept {}
    template <class Guard>
    void addRejected(const Guard&) noexcept {}
    template <class Guard>
    void addProcessed(const Guard&, std::size_t) noexcept {}
};

}  // namespace sluice::detail
