#include "event_suites.hpp"
#include "support/crew.hpp"
#include "support/watchdog.hpp"

#include <sluice/event/detail/event_map.hpp>
#include <sluice/event/event_dispatcher.hpp>
#include <sluice/event/event_policies.hpp>

#include "support/testing.hpp"
#include <unordered_map>

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

#if defined(__cpp_exceptions)
/// A key whose hash may become bad.
struct BadKey {
    int value;
    friend bool operator==(const BadKey& a, const BadKey& b) { return a.value == b.value; }
    inline static int bad = -1;
};
#endif

}  // namespace
}  // namespace sluice

#if defined(__cpp_exceptions)
template <>
struct std::hash<sluice::BadKey> {
    std::size_t operator()(const sluice::BadKey& key) const {
        if (key.value == sluice::BadKey::bad) {
            throw std::runtime_error("of the test");
        }
        return static_cast<std::size_t>(key.value);
    }
};
#endif

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
};
TYPED_TEST_SUITE(EventMapTest, test::AllPolicies, test::PolicyNames);

TYPED_TEST(EventMapTest, EntriesStayWhereTheyAreHoweverManyFollow) {
    constexpr int count = 5000;
    typename TestFixture::Map map;
    std::vector<int*> places;
    for (int key = 0; key < count; ++key) {
        int& value = map.findOrAdd(key * 1000);
        value = key;
        places.push_back(&value);
        EXPECT_EQ(map.find(key * 1000), &value) << "at once";
    }
    for (int round = 0; round < 3; ++round) {
        for (int key = 0; key < count; ++key) {
            int* const place = map.find(key * 1000);
            ASSERT_EQ(place, places[static_cast<std::size_t>(key)]);
            ASSERT_EQ(*place, key);
            ASSERT_EQ(map.find(key * 1000 + 1), nullptr);
        }
    }
}

TYPED_TEST(EventMapTest, KeysOfTheSameHashAreToldApart) {
    EventMap<CollidingKey, std::size_t, TypeParam> map;
    for (std::size_t i = 0; i < 100; ++i) {
        map.findOrAdd(CollidingKey{i}) = i;
    }
    for (std::size_t i = 0; i < 100; ++i) {
        ASSERT_NE(map.find(CollidingKey{i}), nullptr);
        EXPECT_EQ(*map.find(CollidingKey{i}), i);
    }
    EXPECT_EQ(map.find(CollidingKey{100}), nullptr);
}

