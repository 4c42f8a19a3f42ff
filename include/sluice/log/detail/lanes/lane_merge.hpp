#pragma once

#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace sluice::log::detail {

/// Finds the source with the oldest next record.
///
/// It is a heap of sources. Each source is ordered by the stamp of its next record. If stamps are
/// equal, the source that was added first comes first. While one source keeps the oldest record, a
/// step costs two comparisons.
///
/// Threads: one thread at a time. Cost: add() allocates only if there are more sources than ever
/// before. Tests: tests/unit/log/lane_merge_test.cpp.
template <class Source>
class LaneMerge {
public:
    /// Removes all sources. The next `count` calls of add() do not allocate.
    void reset(std::size_t count) {
        entries_.clear();
        entries_.reserve(count);
    }

    void add(Stamp stamp, Source& source) {
        entries_.push_back({stamp, entries_.size(), &source});
        for (std::size_t i = entries_.size() - 1; i != 0;) {
            const std::size_t parent = (i - 1) / 2;
            if (!isBefore(entries_[i], entries_[parent])) {
                break;
            }
            std::swap(entries_[i], entries_[parent]);
            i = parent;
        }
    }

    [[nodiscard]] bool isEmpty() const noexcept { return entries_.empty(); }

    /// The source with the oldest next record.
    [[nodiscard]] Source& top() const noexcept { return *entries_.front().source; }

    /// Tells the heap that the next record of top() has this later stamp.
    void setTopStamp(Stamp stamp) noexcept {
        entries_.front().stamp = stamp;
        sink();
    }

    /// Removes top(), which has no more records.
    void removeTop() noexcept {
        entries_.front() = entries_.back();
        entries_.pop_back();
        sink();
    }

private:
    struct Entry {
        Stamp stamp;
        std::size_t sequence;  ///< the number of sources that were added before
        Source* source;
    };

    static bool isBefore(const Entry& a, const Entry& b) noexcept {
        return a.stamp < b.stamp || (a.stamp == b.stamp && a.sequence < b.sequence);
    }

    void sink() noexcept {
        const std::size_t size = entries_.size();
        for (std::size_t i = 0;;) {
            std::size_t child = 2 * i + 1;
            if (child >= size) {
                return;
            }
            child += child + 1 < size && isBefore(entries_[child + 1], entries_[child]) ? 1U : 0U;
            if (!isBefore(entries_[child], entries_[i])) {
                return;
            }
            std::swap(entries_[child], entries_[i]);
            i = child;
        }
    }

    std::vector<Entry> entries_;
};

}  // namespace sluice::log::detail
