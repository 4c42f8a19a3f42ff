#pragma once

#include <sluice/base/thread_slots.hpp>
#include <sluice/event/detail/comparing.hpp>
#include <sluice/event/detail/policy_traits.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Any thread may call find(), findOrAdd() and forEach() of these maps. All other members need
// exclusive access to the map. Entries keep their addresses until removeIf() or the destructor.

namespace sluice::detail {

/// A hash table that threads search without a lock. Adding a key takes a lock briefly.
template <class Key, class Value, class Hash, class Equal, class Threading,
          std::size_t FirstCapacity = 8>
class HashMap {
    using Lock = LockOf<Threading>;
    template <class T>
    using Atomic = typename PlatformOf<Threading>::template Atomic<T>;

public:
    HashMap() noexcept = default;
    HashMap(const HashMap&) = delete;
    HashMap& operator=(const HashMap&) = delete;
    ~HashMap() {
        // Repeats, because destructors of values may add keys. Relaxed: not shared.
        while (Table* const table = table_.exchange(nullptr, std::memory_order_relaxed)) {
            destroy(table);
        }
    }

    void swap(HashMap& other) noexcept {
        exchange(table_, other.table_);
        exchange(count_, other.count_);
    }

    /// Returns null if the key is not in the map. Allocates nothing.
    Value* find(const Key& key) const {
        const Table* const table = table_.load(std::memory_order_acquire);  // E2 table
        if (table == nullptr) {
            return nullptr;
        }
        for (std::size_t i = table->start(hashOf(key));; i = (i + 1) & table->mask) {
            Entry* const entry = table->slots[i].load(std::memory_order_acquire);  // E1 entry
            if (entry == nullptr) {
                return nullptr;
            }
            if (SLUICE_LIKELY(Equal()(entry->key, key))) {
                return &entry->value;
            }
        }
    }

    /// If findOrAdd() throws, the map has the same entries as before.
    Value& findOrAdd(const Key& key) {
        const std::size_t count = count_.load(std::memory_order_acquire);  // E3 count
        Value* const value = find(key);
        return value != nullptr ? *value : add(key, count);
    }

    /// Destroys the entries for which isUnused(value) is true, and all replaced tables. Returns the
    /// number of destroyed entries. If removeIf() throws std::bad_alloc, the map is unchanged.
    template <class Test>
    std::size_t removeIf(Test isUnused) {
        Table* const old = table_.load(std::memory_order_relaxed);  // not shared
        if (old == nullptr) {
            return 0;
        }
        std::size_t kept = 0;
        old->forEach([&](const Entry& entry) { kept += isUnused(entry.value) ? 0U : 1U; });
        std::size_t capacity = FirstCapacity;
        while (capacity / 2 < kept) {
            capacity *= 4;
        }
        Table* const next = new Table(nullptr, capacity);
        for (std::size_t i = 0; i <= old->mask; ++i) {
            Entry* const entry = old->slots[i].load(std::memory_order_relaxed);
            if (entry != nullptr && !isUnused(std::as_const(entry->value))) {
                next->insert(*entry);
                old->slots[i].store(nullptr, std::memory_order_relaxed);
            }
        }
        const std::size_t before = count_.load(std::memory_order_relaxed);
        table_.store(next, std::memory_order_relaxed);
        count_.store(kept, std::memory_order_relaxed);
        destroy(old);  // last, because destructors of keys may use the map
        return before - kept;
    }

    template <class F>
    void forEach(F&& f) const {
        if (const Table* const table = table_.load(std::memory_order_acquire)) {  // E2 table
            table->forEach([&f](const Entry& entry) { f(entry.key, entry.value); });
        }
    }

private:
    // Open addressing with linear probing. A table is at most half full, so every search ends at
    // an empty slot. Until removeIf(), running searches may use a table that has been replaced.
    //
    // Happens-before edges (proof: docs/algorithms/events.md):
    //   E1 entry: insert -> find.
    //   E2 table: insert -> find.
    //   E3 count: insert -> findOrAdd.

    struct Entry {
        Entry(const Key& ownKey, std::uint64_t itsHash) : key(ownKey), hash(itsHash) {}
        const Key key;
        const std::uint64_t hash;
        Value value{};
    };
    using Slot = Atomic<Entry*>;

