#pragma once

#include <sluice/base/fibonacci_hash.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace sluice::detail {

/// A hash table that any number of threads search, and add to, without a lock.
///
/// Entries lie in a table with open addressing and linear probing, at most half full. A thread that
/// finds the table full closes its empty slots, and replaces the table by one that is four times as
/// large. Entries know their hash, so no key is hashed again. A search may still use an old table,
/// so old tables stay until removeIf() or the end of the map. Together they are a third of the
/// newest.
///
/// Threads: any thread calls find(), findOrAdd() and forEach(). The other members need a map that
/// no other thread uses.
///
/// Progress: lock-free. A thread that is stopped delays no other thread.
///
/// Invariants: a table is replaced only when it has no empty slot any more. So the new table has
/// all entries of the old one, and no key is in the map twice. An entry stays where it is until
/// removeIf() or the end of the map. Each table has a slot without an entry, so each search ends.
///
/// Edges: E1 entry: key and value built -> slot release .. acquire -> read. E2 table: table built
/// from entries that E1 brought -> newest_ release .. acquire -> searched.
///
/// A multiplication spreads the hash, because std::hash of a number is usually the number.
///
/// Tests: tests/unit/event/event_map_test.cpp, tests/unit/event/event_map_removal_test.cpp,
/// tests/model/event_map_model_test.cpp.
template <class Key, class Value, class Hash, class Equal, class Platform,
          std::size_t FirstCapacity = 8>
class GrowingHashMap {
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    GrowingHashMap() noexcept = default;
    GrowingHashMap(const GrowingHashMap&) = delete;
    GrowingHashMap& operator=(const GrowingHashMap&) = delete;
    ~GrowingHashMap() {
        // Again: destructors of values may add some. Relaxed: no other thread is here.
        while (const Table* const newest = newest_.exchange(nullptr, std::memory_order_relaxed)) {
            newest->forEach([](const Entry& entry) { delete &entry; });
            destroyTables(newest);
        }
    }

