#include <sluice/event/event_queue.hpp>
#include <sluice/eventpp/ordered_queue_list.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace sluice {
namespace {

struct QueuedEvent {
    int event;
    char tag;
};

/// An item as a queue has it: empty until it is set, and it counts how often it was looked into.
class Item {
public:
    void set(QueuedEvent event) { event_ = event; }
    void clear() { event_.reset(); }
    [[nodiscard]] bool empty() const { return !event_; }
    [[nodiscard]] const QueuedEvent& get() const {
        EXPECT_FALSE(empty()) << "an empty item must not be compared";
        return *event_;
    }

private:
    std::optional<QueuedEvent> event_;
};

int comparisons = 0;

struct Counting {
    bool operator()(const QueuedEvent& a, const QueuedEvent& b) const {
        ++comparisons;
        return a.event < b.event;
    }
};

struct Descending {
    template <class T>
    bool operator()(const T& a, const T& b) const {
        return a.event > b.event;
    }
};

using Ascending = OrderedQueueList<Item>;

template <class List>
void enqueue(List& list, QueuedEvent event) {
    List one;
    one.emplace_back();
    one.front().set(event);
    list.splice(list.end(), one, one.begin());
    EXPECT_TRUE(one.empty());
}

template <class List>
List listOf(const std::vector<QueuedEvent>& events) {
    List list;
    for (const QueuedEvent& event : events) {
        enqueue(list, event);
    }
    return list;
}

/// `1a 2b` for two events; `-` for an empty item.
template <class List>
std::string show(const List& list) {
    std::string text;
    for (const Item& item : list) {
        text += text.empty() ? "" : " ";
        text += item.empty() ? "-" : std::to_string(item.get().event) + item.get().tag;
    }
    return text;
}

TEST(OrderedQueueListTest, EventsAreInAscendingOrder) {
    EXPECT_EQ(show(listOf<Ascending>({{5, 'a'}, {1, 'b'}, {9, 'c'}, {3, 'd'}})), "1b 3d 5a 9c");
}

TEST(OrderedQueueListTest, CompareChoosesTheOrder) {
    using List = OrderedQueueList<Item, Descending>;
    EXPECT_EQ(show(listOf<List>({{5, 'a'}, {1, 'b'}, {9, 'c'}, {3, 'd'}})), "9c 5a 3d 1b");
}

TEST(OrderedQueueListTest, EqualEventsKeepTheirOrder) {
    EXPECT_EQ(show(listOf<Ascending>({{2, 'a'}, {1, 'b'}, {2, 'c'}, {1, 'd'}, {2, 'e'}})),
              "1b 1d 2a 2c 2e");
}

TEST(OrderedQueueListTest, AnEventThatBelongsToTheEndIsComparedOnce) {
    using List = OrderedQueueList<Item, Counting>;
    List list;
    for (int i = 0; i < 1000; ++i) {
        comparisons = 0;
        enqueue(list, {i, 'a'});
        ASSERT_LE(comparisons, 1) << i;
    }
    comparisons = 0;
    enqueue(list, {997, 'b'});
    EXPECT_LE(comparisons, 5);
    auto one = listOf<List>({{997, 'c'}});
    comparisons = 0;
    list.splice(list.end(), one);
    EXPECT_LE(comparisons, 5) << "a list of one item is that item";
    EXPECT_EQ(show(list).substr(show(list).size() - 24), "997a 997b 997c 998a 999a");
}

TEST(OrderedQueueListTest, AnEventIsComparedWithLogarithmicallyManyOthers) {
    using List = OrderedQueueList<Item, Counting>;
    List list;
    unsigned random = 1;
    for (int i = 0; i < 4096; ++i) {
        random = random * 1664525U + 1013904223U;
        comparisons = 0;
        enqueue(list, {static_cast<int>(random >> 8U), 'a'});
        ASSERT_LE(comparisons, 27) << "three, and a tree of 4,096 is at most 24 high: " << i;
    }
}

TEST(OrderedQueueListTest, RandomSplicesGiveWhatAPlainSortedListGives) {
    std::vector<std::string> model;  // the key is the first character
    const auto put = [&model](std::size_t position, const std::string& text) {
        const auto isLess = [](const std::string& a, const std::string& b) { return a[0] < b[0]; };
        const auto middle = model.begin() + static_cast<std::ptrdiff_t>(position);
        const auto place =
            std::clamp(middle, std::lower_bound(model.begin(), model.end(), text, isLess),
                       std::upper_bound(model.begin(), model.end(), text, isLess));
        const auto at = place - model.begin();
        model.insert(place, text);
        return static_cast<std::size_t>(at);
    };
    Ascending list;
    unsigned random = 7;
    const auto next = [&random](unsigned bound) {
        random = random * 1664525U + 1013904223U;
        return (random >> 8U) % bound;
    };
    for (int round = 0; round < 400; ++round) {
        if (round % 40 == 0) {
            list = Ascending();
            model.clear();
        }
        std::vector<QueuedEvent> events(1 + next(round % 3 == 0 ? 30 : 3));
        for (QueuedEvent& event : events) {
            event = {static_cast<int>(next(9)), static_cast<char>('a' + next(26))};
        }
        std::stable_sort(events.begin(), events.end(),
                         [](QueuedEvent a, QueuedEvent b) { return a.event < b.event; });
        const std::size_t position = next(static_cast<unsigned>(model.size()) + 1);
        auto more = listOf<Ascending>(events);
        list.splice(std::next(list.begin(), static_cast<std::ptrdiff_t>(position)), more);
        std::size_t behind = position;
        for (const QueuedEvent& event : events) {
            const std::size_t at = put(behind, std::to_string(event.event) + event.tag);
            behind = std::max(behind, at) + 1;
        }
        std::string expected;
        for (const std::string& text : model) {
            expected += (expected.empty() ? "" : " ") + text;
        }
        ASSERT_EQ(show(list), expected) << round;
        ASSERT_TRUE(more.empty());
    }
}

TEST(OrderedQueueListTest, AListPutBackInFrontPrecedesItsEquals) {
    auto kept = listOf<Ascending>({{2, 'a'}, {4, 'b'}});
    auto meanwhile = listOf<Ascending>({{1, 'c'}, {2, 'd'}, {4, 'e'}, {5, 'f'}});
    meanwhile.splice(meanwhile.begin(), kept);
    EXPECT_EQ(show(meanwhile), "1c 2a 2d 4b 4e 5f");
    EXPECT_TRUE(kept.empty());
}

TEST(OrderedQueueListTest, AListPutBehindFollowsItsEquals) {
    auto list = listOf<Ascending>({{1, 'a'}, {2, 'b'}, {4, 'c'}});
    auto more = listOf<Ascending>({{1, 'd'}, {2, 'e'}, {3, 'f'}});
    list.splice(list.end(), more);
    EXPECT_EQ(show(list), "1a 1d 2b 2e 3f 4c");
}

TEST(OrderedQueueListTest, AListPutBetweenEqualsStaysBetweenThem) {
    auto list = listOf<Ascending>({{1, 'a'}, {2, 'b'}, {2, 'c'}, {3, 'd'}});
    auto more = listOf<Ascending>({{2, 'e'}, {0, 'f'}, {2, 'g'}, {4, 'h'}});
    list.splice(std::next(list.begin(), 2), more);
    EXPECT_EQ(show(list), "0f 1a 2b 2e 2g 2c 3d 4h");
    auto one = listOf<Ascending>({{2, 'x'}});
    list.splice(std::next(list.begin(), 3), one, one.begin());
    EXPECT_EQ(show(list), "0f 1a 2b 2x 2e 2g 2c 3d 4h");
}

TEST(OrderedQueueListTest, AListThatFitsIsTakenWithoutTouchingTheRest) {
    using List = OrderedQueueList<Item, Counting>;
    auto list = listOf<List>({{1, 'a'}, {2, 'b'}, {3, 'c'}, {4, 'd'}, {5, 'e'}});
    auto more = listOf<List>({{5, 'f'}, {6, 'g'}, {7, 'h'}, {8, 'i'}});
    comparisons = 0;
    list.splice(list.end(), more);
    EXPECT_EQ(show(list), "1a 2b 3c 4d 5e 5f 6g 7h 8i");
    EXPECT_LE(comparisons, 4);
    auto front = listOf<List>({{0, 'x'}, {1, 'y'}});
    comparisons = 0;
    list.splice(list.begin(), front);
    EXPECT_EQ(show(list).substr(0, 11), "0x 1y 1a 2b");
    EXPECT_LE(comparisons, 2);
}

TEST(OrderedQueueListTest, ItemsFilledAfterTheyWereAddedAreSortedWithTheList) {
    Ascending more;
    for (const int event : {3, 1, 2}) {
        more.emplace_back();
        std::prev(more.end())->set({event, 'a'});
    }
    auto list = listOf<Ascending>({{2, 'x'}});
    list.splice(list.end(), more);
    EXPECT_EQ(show(list), "1a 2x 2a 3a");
}

TEST(OrderedQueueListTest, EmptyItemsComeFirstAndAreNeverCompared) {
    auto used = listOf<Ascending>({{1, 'a'}, {2, 'b'}});
    for (Item& item : used) {
        item.clear();
    }
    Ascending free;
    free.splice(free.end(), used);
    auto more = listOf<Ascending>({{3, 'c'}});
    more.front().clear();
    free.splice(free.end(), more, more.begin());
    EXPECT_EQ(show(free), "- - -");
    auto list = listOf<Ascending>({{3, 'd'}});
    list.splice(list.end(), free);
    EXPECT_EQ(show(list), "- - - 3d");
    enqueue(list, {2, 'e'});
    EXPECT_EQ(show(list), "- - - 2e 3d");
}

TEST(OrderedQueueListTest, AnItemPutTooFarInFrontFindsItsPlace) {
    auto list = listOf<Ascending>({{1, 'a'}, {2, 'b'}, {3, 'c'}});
    auto one = listOf<Ascending>({{3, 'x'}});
    list.splice(list.begin(), one, one.begin());
    EXPECT_EQ(show(list), "1a 2b 3x 3c");
}

TEST(OrderedQueueListTest, AnEmptyListChangesNothing) {
    auto list = listOf<Ascending>({{1, 'a'}});
    Ascending none;
    list.splice(list.begin(), none);
    none.splice(none.end(), list);
    EXPECT_EQ(show(none), "1a");
    EXPECT_TRUE(list.empty());
}

TEST(OrderedQueueListTest, SwapsAndMoves) {
    auto a = listOf<Ascending>({{1, 'a'}});
    auto b = listOf<Ascending>({{2, 'b'}, {3, 'c'}});
    a.swap(b);
    EXPECT_EQ(show(a), "2b 3c");
    swap(a, b);
    EXPECT_EQ(show(a), "1a");
    std::swap(a, b);
    EXPECT_EQ(show(a), "2b 3c");
    const Ascending moved = std::move(a);
    EXPECT_EQ(show(moved), "2b 3c");
}

template <class Compare>
struct Ordered {
    template <class EventStorage>
    using QueueList = OrderedQueueList<EventStorage, Compare>;
};

template <class Compare = OrderedQueueListCompare>
class OrderedQueue {
public:
    OrderedQueue() {
        for (int event = 0; event < 10; ++event) {
            queue.appendListener(event, [this](int e, int tag) { seen.push_back(10 * e + tag); });
        }
        for (const int event : {5, 1, 9, 5, 3}) {
            queue.enqueue(event, ++tag_);
        }
    }

