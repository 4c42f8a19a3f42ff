#pragma once

#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace sluice::log::detail {

/// The lane whose next record is the oldest.
///
/// A heap of sources by the key of what each will give next; of equal keys the one that was added
/// first goes first. As long as one source has the oldest, going on costs two comparisons.
///
/// One thread. add() allocates until there was room for all sources once. Tests:
/// tests/unit/log/merge_test.cpp.
template <class Source>
class Merge {
public:
    void clear() noexcept { entries_.clear(); }

    void add(Key key, Source& source) {
        entries_.push_back({key, entries_.size(), &source});
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

    /// The source that has the oldest.
    [[nodiscard]] Source& top() const noexcept { return *entries_.front().source; }

    /// It has got a later key.
    void setTopKey(Key key) noexcept {
        entries_.front().key = key;
        sink();
    }

    /// It has no more.
    void removeTop() noexcept {
        entries_.front() = entries_.back();
        entries_.pop_back();
        sink();
    }

private:
    struct Entry {
        Key key;
        std::size_t turn;
        Source* source;
    };

    static bool isBefore(const Entry& a, const Entry& b) noexcept {
        return a.key < b.key || (a.key == b.key && a.turn < b.turn);
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
