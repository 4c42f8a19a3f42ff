#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace sluice::detail {

/// A hash table of pointers to entries that know their key (a member `key`), for lookups that cost
/// a few instructions. Open addressing with linear probing, at most half full; entries are added,
/// never removed.
///
/// The hash of std::hash is spread by a multiplication, since that of numbers is the number.
template <class Entry, class Key>
class FlatIndex {
public:
    FlatIndex() noexcept = default;

    FlatIndex(const FlatIndex& other) { copyFrom(other, other.capacity()); }
    FlatIndex& operator=(const FlatIndex&) = delete;

    Entry* find(const Key& key) const {
        if (slots_ == nullptr) {
            return nullptr;
        }
        for (std::size_t i = start(key);; i = (i + 1) & mask_) {
            Entry* const entry = slots_[i];
            if (entry == nullptr || entry->key == key) {
                return entry;
            }
        }
    }

    /// An entry whose key is not in the table yet. When this throws, nothing has changed.
    void add(Entry& entry) {
        if (2 * (count_ + 1) > capacity()) {
            grow();
        }
        place(entry);
    }

    void swap(FlatIndex& other) noexcept {
        std::swap(slots_, other.slots_);
        std::swap(mask_, other.mask_);
        std::swap(shift_, other.shift_);
        std::swap(count_, other.count_);
    }

private:
    static constexpr std::size_t minCapacity = 8;

    std::size_t capacity() const noexcept { return slots_ == nullptr ? 0 : mask_ + 1; }

    std::size_t start(const Key& key) const {
        const auto hash = static_cast<std::uint64_t>(std::hash<Key>()(key));
        return static_cast<std::size_t>((hash * 0x9E3779B97F4A7C15u) >> shift_);  // 2^64 / golden
    }

    void grow() {
        FlatIndex larger;
        larger.copyFrom(*this, capacity() == 0 ? minCapacity : 2 * capacity());
        swap(larger);
    }

    /// For an empty table.
    void copyFrom(const FlatIndex& other, std::size_t capacity) {
        if (capacity == 0) {
            return;
        }
        slots_ = std::make_unique<Entry*[]>(capacity);
        mask_ = capacity - 1;
        shift_ = 64;
        for (std::size_t n = capacity; n > 1; n /= 2) {
            --shift_;
        }
        for (std::size_t i = 0; i < other.capacity(); ++i) {
            if (other.slots_[i] != nullptr) {
                place(*other.slots_[i]);
            }
        }
    }

    void place(Entry& entry) {
        std::size_t i = start(entry.key);
        while (slots_[i] != nullptr) {
            i = (i + 1) & mask_;
        }
        slots_[i] = &entry;
        ++count_;
    }

    std::unique_ptr<Entry*[]> slots_;
    std::size_t mask_ = 0;
    unsigned shift_ = 64;
    std::size_t count_ = 0;
};

/// The same interface on a map from keys to pointers, such as std::map or what a policy names.
template <class Entry, class Map>
class MapIndex {
public:
    template <class Key>
    Entry* find(const Key& key) const {
        const auto found = map_.find(key);
        return found == map_.end() ? nullptr : found->second;
    }

    void add(Entry& entry) { map_[entry.key] = &entry; }

    void swap(MapIndex& other) noexcept {
        using std::swap;
        swap(map_, other.map_);
    }

private:
    Map map_;
};

}  // namespace sluice::detail
