#pragma once

/// \file
/// EventMap: finds what belongs to an event, in parallel on any number of threads.
///
/// Readers search an immutable snapshot of the index. A new event goes into the full index, under
/// the lock, and marks the snapshot incomplete; then a search that fails in the snapshot goes on in
/// the full index, and when that has happened as often as the index has entries, a copy of it
/// becomes the next snapshot. So adding an event costs constant time on average, and searching for
/// one that has settled takes no lock.
///
/// Origin: the design of Go's sync.Map.
///
/// Invariants: entries are added and stay until the map ends. A snapshot that is complete has all
/// entries.
///
/// Edges: E1 publish: snapshot built -> current_ release .. acquire -> searched. E2 incomplete:
/// entry added -> isComplete false release .. acquire -> lock. E3 free: see EpochDomain. E4
/// entries: entry built -> entries_ release .. acquire -> visited.

#include <sluice/event/detail/flat_index.hpp>
#include <sluice/event/detail/read_side.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

namespace sluice::detail {

template <class P, class Key, class Value>
using MapMember = typename P::template Map<Key, Value>;

template <class Key>
using HashOf = decltype(std::hash<Key>()(std::declval<const Key&>()));
template <class Key>
using EqualityOf = decltype(std::declval<const Key&>() == std::declval<const Key&>());
template <class Key>
using OrderOf = decltype(std::declval<const Key&>() < std::declval<const Key&>());

/// How events are found: by the policy's Map; else by hash; else by order.
template <class Entry, class Key, class Policies>
auto selectIndex() {
    if constexpr (isDetected<MapMember, Policies, Key, Entry*>) {
        return static_cast<MapIndex<Entry, MapMember<Policies, Key, Entry*>>*>(nullptr);
    } else if constexpr (isDetected<HashOf, Key> && isDetected<EqualityOf, Key>) {
        return static_cast<FlatIndex<Entry, Key>*>(nullptr);
    } else {
        static_assert(isDetected<OrderOf, Key>,
                      "an event needs std::hash and ==, or <, or a Map in the policies");
        return static_cast<MapIndex<Entry, std::map<Key, Entry*>>*>(nullptr);
    }
}

template <class Key, class Value, class Policies>
class EventMap {
    using Threading = ThreadingOf<Policies>;
    using ReadSide = ReadSideOf<Threading>;
    using Lock = LockOf<Threading>;
    template <class T>
    using Atomic = typename ReadSide::Platform::template Atomic<T>;

public:
    struct Entry {
        explicit Entry(const Key& ownKey) : key(ownKey) {}
        const Key key;
        Value value;
        Entry* next = nullptr;
    };

    EventMap() noexcept = default;

    EventMap(const EventMap& other) : EventMap() {
        for (Entry* entry = other.entries_.load(std::memory_order_acquire);  // E4
             entry != nullptr; entry = entry->next) {
            findOrAdd(entry->key) = entry->value;
        }
    }

    EventMap(EventMap&& other) noexcept : EventMap() { swap(other); }

    EventMap& operator=(const EventMap& other) {
        if (this != &other) {
            EventMap copy(other);
            swap(copy);
        }
        return *this;
    }

    EventMap& operator=(EventMap&& other) noexcept {
        EventMap taken(std::move(other));
        swap(taken);
        return *this;
    }

    ~EventMap() {
        delete current_.load(std::memory_order_relaxed);  // relaxed, both: nobody else
        Entry* entry = entries_.load(std::memory_order_relaxed);
        while (entry != nullptr) {
            delete std::exchange(entry, entry->next);
        }
    }

    /// Needs both maps for itself.
    void swap(EventMap& other) noexcept {
        swap(current_, other.current_);
        swap(entries_, other.entries_);
        all_.swap(other.all_);
        std::swap(count_, other.count_);
        std::swap(misses_, other.misses_);
    }

    /// Null when there is nothing for this event. The caller is inside ReadSide::enter(). Allocates
    /// when a snapshot is due, so at most once for each event that was added.
    Value* find(const Key& key) const {
        const Snapshot* snapshot = current_.load(std::memory_order_acquire);  // E1
        if (snapshot == nullptr) {
            return nullptr;
        }
        Entry* entry = snapshot->index.find(key);
        if (entry == nullptr && !snapshot->isComplete.load(std::memory_order_acquire)) {  // E2
            entry = findInAll(key);
        }
        return entry == nullptr ? nullptr : &entry->value;
    }

    /// When this throws, nothing has changed.
    Value& findOrAdd(const Key& key) {
        [[maybe_unused]] const auto guard = ReadSide::enter();
        if (Value* const value = find(key)) {
            return *value;
        }
        auto entry = std::make_unique<Entry>(key);
        const std::lock_guard<Lock> lock(lock_);
        if (Entry* const found = all_.find(key)) {
            return found->value;
        }
        return add(std::move(entry));
    }

private:
    using Index = std::remove_pointer_t<decltype(selectIndex<Entry, Key, Policies>())>;

    struct Snapshot : EpochNode {
        explicit Snapshot(const Index& all) : index(all) {}
        const Index index;
        Atomic<bool> isComplete{true};
    };

    template <class T>
    static void swap(Atomic<T*>& a, Atomic<T*>& b) noexcept {
        T* const mine = a.load(std::memory_order_relaxed);  // relaxed: nobody else
        a.store(b.load(std::memory_order_relaxed), std::memory_order_release);
        b.store(mine, std::memory_order_release);
    }

    /// Under the lock.
    Value& add(std::unique_ptr<Entry> entry) {
        Snapshot* const snapshot = current_.load(std::memory_order_relaxed);  // relaxed: the lock
        std::unique_ptr<Snapshot> first;
        if (snapshot == nullptr) {
            first = std::make_unique<Snapshot>(all_);
        }
        all_.add(*entry);
        ++count_;
        (first ? *first : *snapshot).isComplete.store(false, std::memory_order_release);  // E2
        if (first) {
            current_.store(first.release(), std::memory_order_release);  // E1
        }
        entry->next = entries_.load(std::memory_order_relaxed);  // relaxed: written under the lock
        entries_.store(entry.get(), std::memory_order_release);  // E4
        return entry.release()->value;
    }

    [[gnu::cold, gnu::noinline]] Entry* findInAll(const Key& key) const {
        std::unique_ptr<Snapshot> next;
        Snapshot* outdated = nullptr;
        Entry* entry = nullptr;
        {
            const std::lock_guard<Lock> lock(lock_);
            entry = all_.find(key);
            if (++misses_ >= count_) {
                next = std::make_unique<Snapshot>(all_);
                misses_ = 0;
                outdated = current_.exchange(next.release(), std::memory_order_acq_rel);  // E1
            }
        }
        if (outdated != nullptr) {
            ReadSide::retire(*outdated, [](EpochNode& node) {  // E3
                delete static_cast<Snapshot*>(&node);
            });
        }
        return entry;
    }

    mutable Atomic<Snapshot*> current_{nullptr};
    Atomic<Entry*> entries_{nullptr};
    mutable Lock lock_;
    // All under the lock.
    Index all_;
    std::size_t count_ = 0;
    mutable std::size_t misses_ = 0;
};

}  // namespace sluice::detail
