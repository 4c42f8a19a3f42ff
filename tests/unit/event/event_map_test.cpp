#include "event_suites.hpp"

#include "support/crew.hpp"

#include <sluice/event/detail/event_map.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#if defined(__cpp_exceptions)
#include <stdexcept>
#endif

namespace sluice {
namespace {

struct CountedKey {
    std::size_t value;
    friend bool operator==(const CountedKey& a, const CountedKey& b) { return a.value == b.value; }
    inline static std::size_t hashes = 0;
};

struct CollidingKey {
    std::size_t value;
    friend bool operator==(const CollidingKey& a, const CollidingKey& b) {
        return a.value == b.value;
    }
};

}  // namespace
}  // namespace sluice

template <>
struct std::hash<sluice::CollidingKey> {
    std::size_t operator()(const sluice::CollidingKey&) const { return 7; }
};

template <>
struct std::hash<sluice::CountedKey> {
    std::size_t operator()(const sluice::CountedKey& key) const {
        ++sluice::CountedKey::hashes;
        return key.value;
    }
};

namespace sluice {
namespace {

using detail::EventMap;

template <class Policies>
class EventMapTest : public testing::Test {
protected:
    using Map = EventMap<int, int, Policies>;
    using ReadSide = detail::ReadSideOf<detail::ThreadingOf<Policies>>;

    /// As dispatchers do.
    template <class AnyMap, class Key>
    static auto* find(const AnyMap& map, const Key& key) {
        [[maybe_unused]] const auto guard = ReadSide::enter();
        return map.find(key);
    }
};
TYPED_TEST_SUITE(EventMapTest, test::AllPolicies, test::PolicyNames);

TYPED_TEST(EventMapTest, FindsWhatWasAddedAndNothingElse) {
    typename TestFixture::Map map;
    EXPECT_EQ(this->find(map, 3), nullptr);
    map.findOrAdd(3) = 30;
    EXPECT_EQ(*this->find(map, 3), 30);
    EXPECT_EQ(this->find(map, 4), nullptr);
    map.findOrAdd(4) = 40;
    EXPECT_EQ(*this->find(map, 4), 40);
    EXPECT_EQ(map.findOrAdd(3), 30);
}

TYPED_TEST(EventMapTest, EntriesStayWhereTheyAreHoweverManyFollow) {
    constexpr int count = 5000;
    typename TestFixture::Map map;
    std::vector<int*> places;
    for (int key = 0; key < count; ++key) {
        int& value = map.findOrAdd(key * 1000);
        value = key;
        places.push_back(&value);
        EXPECT_EQ(this->find(map, key * 1000), &value) << "at once";
    }
    for (int round = 0; round < 3; ++round) {
        for (int key = 0; key < count; ++key) {
            int* const place = this->find(map, key * 1000);
            ASSERT_EQ(place, places[static_cast<std::size_t>(key)]);
            ASSERT_EQ(*place, key);
            ASSERT_EQ(this->find(map, key * 1000 + 1), nullptr);
        }
    }
}

TYPED_TEST(EventMapTest, KeysOfTheSameHashAreToldApart) {
    EventMap<CollidingKey, std::size_t, TypeParam> map;
    for (std::size_t i = 0; i < 100; ++i) {
        map.findOrAdd(CollidingKey{i}) = i;
    }
    for (std::size_t i = 0; i < 100; ++i) {
        ASSERT_NE(this->find(map, CollidingKey{i}), nullptr);
        EXPECT_EQ(*this->find(map, CollidingKey{i}), i);
    }
    EXPECT_EQ(this->find(map, CollidingKey{100}), nullptr);
}

TYPED_TEST(EventMapTest, AddingAndSearchingManyTakesConstantTimeOnAverage) {
    constexpr std::size_t count = 2000;
    EventMap<CountedKey, int, TypeParam> map;
    CountedKey::hashes = 0;
    for (std::size_t i = 0; i < count; ++i) {
        map.findOrAdd(CountedKey{i});
        EXPECT_NE(this->find(map, CountedKey{i}), nullptr);
    }
    EXPECT_LT(CountedKey::hashes, 20 * count);
}

/// Counts the locks that are taken.
struct CountedLock {
    void lock() { ++taken; }
    void unlock() {}
    inline static int taken = 0;
};
struct CountedLockPolicies {
    using Threading = GeneralThreading<CountedLock>;
};

class EventMapLockTest : public testing::Test {
protected:
    using Map = EventMap<int, int, CountedLockPolicies>;

