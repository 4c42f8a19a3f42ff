#pragma once

#include <sluice/event/detail/dispatch/comparing.hpp>
#include <sluice/event/detail/dispatch/growing_hash_map.hpp>
#include <sluice/event/detail/dispatch/growing_ordered_map.hpp>
#include <sluice/event/detail/list/read_side.hpp>

#include <functional>
#include <type_traits>
#include <utility>

namespace sluice::detail {

template <class P, class Key, class Value>
using MapMember = typename P::template Map<Key, Value>;
template <class Map>
using HasherOf = std::enable_if_t<sizeof(typename Map::key_equal) != 0, typename Map::hasher>;
template <class Map>
using ComparisonOf = typename Map::key_compare;

template <class Key>
using HashOf = decltype(std::hash<Key>()(std::declval<const Key&>()));

/// Used if the policies have no Map.
struct NoMap {};

/// Selects how keys are compared: as in the policies' Map, otherwise by std::hash and ==, otherwise
/// by <.
template <class Key, class Value, class Map, class Platform>
auto selectMap() {
    if constexpr (isDetected<HasherOf, Map>) {
        using Equal = typename Map::key_equal;
        return static_cast<GrowingHashMap<Key, Value, HasherOf<Map>, Equal, Platform>*>(nullptr);
    } else if constexpr (isDetected<ComparisonOf, Map>) {
        return static_cast<GrowingOrderedMap<Key, Value, ComparisonOf<Map>, Platform>*>(nullptr);
    } else if constexpr (isDetected<HashOf, Key> && hasEqual<Key>) {
        using Equal = std::equal_to<Key>;
        return static_cast<GrowingHashMap<Key, Value, std::hash<Key>, Equal, Platform>*>(nullptr);
    } else {
        static_assert(hasLess<Key>,
                      "an event needs std::hash and ==, or <, or a Map in the policies that names "
                      "its hasher and key_equal, or its key_compare");
        return static_cast<GrowingOrderedMap<Key, Value, std::less<Key>, Platform>*>(nullptr);
    }
}

/// Finds the value of an event, in parallel on any number of threads, without a lock. Entries
/// are added and stay where they are until removeIf(), or until the map ends.
template <class Key, class Value, class Policies>
class EventMap {
    template <class P>
    using MapOf = MapMember<P, Key, Value*>;
    using Platform = typename ReadSideOf<ThreadingOf<Policies>>::Platform;
    using Map = std::remove_pointer_t<
        decltype(selectMap<Key, Value, typename PolicyOr<NoMap, MapOf, Policies>::Type,
                           Platform>())>;

public:
    EventMap() noexcept = default;
    EventMap(const EventMap& other) : EventMap() {
        other.map_.forEach(
            [this](const Key& key, const Value& value) { map_.findOrAdd(key) = value; });
    }
    EventMap(EventMap&& other) noexcept : EventMap() { swap(other); }
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

    /// No other thread may use either map.
    void swap(EventMap& other) noexcept { map_.swap(other.map_); }

    /// Destroys the entries for which isUnused(value) is true. Returns their number. No other
    /// thread may use the map.
    template <class Test>
    std::size_t removeIf(Test isUnused) {
        return map_.removeIf(isUnused);
    }

    /// Returns null if the map has no such key. Allocates nothing. Exceptions of the key's hash and
    /// comparison pass through.
    Value* find(const Key& key) const { return map_.find(key); }

    /// If it throws, the map has the same entries as before.
    Value& findOrAdd(const Key& key) { return map_.findOrAdd(key); }

private:
    Map map_;
};

}  // namespace sluice::detail
