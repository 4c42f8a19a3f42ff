#include "support/payloads.hpp"

#include <sluice/event/event_queue.hpp>
#include <sluice/eventpp/ordered_queue_list.hpp>

#include "support/testing.hpp"
#include <initializer_list>

namespace sluice {
namespace {

using namespace test;
using Numbers = std::vector<int>;

// ---- the list, as a queue uses it

struct TaggedEvent {
    int event;
    char tag;
};

/// Empty until it is set, like a queue's items.
class Item {
public:
    void set(TaggedEvent event) { event_ = event; }
    void clear() { event_.reset(); }
    [[nodiscard]] bool empty() const { return !event_; }
    [[nodiscard]] const TaggedEvent& get() const {
        EXPECT_FALSE(empty()) << "an empty item must not be compared";
        return *event_;
    }

private:
    std::optional<TaggedEvent> event_;
};

int comparisons = 0;
[[maybe_unused]] int comparisonsLeft = -1;

struct Counting {
    bool operator()(const TaggedEvent& a, const TaggedEvent& b) const {
        ++comparisons;
#if defined(__cpp_exceptions)
        if (comparisonsLeft-- == 0) {
            throw std::runtime_error("compare");
        }
#endif
        return a.event < b.event;
    }
};

using List = OrderedQueueList<Item, Counting>;

List listOf(const std::vector<TaggedEvent>& events) {
    List list;
    for (const TaggedEvent& event : events) {
        List one;
        one.emplace_back();
        one.front().set(event);
        list.splice(list.end(), one, one.begin());
        EXPECT_TRUE(one.empty());
    }
    return list;
}

/// `1a 2b` for two events; `-` for an empty item. Takes the items out.
std::string take(List& list) {
    std::string text;
    while (!list.empty()) {
        const Item& item = list.front();
        text += text.empty() ? "" : " ";
        text += item.empty() ? "-" : std::to_string(item.get().event) + item.get().tag;
        List first;
        first.splice(first.end(), list, list.begin());
    }
    return text;
}

TEST(OrderedQueueListTest, EqualEventsKeepTheirOrder) {
    auto list = listOf({{2, 'a'}, {1, 'b'}, {2, 'c'}, {1, 'd'}, {3, 'e'}, {2, 'f'}});
    EXPECT_EQ(take(list), "1b 1d 2a 2c 2f 3e");
}

TEST(OrderedQueueListTest, AnEventThatBelongsToTheEndIsComparedOnceOthersLogarithmicallyOften) {
    comparisons = 0;
    List ascending;
    for (int i = 0; i < 1000; ++i) {
        auto one = listOf({{i, 'a'}});
        comparisons = 0;
        ascending.splice(ascending.end(), one);
        ASSERT_LE(comparisons, 1) << i;
    }
    List mixed;
    unsigned random = 1;
    for (int i = 0; i < 4096; ++i) {
        random = random * 1664525U + 1013904223U;
        auto one = listOf({{static_cast<int>(random >> 8U), 'a'}});
        comparisons = 0;
        mixed.splice(mixed.end(), one, one.begin());
        ASSERT_LE(comparisons, 25) << "one, and a tree of 4,096 is at most 24 high: " << i;
    }
}

TEST(OrderedQueueListTest, AListPutInFrontPrecedesItsEqualsAndBehindFollowsThem) {
    for (const std::size_t extra : {0U, 10U}) {  // the shorter list moves into the longer one
        std::vector<TaggedEvent> events{{1, 'c'}, {2, 'd'}, {2, 'e'}, {5, 'f'}};
        events.insert(events.end(), extra, {9, 'z'});
        const std::string rest = extra == 0 ? "" : " 9z 9z 9z 9z 9z 9z 9z 9z 9z 9z";
        auto list = listOf(events);
        auto more = listOf({{2, 'a'}, {2, 'b'}, {5, 'g'}, {6, 'h'}, {7, 'i'}});
        list.splice(list.begin(), more);
        EXPECT_TRUE(more.empty());
        EXPECT_EQ(take(list), "1c 2a 2b 2d 2e 5g 5f 6h 7i" + rest);
        list = listOf(events);
        more = listOf({{2, 'a'}, {2, 'b'}, {5, 'g'}, {6, 'h'}, {7, 'i'}});
        list.splice(list.end(), more);
        EXPECT_EQ(take(list), "1c 2d 2e 2a 2b 5f 5g 6h 7i" + rest);
    }
}

TEST(OrderedQueueListTest, EmptyItemsComeFirstAndAreNeverCompared) {
    auto list = listOf({{3, 'a'}, {4, 'b'}, {5, 'c'}});
    List used;
    for (int i = 0; i < 2; ++i) {
        list.front().clear();
        used.splice(used.end(), list, list.begin());
    }
    used.splice(used.end(), list);
    EXPECT_EQ(take(used), "- - 5c");
}

TEST(OrderedQueueListTest, SwapsAndMoves) {
    auto a = listOf({{1, 'a'}});
    auto b = listOf({{2, 'b'}, {3, 'c'}});
    a.swap(b);
    swap(a, b);
    std::swap(a, b);
    EXPECT_EQ(take(b), "1a");
    auto moved = std::move(a);
    EXPECT_EQ(take(moved), "2b 3c");
}

#if defined(__cpp_exceptions)
TEST(OrderedQueueListTest, AThrowingCompareLosesNoItem) {
    for (int allowed = 0; allowed < 4; ++allowed) {
        comparisonsLeft = -1;
        auto list = listOf({{1, 'a'}, {3, 'b'}, {5, 'c'}});
        auto more = listOf({{2, 'd'}, {4, 'e'}});
        comparisonsLeft = allowed;
        EXPECT_THROW(list.splice(list.end(), more), std::runtime_error) << allowed;
        comparisonsLeft = -1;
        const std::string rest = take(more);
        EXPECT_EQ((take(list) + rest).size(), 3U * 5 - (rest.empty() ? 1 : 2)) << allowed;
    }
}
#endif

// ---- a queue with such a list

struct Descending {
    template <class T>
    bool operator()(const T& a, const T& b) const {
        return a.event > b.event;
    }
};
struct ByArgument {
    template <class T>
    bool operator()(const T& a, const T& b) const {
        return std::get<0>(a.arguments) > std::get<0>(b.arguments);
    }
};

template <class Compare = OrderedQueueListCompare>
struct Ordered {
    template <class Item>
    using QueueList = OrderedQueueList<Item, Compare>;
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
    Numbers process() {
        EXPECT_TRUE(queue.process());
        return takeSeen();
    }
    Numbers takeSeen() { return std::exchange(seen, {}); }