    /// How many locks it takes to search for all keys below `count`.
    static int locksToFind(const Map& map, int count) {
        const int before = CountedLock::taken;
        for (int key = 0; key < count; ++key) {
            const auto guard =
                detail::ReadSideOf<detail::ThreadingOf<CountedLockPolicies>>::enter();
            (void)map.find(key);
        }
        return CountedLock::taken - before;
    }
};

TEST_F(EventMapLockTest, SearchesTakeNoLockOnceTheEventsHaveSettled) {
    constexpr int count = 64;
    Map map;
    for (int key = 0; key < count; ++key) {
        map.findOrAdd(key) = key;
    }
    EXPECT_LE(locksToFind(map, count), count);
    EXPECT_EQ(locksToFind(map, count), 0);
    EXPECT_EQ(locksToFind(map, 2 * count), 0) << "events that nobody listens to take none either";
}

TEST_F(EventMapLockTest, NewEventTakesAsManyLocksAsThereAreEvents) {
    constexpr int count = 64;
    Map map;
    for (int key = 0; key < count; ++key) {
        map.findOrAdd(key) = key;
        (void)locksToFind(map, key + 1);
        (void)locksToFind(map, 2 * count);
    }
    EXPECT_EQ(locksToFind(map, count), 0);
    map.findOrAdd(count) = count;
    EXPECT_EQ(locksToFind(map, count), 0) << "what had settled stays so";
    int locks = 0;
    for (int search = 0; search < 2 * count; ++search) {
        const auto guard = detail::ReadSideOf<detail::ThreadingOf<CountedLockPolicies>>::enter();
        const int before = CountedLock::taken;
        EXPECT_EQ(*map.find(count), count);
        locks += CountedLock::taken - before;
    }
    EXPECT_GT(locks, 0);
    EXPECT_LE(locks, count + 1);
}

// ---- as a value

TYPED_TEST(EventMapTest, CopiesMovesAndSwaps) {
    typename TestFixture::Map original;
    for (int key = 0; key < 20; ++key) {
        original.findOrAdd(key) = key;
    }
    typename TestFixture::Map copy(original);
    copy.findOrAdd(3) = 33;
    EXPECT_EQ(*this->find(original, 3), 3);
    EXPECT_EQ(*this->find(copy, 3), 33);
    int* const place = this->find(copy, 3);
    typename TestFixture::Map moved(std::move(copy));
    EXPECT_EQ(this->find(copy, 3), nullptr);
    EXPECT_EQ(this->find(moved, 3), place);
    copy.findOrAdd(7) = 77;
    copy.swap(moved);
    EXPECT_EQ(this->find(copy, 3), place);
    EXPECT_EQ(*this->find(moved, 7), 77);
    moved = copy;
    EXPECT_EQ(*this->find(moved, 19), 19);
    EXPECT_EQ(*this->find(moved, 7), 7);
    moved = typename TestFixture::Map();
    EXPECT_EQ(this->find(moved, 3), nullptr);
    auto& self = copy;
    copy = self;
    copy = std::move(self);
    EXPECT_EQ(this->find(copy, 3), place);
}

#if defined(__cpp_exceptions)

struct FragileKey {
    int number;
    FragileKey(int n) : number(n) {}
    FragileKey(const FragileKey& other) : number(other.number) {
        if (copiesLeft-- == 0) {
            throw std::runtime_error("of the test");
        }
    }
    friend bool operator<(const FragileKey& a, const FragileKey& b) { return a.number < b.number; }
    inline static int copiesLeft = 1000000;
};

TYPED_TEST(EventMapTest, FailedAdditionsAndSearchesLoseNothing) {
    EventMap<FragileKey, int, TypeParam> map;
    int added = 0;
    for (int limit = 0; limit < 40; ++limit) {
        FragileKey::copiesLeft = limit % 8;
        try {
            map.findOrAdd(FragileKey(added)) = added;
            ++added;
            (void)this->find(map, FragileKey(0));
        } catch (const std::runtime_error&) {
        }
    }
    FragileKey::copiesLeft = 1000000;
    EXPECT_GT(added, 5);
    for (int key = 0; key < added; ++key) {
        EXPECT_EQ(map.findOrAdd(FragileKey(key)), key);
    }
    EXPECT_EQ(this->find(map, FragileKey(added)), nullptr);
}

#endif

// ---- several threads

TEST(EventMapThreadsTest, AddersAndFindersAgreeOnTheEntries) {
    struct Sum {
        std::atomic<int> value{0};
    };
    using Map = EventMap<int, Sum, DefaultPolicies>;
    constexpr int keys = 500;
    Map map;
    std::atomic<int> wrong{0};
    {
        test::Crew crew;
        for (int thread = 0; thread < 2; ++thread) {
            crew.add([&map, thread] {
                for (int i = 0; i < keys; ++i) {
                    const int key = thread == 0 ? i : keys - 1 - i;
                    map.findOrAdd(key).value.fetch_add(key + 1);
                }
            });
        }
        crew.add([&map, &wrong] {
            for (int i = 0; i < 20 * keys; ++i) {
                const auto guard = detail::ReadSideOf<MultipleThreading>::enter();
                const int key = i % keys;
                const Sum* const sum = map.find(key);
                if (sum != nullptr && sum->value.load() % (key + 1) != 0) {
                    wrong.fetch_add(1);
                }
            }
        });
    }
    EXPECT_EQ(wrong.load(), 0);
    for (int key = 0; key < keys; ++key) {
        EXPECT_EQ(map.findOrAdd(key).value.load(), 2 * (key + 1));
    }
}

}  // namespace
}  // namespace sluice
