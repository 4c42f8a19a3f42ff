#include "support/payloads.hpp"
#include "unit/event/event_queue_suites.hpp"

#include <sluice/event/event_queue.hpp>
#include <sluice/eventpp/ordered_queue_list.hpp>

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>
#include <vector>

// Queues whose list keeps an order of its own.

namespace sluice {
namespace {

using namespace test;
using Numbers = std::vector<int>;

struct Descending {
    template <class T>
    bool operator()(const T& a, const T& b) const {
        return a.event > b.event;
    }
};

struct Ascends {
    template <class Item>
    using QueueList = OrderedQueueList<Item>;
};
struct Descends {
    template <class Item>
    using QueueList = OrderedQueueList<Item, Descending>;
};

/// Events 0 to 9 note (event, argument).
template <class Policies>
struct Noted {
    Noted() {
        for (int event = 0; event < 10; ++event) {
            queue.appendListener(
                event, [this, event](int number) { seen.push_back(10 * event + number); });
        }
    }
    void enqueue(std::initializer_list<int> numbers) {
        for (const int number : numbers) {
            EXPECT_TRUE(queue.enqueue(number / 10, number % 10));
        }
    }
    Numbers takeSeen() {
        Numbers result;
        result.swap(seen);
        return result;
    }
    EventQueue<int, void(int), Policies> queue;
    Numbers seen;
};

TEST(EventQueueListTest, OrderedListProcessesTheSmallestFirstAndEqualOnesInOrderOfArrival) {
    Noted<Ascends> noted;
    noted.enqueue({51, 22, 83, 24, 15});
    EXPECT_TRUE(noted.queue.process());
    EXPECT_EQ(noted.takeSeen(), (Numbers{15, 22, 24, 51, 83}));
    Noted<Descends> reverse;
    reverse.enqueue({51, 22, 83, 24, 15});
    EXPECT_TRUE(reverse.queue.process());
    EXPECT_EQ(reverse.takeSeen(), (Numbers{83, 51, 22, 24, 15}));
}

TEST(EventQueueListTest, OrderedListWorksWithEveryWayOfProcessing) {
    Noted<Ascends> noted;
    noted.enqueue({51, 22, 83, 15});
    EXPECT_TRUE(noted.queue.processOne());
    EXPECT_EQ(noted.takeSeen(), (Numbers{15}));
    noted.enqueue({11, 90});
    EXPECT_TRUE(noted.queue.processIf([](int number) { return number % 2 == 1; }));
    EXPECT_EQ(noted.takeSeen(), (Numbers{11, 51, 83}));
    noted.enqueue({50, 10});
    decltype(noted.queue)::QueuedEvent event{};
    EXPECT_TRUE(noted.queue.peekEvent(&event));
    EXPECT_EQ(event.event, 1);
    EXPECT_TRUE(noted.queue.processUntil([](int number) { return number == 2; }));
    EXPECT_EQ(noted.takeSeen(), (Numbers{10}));
    EXPECT_TRUE(noted.queue.takeEvent(&event));
    EXPECT_EQ(event.event, 2);
    Numbers visited;
    EXPECT_TRUE(noted.queue.processQueueWith([&](int number, int) { visited.push_back(number); }));
    EXPECT_EQ(visited, (Numbers{5, 9}));
}

TEST(EventQueueListTest, EventsThatComeBackFindTheirPlaceAmongNewOnes) {
    Noted<Ascends> noted;
    noted.enqueue({51, 21, 81});
    noted.queue.appendListener(2, [&](int) { noted.enqueue({62, 52, 92, 12}); });
    EXPECT_TRUE(noted.queue.processUntil(
        [first = true]() mutable { return !std::exchange(first, false); }));
    EXPECT_EQ(noted.takeSeen(), (Numbers{21}));
    EXPECT_EQ(noted.queue.sizeApprox(), 6U);
    EXPECT_TRUE(noted.queue.process());
    EXPECT_EQ(noted.takeSeen(), (Numbers{12, 51, 52, 62, 81, 92}));
}

TEST(EventQueueListTest, BoundedOrderedListDropsWhatWouldComeFirst) {
    EventQueue<int, void(int), Ascends> queue(EventQueueOptions{2, Overflow::dropOldest});
    for (const int event : {3, 1, 2, 9}) {
        EXPECT_TRUE(queue.enqueue(event));
    }
    Numbers left;
    EXPECT_TRUE(queue.processQueueWith([&](int event, int) { left.push_back(event); }));
    EXPECT_EQ(left, (Numbers{3, 9}));
}

#if defined(__cpp_exceptions)

/// Events of 100 and more cannot be compared.
struct Picky {
    template <class T>
    bool operator()(const T& a, const T& b) const {
        if (a.event >= 100 || b.event >= 100) {
            throw Breakage("a comparison");
        }
        return a.event < b.event;
    }
};
struct PickyPolicies {
    template <class Item>
    using QueueList = OrderedQueueList<Item, Picky>;
};

TEST(EventQueueListTest, EventThatCannotBeOrderedIsRefusedAndNoneIsLost) {
    Census census;
    EventQueue<int, void(const Counted&), PickyPolicies> queue(EventQueueOptions{3});
    EXPECT_TRUE(queue.enqueue(3, Counted(census, 3)));
    EXPECT_THROW(queue.enqueue(100, Counted(census, 0)), Breakage);
    EXPECT_EQ(census.alive(), 1U);
    EXPECT_EQ(queue.sizeApprox(), 1U);
    EXPECT_TRUE(queue.enqueue(1, Counted(census, 1)));
    EXPECT_THROW(queue.enqueue(101, Counted(census, 0)), Breakage);
    EXPECT_TRUE(queue.enqueue(2, Counted(census, 2)));
    EXPECT_FALSE(queue.enqueue(4, Counted(census, 4)));
    Numbers order;
    EXPECT_TRUE(queue.processQueueWith([&](int event, const Counted&) { order.push_back(event); }));
    EXPECT_EQ(order, (Numbers{1, 2, 3}));
    EXPECT_TRUE(queue.emptyQueue());
    EXPECT_EQ(census.alive(), 0U);
}

#endif

}  // namespace
}  // namespace sluice