    EventQueue<int, void(int, int), Ordered<Compare>> queue;
    std::vector<int> seen;

private:
    int tag_ = 0;
};

TEST(OrderedQueueListTest, AQueueDispatchesTheSmallestEventFirst) {
    OrderedQueue<> ordered;
    EXPECT_TRUE(ordered.queue.process());
    EXPECT_EQ(ordered.seen, (std::vector<int>{12, 35, 51, 54, 93}));
    ordered.seen.clear();
    ordered.queue.enqueue(2, 8);
    ordered.queue.enqueue(1, 9);
    EXPECT_TRUE(ordered.queue.process());
    EXPECT_EQ(ordered.seen, (std::vector<int>{19, 28})) << "used items come again";
}

TEST(OrderedQueueListTest, AQueueDispatchesTheLargestEventFirstIfCompareSaysSo) {
    OrderedQueue<Descending> ordered;
    EXPECT_TRUE(ordered.queue.process());
    EXPECT_EQ(ordered.seen, (std::vector<int>{93, 51, 54, 35, 12}));
}

TEST(OrderedQueueListTest, AQueueOrdersEventsThatComeBetweenTwoSingleOnes) {
    OrderedQueue<> ordered;
    EXPECT_TRUE(ordered.queue.processOne());
    ordered.queue.enqueue(2, 6);
    EXPECT_TRUE(ordered.queue.processOne());
    EXPECT_TRUE(ordered.queue.processOne());
    EXPECT_EQ(ordered.seen, (std::vector<int>{12, 26, 35}));
}

TEST(OrderedQueueListTest, WhatProcessIfLeavesPrecedesItsEquals) {
    OrderedQueue<> ordered;
    EXPECT_TRUE(ordered.queue.processIf([&ordered](int event, int) {
        if (event == 1) {
            ordered.queue.enqueue(5, 9);
        }
        return event < 4;
    }));
    EXPECT_EQ(ordered.seen, (std::vector<int>{12, 35}));
    ordered.queue.process();
    EXPECT_EQ(ordered.seen, (std::vector<int>{12, 35, 51, 54, 59, 93}));
}

struct ByArgument {
    template <class T>
    bool operator()(const T& a, const T& b) const {
        return std::get<1>(a.arguments) > std::get<1>(b.arguments);
    }
};

TEST(OrderedQueueListTest, CompareMayLookAtTheArguments) {
    OrderedQueue<ByArgument> ordered;
    ordered.queue.process();
    EXPECT_EQ(ordered.seen, (std::vector<int>{35, 54, 93, 12, 51}));
}

#if defined(__cpp_exceptions)
int comparisonsLeft = 0;

struct Fragile {
    bool operator()(const QueuedEvent& a, const QueuedEvent& b) const {
        if (comparisonsLeft-- == 0) {
            throw std::runtime_error("compare");
        }
        return a.event < b.event;
    }
};

TEST(OrderedQueueListTest, AThrowingCompareLosesNoItem) {
    using List = OrderedQueueList<Item, Fragile>;
    for (int allowed = 0; allowed < 8; ++allowed) {
        comparisonsLeft = 1000;
        auto list = listOf<List>({{1, 'a'}, {3, 'b'}, {5, 'c'}});
        auto more = listOf<List>({{2, 'd'}, {4, 'e'}});
        comparisonsLeft = allowed;
        EXPECT_THROW(list.splice(std::next(list.begin()), more), std::runtime_error) << allowed;
        const auto items =
            std::distance(list.begin(), list.end()) + std::distance(more.begin(), more.end());
        EXPECT_EQ(items, 5) << allowed;
    }
}

TEST(OrderedQueueListTest, AThrowingCompareLosesNoItemOfAListThatIsNotInOrder) {
    using List = OrderedQueueList<Item, Fragile>;
    for (int allowed = 0; allowed < 5; ++allowed) {
        List more;
        for (const int event : {4, 3, 2, 1}) {
            more.emplace_back();
            std::prev(more.end())->set({event, 'a'});
        }
        List list;
        comparisonsLeft = allowed;
        EXPECT_THROW(list.splice(list.end(), more), std::runtime_error) << allowed;
        EXPECT_EQ(std::distance(more.begin(), more.end()), 4) << allowed;
        EXPECT_TRUE(list.empty()) << allowed;
    }
}

TEST(OrderedQueueListTest, AThrowingCompareLeavesASingleItemWhereItWas) {
    using List = OrderedQueueList<Item, Fragile>;
    comparisonsLeft = 1000;
    auto list = listOf<List>({{1, 'a'}, {3, 'b'}});
    auto one = listOf<List>({{2, 'c'}});
    comparisonsLeft = 0;
    EXPECT_THROW(list.splice(list.end(), one, one.begin()), std::runtime_error);
    EXPECT_EQ(show(list), "1a 3b");
    EXPECT_EQ(show(one), "2c");
}
#endif

}  // namespace
}  // namespace sluice