    struct Table {
        Table(Table* olderTable, std::size_t capacity)
            : older(olderTable), slots(new Slot[capacity]()), mask(capacity - 1) {
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
                if (Entry* const entry = slots[i].load(std::memory_order_acquire)) {  // E1 entry
                    f(*entry);
                }
            }
        }

        void insert(Entry& entry) noexcept {
            std::size_t i = start(entry.hash);
            while (slots[i].load(std::memory_order_relaxed) != nullptr) {  // under the lock
                i = (i + 1) & mask;
            }
            slots[i].store(&entry, std::memory_order_release);  // E1 entry
        }

        Table* const older;  // the table that this table has replaced, or null
        Slot* const slots;
        const std::size_t mask;  // the number of slots, a power of 2, minus 1
        unsigned shift = 64;     // the number of low hash bits that do not select a slot
    };

    static void destroy(Table* table) noexcept {
        table->forEach([](const Entry& entry) { delete &entry; });
        while (table != nullptr) {
            delete std::exchange(table, table->older);
        }
    }

    template <class T>
    static void exchange(Atomic<T>& a, Atomic<T>& b) noexcept {
        const T mine = a.load(std::memory_order_relaxed);  // not shared
        a.store(b.load(std::memory_order_relaxed), std::memory_order_relaxed);
        b.store(mine, std::memory_order_relaxed);
    }

    /// Spreads the hash by a multiplication, because std::hash usually returns a number unchanged.
    static std::uint64_t hashOf(const Key& key) {
        return fibonacciHash(static_cast<std::uint64_t>(Hash()(key)));
    }

    struct Addition {
        Entry* entry;
        Table* larger = nullptr;

        ~Addition() {
            delete entry;
            delete larger;
        }
    };

    /// Adds a key that is not among the first `count` entries.
    [[gnu::cold, gnu::noinline]] Value& add(const Key& key, std::size_t count) {
        Addition added{new Entry(key, hashOf(key))};
        for (;;) {
            Table* const table = table_.load(std::memory_order_acquire);  // E2 table
            delete std::exchange(added.larger, nullptr);
            if (table == nullptr || count >= (table->mask + 1) / 2) {
                added.larger =
                    new Table(table, table == nullptr ? FirstCapacity : 4 * (table->mask + 1));
                if (table != nullptr) {
                    table->forEach([&added](Entry& each) { added.larger->insert(each); });
                }
            }
            if (Value* const value = insert(table, added, count)) {
                return *value;
            }
            // insert() failed because another thread has added a key, perhaps the same key.
            count = count_.load(std::memory_order_acquire);  // E3 count
            if (Value* const value = find(key)) {
                return *value;
            }
        }
    }

    /// Returns null without inserting if the map no longer has `count` entries.
    Value* insert(Table* table, Addition& added, std::size_t count) noexcept {
        const std::lock_guard<Lock> guard(lock_);
        if (count_.load(std::memory_order_relaxed) != count) {  // under the lock
            return nullptr;
        }
        if (added.larger != nullptr) {
            table = std::exchange(added.larger, nullptr);
            table_.store(table, std::memory_order_release);  // E2 table
        }
        table->insert(*added.entry);
        count_.store(count + 1, std::memory_order_release);  // E3 count
        return &std::exchange(added.entry, nullptr)->value;
    }

    Atomic<Table*> table_{nullptr};
    Atomic<std::size_t> count_{0};
    Lock lock_;
};

/// A std::map under a lock, for events without a hash. Comparisons run under the lock.
template <class Key, class Value, class Less, class Threading>
class OrderedMap {
    using Lock = LockOf<Threading>;
    using Guard = std::lock_guard<Lock>;

public:
    OrderedMap() noexcept = default;
    OrderedMap(const OrderedMap&) = delete;
    OrderedMap& operator=(const OrderedMap&) = delete;
    ~OrderedMap() {
        while (!map_.empty()) {  // repeats, because destructors of values may add keys
            std::map<Key, Value, Less> ended;
            ended.swap(map_);
        }
    }

    void swap(OrderedMap& other) noexcept { map_.swap(other.map_); }

    Value* find(const Key& key) const {
        const Guard guard(lock_);
        const auto found = map_.find(key);
        return found == map_.end() ? nullptr : &found->second;
    }

