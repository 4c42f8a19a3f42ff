#include "event_suites.hpp"

#include <sluice/event/event_dispatcher.hpp>
#include <sluice/event/event_policies.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sluice {
namespace {

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

/// Takes everything that can be called, and cannot be compared or asked whether it is empty.
class ErasedCallback {
public:
    template <class F>
    ErasedCallback(F f) : function_(std::move(f)) {}
    void operator()(int n) const { function_(n); }

private:
    std::function<void(int)> function_;
};
template <class Policies>
struct ErasedPolicies : Policies {
    using Callback = ErasedCallback;
};

TYPED_TEST(EventPoliciesMapTest, CallbackOfThePolicyNeedNotKnowNull) {
    CallbackList<void(int), ErasedPolicies<TypeParam>> list;
    int sum = 0;
    list.append([&sum](int n) { sum += n; });
    list(3);
    EXPECT_EQ(sum, 3);
}

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

template <class Policies>
struct InOrder : Policies {
    template <class Key, class Value>
    using Map = std::map<Key, Value>;
};

TYPED_TEST(EventPoliciesMapTest, OrderedMapOfThePolicy) {
    using Policies = InOrder<TypeParam>;
    checkFinding<EventDispatcher<std::string, void(), Policies>>({"x", "a", "b", "c", "d"});
}

template <class Policies>
struct Downwards : Policies {
    template <class Key, class Value>
    using Map = std::map<Key, Value, std::greater<Key>>;
};

TYPED_TEST(EventPoliciesMapTest, MapOfThePolicyMayCompareInItsOwnWay) {
    using Policies = Downwards<TypeParam>;
    checkFinding<EventDispatcher<int, void(), Policies>>({0, 5, 3, 9, 1, 7});
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
