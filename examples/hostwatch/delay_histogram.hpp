#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace hostwatch {

/// Counts delays in buckets whose width grows with the delay, in fixed memory (15 KiB).
///
/// Below 64 ns each nanosecond has its own bucket; above, each power of two is cut into 32 equal
/// buckets. A percentile is the upper edge of the bucket it falls in, so it is never too small and
/// at most 1/32 (3.1 %) too large. Count and maximum are exact. One thread.
class DelayHistogram {
public:
    using Nanoseconds = std::chrono::nanoseconds;

    /// A delay below zero counts as zero.
    void record(Nanoseconds delay) noexcept {
        delay = std::max(delay, Nanoseconds::zero());
        ++buckets_[bucketOf(static_cast<std::uint64_t>(delay.count()))];
        ++count_;
        max_ = std::max(max_, delay);
    }

    /// The smallest delay that at least `percent` of all delays do not exceed, rounded up to the
    /// edge of its bucket. `percent` from 0 to 100. Zero when nothing was recorded.
    Nanoseconds percentile(unsigned percent) const noexcept {
        const std::uint64_t rank = std::max<std::uint64_t>((count_ * percent + 99) / 100, 1);
        std::uint64_t seen = 0;
        for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
            seen += buckets_[bucket];
            if (seen >= rank) {
                return std::min(max_, Nanoseconds(upperEdge(bucket)));
            }
        }
        return max_;
    }

    Nanoseconds max() const noexcept { return max_; }
    std::uint64_t count() const noexcept { return count_; }

    /// Takes in everything `other` has recorded.
    void merge(const DelayHistogram& other) noexcept {
        for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
            buckets_[bucket] += other.buckets_[bucket];
        }
        count_ += other.count_;
        max_ = std::max(max_, other.max_);
    }

private:
    static constexpr std::size_t perPowerOfTwo = 32;
    static constexpr std::size_t largestShift = 57;  ///< a delay has 63 bits, a bucket keeps 6
    static constexpr std::size_t bucketCount = (largestShift + 2) * perPowerOfTwo;

    /// The leading six bits name the bucket within its power of two.
    static std::size_t bucketOf(std::uint64_t value) noexcept {
        std::size_t shift = 0;
        while (value >= 2 * perPowerOfTwo) {
            value >>= 1;
            ++shift;
        }
        return shift * perPowerOfTwo + static_cast<std::size_t>(value);
    }

    static std::int64_t upperEdge(std::size_t bucket) noexcept {
        if (bucket < 2 * perPowerOfTwo) {
            return static_cast<std::int64_t>(bucket);
        }
        const std::size_t shift = bucket / perPowerOfTwo - 1;
        const std::uint64_t leading = bucket - shift * perPowerOfTwo;
        return static_cast<std::int64_t>(((leading + 1) << shift) - 1);
    }

    std::array<std::uint64_t, bucketCount> buckets_{};
    std::uint64_t count_ = 0;
    Nanoseconds max_{};
};

}  // namespace hostwatch