    EventQueue<int, void(int), Policies> queue;
    Numbers seen;
};

TEST(OrderedQueueTest, CompareChoosesTheOrder) {
    Noted<Ordered<>> noted;
    noted.enqueue({51, 22, 83, 24, 15});
    EXPECT_EQ(noted.process(), (Numbers{15, 22, 24, 51, 83}));
    Noted<Ordered<Descending>> reverse;
    reverse.enqueue({51, 22, 83, 24, 15});
    EXPECT_EQ(reverse.process(), (Numbers{83, 51, 22, 24, 15}));
    Noted<Ordered<ByArgument>> byArgument;
    byArgument.enqueue({51, 22, 83, 24, 15});
    EXPECT_EQ(byArgument.process(), (Numbers{15, 24, 83, 22, 51}));
}

TEST(OrderedQueueTest, EveryWayOfProcessingKeepsTheOrder) {
    Noted<Ordered<>> noted;
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

TEST(OrderedQueueTest, EventsThatComeBackPrecedeTheirEqualsAmongNewOnes) {
    Noted<Ordered<>> noted;
    noted.enqueue({51, 21, 81});
    noted.queue.appendListener(2, [&](int) { noted.enqueue({62, 52, 92, 12}); });
    EXPECT_TRUE(noted.queue.processUntil(
        [first = true]() mutable { return !std::exchange(first, false); }));
    EXPECT_EQ(noted.takeSeen(), (Numbers{21}));
    EXPECT_EQ(noted.queue.sizeApprox(), 6U);
    EXPECT_EQ(noted.process(), (Numbers{12, 51, 52, 62, 81, 92}));
}

#if defined(__cpp_exceptions)
TEST(OrderedQueueTest, RefusesToDropTheOldestEvent) {
    using Queue = EventQueue<int, void(int), Ordered<>>;
    EXPECT_THROW(Queue(EventQueueOptions{2, Overflow::dropOldest}), std::invalid_argument);
}

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

TEST(OrderedQueueTest, AnEventThatCannotBeOrderedIsRefusedAndNoneIsLost) {
    Census census;
    EventQueue<int, void(const Counted&), Ordered<Picky>> queue(EventQueueOptions{3});
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
