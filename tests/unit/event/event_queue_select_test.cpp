#include "unit/event/event_queue_suites.hpp"

#include <sluice/event/event_queue.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

// processIf(), processUntil(), processQueueWith() and processOneWith().

namespace sluice {
namespace {

using namespace test;
using Numbers = std::vector<int>;

template <class Policies>
class EventQueueSelectTest : public NumberQueueTest<Policies> {};
TYPED_TEST_SUITE(EventQueueSelectTest, CommonQueuePolicies, QueuePolicyNames);

auto is(int wanted) {
    return [wanted](int number) { return number == wanted; };
}

// ---- processIf

TYPED_TEST(EventQueueSelectTest, ProcessIfDispatchesWhatMatchesAndKeepsTheRestInFront) {
    std::array<int, 8> hits{};
    for (const int event : {5, 6, 7}) {
        this->queue.appendListener(event, [&hits](int number) { ++hits.at(size_t(number)); });
    }
    const auto expectHits = [&](const Numbers& expected) {
        EXPECT_EQ((Numbers{hits[5], hits[6], hits[7]}), expected);
    };
    this->enqueue({5, 6, 7});
    EXPECT_TRUE(this->queue.process());
    expectHits({1, 1, 1});

    this->enqueue({5, 6, 7});
    EXPECT_TRUE(this->queue.processIf(is(6)));
    expectHits({1, 2, 1});

    this->enqueue({5, 6, 7});
    EXPECT_TRUE(this->queue.processIf(is(5)));
    expectHits({3, 2, 1});

    this->enqueue({5, 6, 7});
    std::array<int, 8> asked{};
    EXPECT_TRUE(this->queue.processIf([&asked](int number) {
        ++asked.at(size_t(number));
        return number == 7;
    })) << "of 7 6 7 and 5 6 7";
    expectHits({3, 2, 4});
    EXPECT_EQ((Numbers{asked[5], asked[6], asked[7]}), (Numbers{1, 2, 3}));
    EXPECT_TRUE(this->queue.process());
    expectHits({4, 4, 4});
    EXPECT_FALSE(this->queue.processIf([](int) { return true; }));
}

TYPED_TEST(EventQueueSelectTest, ProcessIfAsksOnceForEachEventInOrder) {
    this->enqueue({5, 7, 6, 6, 7});
    this->enqueue({7});
    Numbers asked;
    EXPECT_TRUE(this->queue.processIf([&asked](int number) {
        asked.push_back(number);
        return number == 7;
    }));
    EXPECT_EQ(asked, (Numbers{5, 7, 6, 6, 7, 7}));
    EXPECT_EQ(this->takeSeen(), (Numbers{7, 7, 7}));
    EXPECT_EQ(this->takeQueued(), (Numbers{5, 6, 6}));
}

TYPED_TEST(EventQueueSelectTest, ProcessIfIsFalseWhenNothingMatches) {
    this->enqueue({5, 6});
    EXPECT_FALSE(this->queue.processIf(is(7)));
    EXPECT_TRUE(this->seen.empty());
    EXPECT_EQ(this->takeQueued(), (Numbers{5, 6}));
}

TYPED_TEST(EventQueueSelectTest, KeptEventsComeBeforeThoseThatListenersAdd) {
    this->queue.appendListener(6, [this](int) { this->enqueue({8, 9}); });
    this->enqueue({5, 6, 7});
    EXPECT_TRUE(this->queue.processIf(is(6)));
    EXPECT_EQ(this->takeQueued(), (Numbers{5, 7, 8, 9}));
}

TYPED_TEST(EventQueueSelectTest, PredicateWithoutArgumentsCountsEvents) {
    int counter = 0;
    this->enqueue({5, 6, 7});
    EXPECT_TRUE(this->queue.processIf([&counter] { return counter++ == 1; }));
    EXPECT_EQ(this->takeSeen(), (Numbers{6}));
    this->enqueue({5, 6, 7});
    counter = 0;
    EXPECT_TRUE(this->queue.processIf([&counter] { return counter++ == 0; }));
    EXPECT_EQ(this->takeSeen(), (Numbers{5}));
    EXPECT_EQ(this->takeQueued(), (Numbers{7, 5, 6, 7}));
}

/// Can be called as an lvalue that is not const, and counts its calls.
struct CountingPredicate {
    int calls = 0;
    bool operator()() & { return calls++ == 1; }
};

TYPED_TEST(EventQueueSelectTest, PredicateMayHaveStateAndNoArgumentsWithAnyPrototype) {
    EventQueue<int, void(), TypeParam> own;
    Numbers order;
    for (const int event : {5, 6, 7}) {
        own.appendListener(event, [&order, event] { order.push_back(event); });
        EXPECT_TRUE(own.enqueue(event));
    }
    CountingPredicate predicate;
    EXPECT_TRUE(own.processIf(predicate));
    EXPECT_EQ(predicate.calls, 3) << "the predicate itself was called, not a copy";
    EXPECT_EQ(order, (Numbers{6}));
    EXPECT_TRUE(own.processUntil(CountingPredicate{}));
    EXPECT_EQ(order, (Numbers{6, 5}));
}

TYPED_TEST(EventQueueSelectTest, PredicateSeesAllArguments) {
    EventQueue<int, void(int, const std::string&), TypeParam> own;
    std::string joined;
    own.appendListener(1, [&](int, const std::string& text) { joined += text; });
    EXPECT_TRUE(own.enqueue(1, 1, "a"));
    EXPECT_TRUE(own.enqueue(1, 2, "b"));
    EXPECT_TRUE(own.enqueue(1, 3, "c"));
    EXPECT_TRUE(own.processIf(
        [](int number, const std::string& text) { return number == 1 || text == "c"; }));
    EXPECT_EQ(joined, "ac");
}

// ---- processUntil

TYPED_TEST(EventQueueSelectTest, ProcessUntilStopsInFrontOfWhatThePredicateNames) {
    EXPECT_FALSE(this->queue.processUntil([] { return false; }));
    int counter = 0;
    this->enqueue({5, 6, 7});
    EXPECT_TRUE(this->queue.processUntil([&counter] { return counter++ == 1; }));
    EXPECT_EQ(this->takeSeen(), (Numbers{5}));
    this->enqueue({5, 6, 7});
    counter = 0;
    EXPECT_TRUE(this->queue.processUntil([&counter] { return counter++ == 3; }));
    EXPECT_EQ(this->takeSeen(), (Numbers{6, 7, 5}));
    EXPECT_TRUE(this->queue.process());
    EXPECT_EQ(this->takeSeen(), (Numbers{6, 7}));
}

TYPED_TEST(EventQueueSelectTest, ProcessUntilIsFalseWhenItDispatchedNothing) {
    this->enqueue({5, 6});
    EXPECT_FALSE(this->queue.processUntil(is(5)));
    EXPECT_TRUE(this->queue.processUntil(is(6)));
    EXPECT_EQ(this->takeSeen(), (Numbers{5}));
    EXPECT_TRUE(this->queue.processUntil(is(9)));
    EXPECT_EQ(this->takeSeen(), (Numbers{6}));
    EXPECT_TRUE(this->queue.emptyQueue());
}

TYPED_TEST(EventQueueSelectTest, EventsThatProcessUntilLeavesComeBeforeNewOnes) {
    this->queue.appendListener(5, [this](int) { this->enqueue({8}); });
    this->enqueue({5, 6, 7});
    EXPECT_TRUE(this->queue.processUntil(is(6)));
    EXPECT_EQ(this->takeQueued(), (Numbers{6, 7, 8}));
}

// ---- visitors

TYPED_TEST(EventQueueSelectTest, VisitorGetsEventsInsteadOfListeners) {
    Numbers visited;
    const auto visitor = [&visited](int event, int number) {
        EXPECT_EQ(event, number) << "the event is also the argument";
        visited.push_back(event);
    };
    EXPECT_FALSE(this->queue.processQueueWith(visitor));
    EXPECT_FALSE(this->queue.processOneWith(visitor));
    this->enqueue({3, 1, 2});
    EXPECT_TRUE(this->queue.processOneWith(visitor));
    EXPECT_EQ(visited, (Numbers{3}));
    EXPECT_TRUE(this->queue.processQueueWith(visitor));
    EXPECT_EQ(visited, (Numbers{3, 1, 2}));
    EXPECT_TRUE(this->seen.empty());
    EXPECT_TRUE(this->queue.emptyQueue());
}

struct Point {
    int x;
    int y;
};

TYPED_TEST(EventQueueSelectTest, VisitorGetsTheSameDataAsListeners) {
    EventQueue<std::string, void(const Point&, std::string&), TypeParam> own;
    std::string noted;
    const auto note = [&noted](const Point& point, std::string& text) {
        noted += text + std::to_string(point.x) + std::to_string(point.y);
        text.clear();
    };
    own.appendListener("moved", note);
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(own.enqueue("moved", Point{1, 2}, "p"));
        EXPECT_TRUE(own.enqueue(std::string("moved"), Point{3, 4}, std::string("q")));
    }
    EXPECT_TRUE(own.processOne());
    EXPECT_TRUE(own.processOne());
    EXPECT_EQ(noted, "p12q34");
    noted.clear();
    EXPECT_TRUE(
        own.processQueueWith([&](const std::string& event, const Point& point, std::string& text) {
            EXPECT_EQ(event, "moved");
            note(point, text);
        }));
    EXPECT_EQ(noted, "p12q34");
}

TYPED_TEST(EventQueueSelectTest, VisitorMayQueueProcessAndClear) {
    Numbers visited;
    this->enqueue({1, 2});
    EXPECT_TRUE(this->queue.processQueueWith([&](int event, int) {
        visited.push_back(event);
        this->enqueue({7});
        EXPECT_TRUE(this->queue.processOne());
        this->enqueue({8});
        this->queue.clearEvents();
        this->enqueue({9});
    }));
    EXPECT_EQ(visited, (Numbers{1, 2}));
    EXPECT_EQ(this->takeSeen(), (Numbers{7, 9})) << "the 9 of the first round came before the 7";
}

struct StopAtTwo {
    static bool canContinueInvoking(int number) { return number != 2; }
};

TEST(EventQueueVisitorTest, IsNotAskedWhetherToContinue) {
    EventQueue<int, void(int), StopAtTwo> queue;
    int calls = 0;
    queue.appendListener(2, [&](int) { ++calls; });
    queue.appendListener(2, [&](int) { ++calls; });
    EXPECT_TRUE(queue.enqueue(2));
    EXPECT_TRUE(queue.enqueue(2));
    EXPECT_TRUE(queue.processOne());
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(queue.processQueueWith([&](int, int) { calls += 10; }));
    EXPECT_EQ(calls, 11);
}

}  // namespace
}  // namespace sluice