    void swap(GrowingHashMap& other) noexcept {
        // Relaxed: no other thread is here.
        Table* const mine = newest_.load(std::memory_order_relaxed);
        newest_.store(other.newest_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        other.newest_.store(mine, std::memory_order_relaxed);
    }

    /// Returns null if the key is not there. Allocates nothing.
    Value* find(const Key& key) const {
        const Table* const table = newest_.load(std::memory_order_acquire);  // E2
        if (table == nullptr) {
            return nullptr;
        }
        for (std::size_t i = table->start(hashOf(key));; i = (i + 1) & table->mask) {
            const std::uintptr_t word = table->slots[i].load(std::memory_order_acquire);  // E1
            if (word <= closed) {
                return nullptr;
            }
            if (Equal()(entryOf(word)->key, key)) {
                return &entryOf(word)->value;
            }
        }
    }

    /// If it throws, the map has the same entries as before.
    Value& findOrAdd(const Key& key) {
        Value* const value = find(key);
        return value != nullptr ? *value : add(key);
    }

    /// Destroys the entries for which isUnused(value) is true, and all old tables. Returns the
    /// number of destroyed entries. If it throws std::bad_alloc, nothing has changed.
    template <class Test>
    std::size_t removeIf(Test isUnused) {
        Table* const old = newest_.load(std::memory_order_relaxed);  // relaxed: no other thread
        if (old == nullptr) {
            return 0;
        }
        std::size_t kept = 0;
        old->forEach([&](const Entry& entry) { kept += isUnused(entry.value) ? 0U : 1U; });
        std::size_t capacity = FirstCapacity;
        while (capacity / 2 < kept) {
            capacity *= 4;
        }
        auto next = std::make_unique<Table>(nullptr, capacity);
        Table ended(nullptr, old->mask + 1);
        old->forEach([&](Entry& entry) {
            (isUnused(std::as_const(entry).value) ? ended : *next).insert(entry);
        });
        newest_.store(next.release(), std::memory_order_relaxed);
        destroyTables(old);
        // Last, because destructors of keys may use the map.
        ended.forEach([](const Entry& entry) { delete &entry; });
        return ended.used.load(std::memory_order_relaxed);
    }

    /// Calls f(key, value) for each entry, in no particular order.
    template <class F>
    void forEach(F&& f) const {
        if (const Table* const table = newest_.load(std::memory_order_acquire)) {  // E2
            table->forEach([&f](const Entry& entry) { f(entry.key, entry.value); });
        }
    }

private:
    struct Entry {
        Entry(const Key& ownKey, std::uint64_t itsHash) : key(ownKey), hash(itsHash) {}
        const Key key;
        const std::uint64_t hash;
        Value value{};
    };

    /// The address of an entry, or `empty` or `closed`.
    using Slot = Atomic<std::uintptr_t>;
    static constexpr std::uintptr_t empty = 0;
    static constexpr std::uintptr_t closed = 1;  // it never gets an entry
    static Entry* entryOf(std::uintptr_t word) noexcept {
        // The caller has checked that the word is above `closed`.
        return reinterpret_cast<Entry*>(word);  // NOLINT(performance-no-int-to-ptr)
    }

    struct Table {
        Table(Table* olderTable, std::size_t capacity)
            : older(olderTable),
              slots(new Slot[capacity]()),
              mask(capacity - 1),
              limit(capacity / 2) {
            for (std::size_t n = capacity; n > 1; n /= 2) {
                --shift;
            }
        }
        Table(const Table&) = delete;
        Table& operator=(const Table&) = delete;
        ~Table() { delete[] slots; }

        [[nodiscard]] std::size_t start(std::uint64_t hash) const noexcept {
            return static_cast<std::size_t>(hash >> shift);
        }

        template <class F>
        void forEach(F&& f) const {
            for (std::size_t i = 0; i <= mask; ++i) {
                const std::uintptr_t word = slots[i].load(std::memory_order_acquire);  // E1
                if (word > closed) {
                    f(*entryOf(word));
                }
            }
        }

        /// After it, no thread adds an entry to this table.
        void close() noexcept {
            for (std::size_t i = 0; i <= mask; ++i) {
                // Relaxed, all: a thread that finds the slot closed looks for another table.
                std::uintptr_t word = slots[i].load(std::memory_order_relaxed);
                while (word == empty &&
                       !slots[i].compare_exchange_weak(word, closed, std::memory_order_relaxed,
                                                       std::memory_order_relaxed)) {
                }
            }
        }

        /// Called by the thread that makes the table.
        void insert(Entry& entry) noexcept {
            // Relaxed, all: E2 publishes the table.
            std::size_t i = start(entry.hash);
            while (slots[i].load(std::memory_order_relaxed) != empty) {
                i = (i + 1) & mask;
            }
            slots[i].store(reinterpret_cast<std::uintptr_t>(&entry), std::memory_order_relaxed);
            used.store(used.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        }

        Table* const older;           ///< the table that this one has replaced, or null
        Slot* const slots;            ///< mask + 1 slots
        const std::size_t mask;       ///< the number of slots, a power of 2, minus 1
        const std::size_t limit;      ///< the most entries: half of the slots
        unsigned shift = 64;          ///< the low bits of a hash that choose no slot
        Atomic<std::size_t> used{0};  ///< entries and running additions; adding threads write it
    };

    static void destroyTables(const Table* newest) noexcept {
        while (newest != nullptr) {
            delete std::exchange(newest, newest->older);
        }
    }

    static std::uint64_t hashOf(const Key& key) {
        return fibonacciHash(static_cast<std::uint64_t>(Hash()(key)));
    }

    /// Adds a key that find() has not found.
    [[gnu::cold, gnu::noinline]] Value& add(const Key& key) {
        auto entry = std::make_unique<Entry>(key, hashOf(key));
        for (;;) {
            Table* const table = newest_.load(std::memory_order_acquire);  // E2
            Entry* const there = table == nullptr ? nullptr : addTo(*table, entry);
            if (there != nullptr) {
                return there->value;
            }
            replace(table);
        }
    }

    /// Returns the entry of the key, which another thread may have added. Returns null if the table
    /// has no room.
    static Entry* addTo(Table& table, std::unique_ptr<Entry>& entry) {
        // Counted before a slot is taken, so that one slot never gets an entry. Relaxed: a count.
        if (table.used.fetch_add(std::size_t{1}, std::memory_order_relaxed) >= table.limit) {
            return nullptr;
        }
        struct Reservation {
            Table& of;
            bool isUsed = false;
            ~Reservation() {
                if (!isUsed) {
                    of.used.fetch_sub(std::size_t{1}, std::memory_order_relaxed);  // a count
                }
            }
        } reservation{table};
        for (std::size_t i = table.start(entry->hash);; i = (i + 1) & table.mask) {
            Slot& slot = table.slots[i];
            std::uintptr_t word = slot.load(std::memory_order_acquire);  // E1
            while (word == empty) {
                const auto mine = reinterpret_cast<std::uintptr_t>(entry.get());
                if (slot.compare_exchange_weak(word, mine, std::memory_order_release,  // E1
                                               std::memory_order_acquire)) {
                    reservation.isUsed = true;
                    return entry.release();
                }
            }
            if (word == closed) {
                return nullptr;
            }
            if (Equal()(entryOf(word)->key, entry->key)) {
                return entryOf(word);
            }
        }
    }

    /// Replaces the table by a larger one, unless another thread has done so.
    [[gnu::cold, gnu::noinline]] void replace(Table* table) {
        const std::size_t capacity = table == nullptr ? FirstCapacity : 4 * (table->mask + 1);
        auto* const next = new Table(table, capacity);
        if (table != nullptr) {
            table->close();
            table->forEach([&next](Entry& entry) { next->insert(entry); });
        }
        Table* expected = table;
        if (!newest_.compare_exchange_weak(expected, next, std::memory_order_release,  // E2
                                           std::memory_order_relaxed)) {
            delete next;
        }
    }

    Atomic<Table*> newest_{nullptr};
};

}  // namespace sluice::detail
