#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace sluice::nats::detail {

/// Detects duplicate messages of one run of a sender by their sequences. With `mayReturn`, a
/// missing sequence may arrive later. Otherwise, only a sequence beyond the newest one is fresh.
///
/// Threads: one thread at a time. Cost: only the constructor allocates.
///
/// Invariants: the missing ranges are disjoint and ascending, and lie before the newest sequence.
/// At most maxRanges are kept. If there are more, the oldest one is dropped, except the range that
/// begins with sequence 0.
///
/// A sequence up to the newest one has been received if no range contains it. Sequences before the
/// end of a dropped range are unknown and count as fresh, so a message may be handled twice, but
/// none is lost.
class DuplicateFilter {
public:
    static constexpr std::size_t maxRanges = 64;

    explicit DuplicateFilter(bool mayReturn) : mayReturn_(mayReturn) {
        if (mayReturn) {
            missing_.reserve(maxRanges + 1);
        }
    }

    /// Returns true if this sequence was not received before.
    [[nodiscard]] bool isFresh(std::uint64_t sequence) const noexcept {
        return isEmpty_ || sequence > newest_ || sequence < forgotten_ ||
               rangeOf(sequence) != missing_.end();
    }

    /// Records that a fresh sequence was received. Returns the change of the number of missing
    /// sequences. Sequences before the first one do not count, because they may have been sent
    /// before this program listened.
    std::int64_t add(std::uint64_t sequence) noexcept {
        if (isEmpty_) {
            isEmpty_ = false;
            first_ = newest_ = sequence;
            if (sequence != 0 && mayReturn_) {
                append({0, sequence});
            }
            return 0;
        }
        if (sequence > newest_) {
            const std::uint64_t skipped = sequence - newest_ - 1;
            if (skipped != 0 && mayReturn_) {
                append({newest_ + 1, sequence});
            }
            newest_ = sequence;
            return static_cast<std::int64_t>(skipped);
        }
        const auto range = missing_.begin() + std::distance(missing_.cbegin(), rangeOf(sequence));
        if (range == missing_.end()) {
            return 0;  // in a dropped range, or not fresh
        }
        const Range whole = *range;
        auto at = missing_.erase(range);
        if (sequence + 1 != whole.end) {
            at = missing_.insert(at, {sequence + 1, whole.end});
        }
        if (whole.begin != sequence) {
            insertAt(at, {whole.begin, sequence});
        }
        return sequence < first_ ? 0 : -1;
    }

private:
    /// The sequences from `begin` to before `end`.
    struct Range {
        std::uint64_t begin;
        std::uint64_t end;
    };
    using Ranges = std::vector<Range>;

    [[nodiscard]] Ranges::const_iterator rangeOf(std::uint64_t sequence) const noexcept {
        const auto after =
            std::upper_bound(missing_.begin(), missing_.end(), sequence,
                             [](std::uint64_t n, const Range& range) { return n < range.begin; });
        return after != missing_.begin() && sequence < std::prev(after)->end ? std::prev(after)
                                                                             : missing_.end();
    }

    void append(Range range) noexcept { insertAt(missing_.end(), range); }

    void insertAt(Ranges::iterator where, Range range) noexcept {
        // The constructor has reserved memory for maxRanges + 1 ranges.
        missing_.insert(where, range);
        if (missing_.size() > maxRanges) {
            const auto oldest = missing_.begin() + (missing_.front().begin == 0 ? 1 : 0);
            forgotten_ = std::max(forgotten_, oldest->end);
            missing_.erase(oldest);
        }
    }

    bool mayReturn_;
    bool isEmpty_ = true;
    /// The first received sequence; undefined while isEmpty_, like newest_.
    std::uint64_t first_ = 0;
    std::uint64_t newest_ = 0;
    std::uint64_t forgotten_ = 0;  ///< the highest end of the dropped ranges
    Ranges missing_;
};

}  // namespace sluice::nats::detail