    Value& findOrAdd(const Key& key) {
        if (Value* const value = find(key)) {
            return *value;
        }
        std::map<Key, Value, Less> added;  // made without the lock: copying a key may run user code
        added.try_emplace(key);
        const Guard guard(lock_);
        map_.merge(added);
        return map_.find(key)->second;
    }

    template <class Test>
    std::size_t removeIf(Test isUnused) {
        std::map<Key, Value, Less> ended;  // destroyed last: destructors of keys may use the map
        for (auto entry = map_.begin(); entry != map_.end();) {
            const auto current = entry++;
            if (isUnused(std::as_const(current->second))) {
                ended.insert(ended.end(), map_.extract(current));
            }
        }
        return ended.size();
    }

    template <class F>
    void forEach(F&& f) const {
        std::vector<std::pair<const Key*, const Value*>> entries;
        {
            const Guard guard(lock_);
            for (const auto& [key, value] : map_) {
                entries.emplace_back(&key, &value);
            }
        }
        for (const auto& [key, value] : entries) {
            f(*key, *value);
        }
    }

private:
    mutable std::map<Key, Value, Less> map_;
    mutable Lock lock_;
};

template <class P, class Key, class Value>
using MapMember = typename P::template Map<Key, Value>;
template <class Map>
using HasherOf = std::enable_if_t<sizeof(typename Map::key_equal) != 0, typename Map::hasher>;
template <class Map>
using ComparisonOf = typename Map::key_compare;
template <class Key>
using HashOf = decltype(std::hash<Key>()(std::declval<const Key&>()));

struct NoMap {};

template <class Key>
inline constexpr bool isHashable = isDetected<HashOf, Key> && hasEqual<Key>;

/// True if a hash map may replace a std::map, because keys equivalent under Less are equal.
template <class Key, class Less>
inline constexpr bool isNatural =
    (std::is_scalar_v<Key> || std::is_same_v<Key, std::string>)&&isHashable<Key> &&
    (std::is_same_v<Less, std::less<Key>> || std::is_same_v<Less, std::less<>>);

template <class Key, class Value, class Map, class Threading>
auto selectMap() {
    using StdHashMap = HashMap<Key, Value, std::hash<Key>, std::equal_to<Key>, Threading>;
    if constexpr (isDetected<HasherOf, Map>) {
        using Equal = typename Map::key_equal;
        return static_cast<HashMap<Key, Value, HasherOf<Map>, Equal, Threading>*>(nullptr);
    } else if constexpr (isDetected<ComparisonOf, Map>) {
        using Less = ComparisonOf<Map>;
        using Ordered = OrderedMap<Key, Value, Less, Threading>;
        return static_cast<std::conditional_t<isNatural<Key, Less>, StdHashMap, Ordered>*>(nullptr);
    } else if constexpr (isHashable<Key>) {
        return static_cast<StdHashMap*>(nullptr);
    } else {
        static_assert(hasLess<Key>,
                      "an event needs std::hash and ==, or <, or a Map in the policies that names "
                      "its hasher and key_equal, or its key_compare");
        return static_cast<OrderedMap<Key, Value, std::less<Key>, Threading>*>(nullptr);
    }
}

template <class Key, class Value>
struct MapOf {
    template <class P>
    using Member = MapMember<P, Key, Value*>;
};

template <class Key, class Value, class Policies>
using SelectedMap = std::remove_pointer_t<
    decltype(selectMap<Key, Value,
                       typename PolicyOr<NoMap, MapOf<Key, Value>::template Member, Policies>::Type,
                       ThreadingOf<Policies>>())>;

template <class Key, class Value, class Policies>
class EventMap : public SelectedMap<Key, Value, Policies> {
public:
    EventMap() noexcept = default;
    EventMap(const EventMap& other) : EventMap() {
        other.forEach([this](const Key& key, const Value& value) { this->findOrAdd(key) = value; });
    }
    EventMap(EventMap&& other) noexcept : EventMap() { this->swap(other); }
    EventMap& operator=(const EventMap& other) {
        if (this != &other) {
            EventMap(other).swap(*this);
        }
        return *this;
    }
    EventMap& operator=(EventMap&& other) noexcept {
        EventMap(std::move(other)).swap(*this);
        return *this;
    }
};

}  // namespace sluice::detail