TYPED_TEST(EventMapTest, SearchHashesNoOtherKey) {
    EventMap<CountedKey, int, TypeParam> map;
    for (std::size_t i = 0; i < 100; ++i) {
        CountedKey::hashes = 0;
        map.findOrAdd(CountedKey{i});
        EXPECT_LE(CountedKey::hashes, 2U) << "adding";
        CountedKey::hashes = 0;
        (void)map.find(CountedKey{i});
        EXPECT_EQ(CountedKey::hashes, 1U) << "searching";
    }
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

TEST(EventMapLockTest, SearchTakesNoLock) {
    EventMap<int, int, CountedLockPolicies> map;
    for (int key = 0; key < 64; ++key) {
        map.findOrAdd(key) = key;
    }
    CountedLock::taken = 0;
    for (int key = 0; key < 64; ++key) {
        EXPECT_EQ(map.findOrAdd(key), key);
        EXPECT_EQ(*map.find(key), key);
        EXPECT_EQ(map.find(1000 + key), nullptr);
    }
    EXPECT_EQ(CountedLock::taken, 0);
}

// ---- as a value

TYPED_TEST(EventMapTest, CopiesMovesAndSwaps) {
    typename TestFixture::Map original;
    for (int key = 0; key < 20; ++key) {
        original.findOrAdd(key) = key;
    }
    typename TestFixture::Map copy(original);
    copy.findOrAdd(3) = 33;
    EXPECT_EQ(*original.find(3), 3);
    EXPECT_EQ(*copy.find(3), 33);
    int* const place = copy.find(3);
    typename TestFixture::Map moved(std::move(copy));
    EXPECT_EQ(copy.find(3), nullptr);
    EXPECT_EQ(moved.find(3), place);
    copy.findOrAdd(7) = 77;
    copy.swap(moved);
    EXPECT_EQ(copy.find(3), place);
    EXPECT_EQ(*moved.find(7), 77);
    moved = copy;
    EXPECT_EQ(*moved.find(19), 19);
    EXPECT_EQ(*moved.find(7), 7);
    moved = typename TestFixture::Map();
    EXPECT_EQ(moved.find(3), nullptr);
    auto& self = copy;
    copy = self;
    copy = std::move(self);
    EXPECT_EQ(copy.find(3), place);
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

TYPED_TEST(EventMapTest, HashThatThrowsHarmsNoOtherKey) {
    EventMap<BadKey, int, TypeParam> map;
    map.findOrAdd(BadKey{0}) = 100;
    BadKey::bad = 0;
    for (int key = 1; key < 100; ++key) {
        EXPECT_NO_THROW(map.findOrAdd(BadKey{key}) = 100 + key);
        EXPECT_NO_THROW((void)map.find(BadKey{key / 2 + 1}));
    }
    EXPECT_THROW((void)map.find(BadKey{0}), std::runtime_error);
    BadKey::bad = -1;
    for (int key = 0; key < 100; ++key) {
        ASSERT_NE(map.find(BadKey{key}), nullptr);
        EXPECT_EQ(*map.find(BadKey{key}), 100 + key);
    }
}

TYPED_TEST(EventMapTest, FailedAdditionsAndSearchesLoseNothing) {
    EventMap<FragileKey, int, TypeParam> map;
    int added = 0;
    for (int limit = 0; limit < 40; ++limit) {
        FragileKey::copiesLeft = limit % 8;
        try {
            map.findOrAdd(FragileKey(added)) = added;
            ++added;
            (void)map.find(FragileKey(0));
        } catch (const std::runtime_error&) {
        }
    }
    FragileKey::copiesLeft = 1000000;
    EXPECT_GT(added, 5);
    for (int key = 0; key < added; ++key) {
        EXPECT_EQ(map.findOrAdd(FragileKey(key)), key);
    }
    EXPECT_EQ(map.find(FragileKey(added)), nullptr);
}

#endif

// ---- several threads

struct OrderedPolicies {
    template <class Key, class Mapped>
    using Map = std::map<Key, Mapped, std::greater<>>;
};

template <class Policies>
class EventMapThreadsTest : public testing::Test {};
using HashedAndOrdered = testing::Types<DefaultPolicies, OrderedPolicies>;
TYPED_TEST_SUITE(EventMapThreadsTest, HashedAndOrdered);

TYPED_TEST(EventMapThreadsTest, AddersAndFindersAgreeOnTheEntries) {
    struct Sum {
        std::atomic<int> value{0};
    };
    constexpr int keys = 500;
    EventMap<int, Sum, TypeParam> map;
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

/// A key that calls a function when a key of value 1 is copied or destroyed.
struct EndingKey {
    explicit EndingKey(int number) : value(number) {}
    EndingKey(const EndingKey& other) : value(other.value) {
        if (value == 1 && atCopy != nullptr) {
            std::exchange(atCopy, nullptr)();
        }
    }
    EndingKey& operator=(const EndingKey&) = delete;
    ~EndingKey() {
        if (value == 1 && atEnd != nullptr) {
            std::exchange(atEnd, nullptr)();
        }
    }
    friend bool operator==(const EndingKey& a, const EndingKey& b) { return a.value == b.value; }
    friend bool operator>(const EndingKey& a, const EndingKey& b) { return a.value > b.value; }

    int value;
    inline static std::function<void()> atCopy;
    inline static std::function<void()> atEnd;
};

}  // namespace
}  // namespace sluice

template <>
struct std::hash<sluice::EndingKey> {
    std::size_t operator()(const sluice::EndingKey& key) const {
        return static_cast<std::size_t>(key.value);
    }
};

namespace sluice {
namespace {

template <class Policies>
class EventMapRemovalTest : public testing::Test {
protected:
    static constexpr int keys = 40;

    static bool isZero(int value) { return value == 0; }

    detail::EventMap<EndingKey, int, Policies> map;
};
TYPED_TEST_SUITE(EventMapRemovalTest, HashedAndOrdered);

TYPED_TEST(EventMapRemovalTest, KeepsWhatDestructorsAdd) {
    for (int key = 0; key < this->keys; ++key) {
        this->map.findOrAdd(EndingKey(key)) = key == 1 ? 0 : 7;
    }
    EndingKey::atEnd = [this] {
        for (int key = 0; key < 4 * this->keys; ++key) {
            this->map.findOrAdd(EndingKey(key)) = key;
        }
    };
    EXPECT_EQ(this->map.removeIf(this->isZero), 1U);
    for (int key = 0; key < 4 * this->keys; ++key) {
        const int* const found = this->map.find(EndingKey(key));
        ASSERT_NE(found, nullptr) << key;
        EXPECT_EQ(*found, key);
    }
}

TYPED_TEST(EventMapRemovalTest, DestructorsMayRemoveOtherEntries) {
    for (int key = 0; key < this->keys; ++key) {
        this->map.findOrAdd(EndingKey(key)) = key == 1 ? 0 : 7;
    }
    std::size_t inner = 0;
    EndingKey::atEnd = [&] {
        *this->map.find(EndingKey(0)) = 0;
        inner = this->map.removeIf(this->isZero);
    };
    EXPECT_EQ(this->map.removeIf(this->isZero), 1U);
    EXPECT_EQ(inner, 1U);
    EXPECT_EQ(this->map.find(EndingKey(0)), nullptr);
}

TYPED_TEST(EventMapRemovalTest, CopiesOfKeysMayUseTheMap) {
    const test::Watchdog watchdog([](std::FILE*) {});
    int* added = nullptr;
    EndingKey::atCopy = [&] {
        added = &this->map.findOrAdd(EndingKey(1));
        EndingKey::atEnd = [&] { EXPECT_EQ(this->map.find(EndingKey(2)), nullptr); };
    };
    const EndingKey one(1);
    int& value = this->map.findOrAdd(one);
    EXPECT_EQ(&value, added) << "the key has been added once";
    EXPECT_EQ(this->map.find(one), added);
}

template <class Policies>
class EventPoliciesMapTest : public testing::Test {};
TYPED_TEST_SUITE(EventPoliciesMapTest, test::CommonPolicies, test::PolicyNames);

struct Point {
    int x;
    int y;
    friend bool operator==(const Point& a, const Point& b) { return a.x == b.x && a.y == b.y; }
};
struct PointHash {
    std::size_t operator()(const Point& point) const {
        return static_cast<std::size_t>(point.x) * 1000 + static_cast<std::size_t>(point.y);
    }
};
struct Ordered {
    int number;
    friend bool operator<(const Ordered& a, const Ordered& b) { return a.number < b.number; }
};

// Dispatches all of the events and checks that each finds its own listener.
template <class Dispatcher>
void checkFinding(const std::vector<typename Dispatcher::Event>& events) {
    Dispatcher dispatcher;
    std::vector<std::size_t> seen;
    for (std::size_t i = 1; i < events.size(); ++i) {
        dispatcher.appendListener(events[i], [&seen, i] { seen.push_back(i); });
        dispatcher.dispatch(events[i]);
    }
    dispatcher.dispatch(events[0]);
    const Dispatcher copy(dispatcher);
    for (std::size_t i = 1; i < events.size(); ++i) {
        copy.dispatch(events[i]);
    }
    ASSERT_EQ(seen.size(), 2 * (events.size() - 1));
    for (std::size_t i = 0; i < seen.size(); ++i) {
        EXPECT_EQ(seen[i], 1 + i % (events.size() - 1));
    }
}

template <class Policies>
struct HashedPoints : Policies {
    template <class Key, class Value>
    using Map = std::unordered_map<Key, Value, PointHash>;
};

/// Converts to a number, which says nothing about whether it can be called.
struct Tally {
    int* sum;
    int count = 0;
    operator int() const { return count; }
    void operator()(int n) { *sum += n + ++count; }
};
template <class Policies>
struct TallyPolicies : Policies {
    using Callback = Tally;
};

TYPED_TEST(EventPoliciesMapTest, CallbackThatConvertsToZeroIsNotNull) {
    int sum = 0;
    CallbackList<void(int), TallyPolicies<TypeParam>> list;
    EXPECT_TRUE(list.append(Tally{&sum}));
    list(1);
    list(1);
    EXPECT_EQ(sum, 5);
}

TYPED_TEST(EventPoliciesMapTest, MapOfThePolicyWithAnotherHash) {
    using Policies = HashedPoints<TypeParam>;
    checkFinding<EventDispatcher<Point, void(), Policies>>(
        {{0, 0}, {1, 2}, {2, 1}, {1, 1}, {3, 3}, {4, 4}, {5, 5}, {6, 6}, {7, 7}, {8, 8}, {9, 9}});
}

TYPED_TEST(EventPoliciesMapTest, EventsWithoutHashAreOrdered) {
    checkFinding<EventDispatcher<Ordered, void(), TypeParam>>({{0}, {5}, {3}, {9}, {1}});
}

enum class Kind { none, first, second };

TYPED_TEST(EventPoliciesMapTest, EventsMayBeEnumsStringsAndPointers) {
    checkFinding<EventDispatcher<Kind, void(), TypeParam>>({Kind::none, Kind::first, Kind::second});
    checkFinding<EventDispatcher<std::string, void(), TypeParam>>({"none", "", "one", "two"});
    const int places[3] = {};
    checkFinding<EventDispatcher<const int*, void(), TypeParam>>(
        {nullptr, &places[0], &places[1], &places[2]});
}

}  // namespace
}  // namespace sluice
