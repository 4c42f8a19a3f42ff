#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>
#include <sluice/eventpp/event_util.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace sluice {
namespace {

/// Calls that many-th counter, and is equal to any other that calls the same one.
struct Counter {
    std::vector<int>* counts;
    std::size_t index;

    void operator()() const { ++(*counts)[index]; }
    friend bool operator==(const Counter& a, const Counter& b) { return a.index == b.index; }
};

struct Policies {
    using Callback = Counter;
};
using List = CallbackList<void(), Policies>;
using Dispatcher = EventDispatcher<int, void(), Policies>;

class EventUtilTest : public ::testing::Test {
protected:
    using Counts = std::vector<int>;
    Counter counter(std::size_t index) { return {&counts_, index}; }

    Counts counts_ = Counts(3);
    List list_;
    Dispatcher dispatcher_;
};

TEST_F(EventUtilTest, RemovesTheFirstEqualCallbackOfAList) {
    for (const std::size_t index : {0U, 1U, 2U, 1U}) {
        list_.append(counter(index));
    }
    EXPECT_TRUE(removeListener(list_, counter(1)));
    list_();
    EXPECT_EQ(counts_, (Counts{1, 1, 1}));
    EXPECT_TRUE(removeListener(list_, counter(1)));
    EXPECT_FALSE(removeListener(list_, counter(1)));
    list_();
    EXPECT_EQ(counts_, (Counts{2, 1, 2}));
}

TEST_F(EventUtilTest, TheFirstOfSeveralEqualOnesIsTheOneThatGoes) {
    const auto first = list_.append(counter(1));
    const auto second = list_.append(counter(1));
    EXPECT_TRUE(removeListener(list_, counter(1)));
    EXPECT_FALSE(first);
    EXPECT_TRUE(second);
}

TEST_F(EventUtilTest, RemovesTheFirstEqualListenerOfAnEvent) {
    dispatcher_.appendListener(3, counter(0));
    const auto first = dispatcher_.appendListener(3, counter(1));
    const auto second = dispatcher_.appendListener(3, counter(1));
    dispatcher_.appendListener(4, counter(1));
    EXPECT_TRUE(removeListener(dispatcher_, 3, counter(1)));
    EXPECT_FALSE(first);
    EXPECT_TRUE(second);
    EXPECT_FALSE(removeListener(dispatcher_, 5, counter(1)));
    dispatcher_.dispatch(3);
    EXPECT_EQ(counts_, (Counts{1, 1, 0}));
    dispatcher_.dispatch(4);
    EXPECT_EQ(counts_, (Counts{1, 2, 0})) << "other events keep theirs";
}

TEST_F(EventUtilTest, FindsEqualCallbacksInAList) {
    EXPECT_FALSE(hasListener(list_, counter(0)));
    list_.append(counter(1));
    EXPECT_FALSE(hasListener(list_, counter(0)));
    list_.append(counter(0));
    EXPECT_TRUE(hasListener(list_, counter(0)));
    const List& constant = list_;
    EXPECT_TRUE(hasListener(constant, counter(1)));
}

TEST_F(EventUtilTest, FindsEqualListenersOfAnEvent) {
    dispatcher_.appendListener(3, counter(1));
    dispatcher_.appendListener(3, counter(2));
    EXPECT_TRUE(hasListener(dispatcher_, 3, counter(2)));
    EXPECT_FALSE(hasListener(dispatcher_, 3, counter(0)));
    EXPECT_FALSE(hasListener(dispatcher_, 4, counter(2)));
}

TEST_F(EventUtilTest, KnowsWhetherThereIsAnyListener) {
    EXPECT_FALSE(hasAnyListener(list_));
    list_.append(counter(0));
    EXPECT_TRUE(hasAnyListener(list_));
    EXPECT_FALSE(hasAnyListener(dispatcher_, 3));
    const auto handle = dispatcher_.appendListener(3, counter(0));
    EXPECT_TRUE(hasAnyListener(dispatcher_, 3));
    EXPECT_FALSE(hasAnyListener(dispatcher_, 4));
    dispatcher_.removeListener(3, handle);
    EXPECT_FALSE(hasAnyListener(dispatcher_, 3));
}

void listen() {
}

TEST(EventUtilPointerTest, FunctionPointersAreComparable) {
    struct Pointers {
        using Callback = void (*)();
    };
    CallbackList<void(), Pointers> list;
    list.append(&listen);
    EXPECT_TRUE(hasListener(list, &listen));
    EXPECT_TRUE(removeListener(list, &listen));
    EXPECT_FALSE(hasAnyListener(list));
}

TEST_F(EventUtilTest, AListenerMayRemoveAnEqualOneWhileItRuns) {
    list_.append(counter(0));
    list_.append(counter(1));
    list_.forEach([this](const Counter& item) { removeListener(list_, item); });
    EXPECT_TRUE(list_.empty());
}

/// Removes the callback at which the caller looks, as another thread might, before the caller can
/// remove it.
struct RacedList : List {
    bool remove(const Handle& handle) {
        const bool isFirst = races-- > 0;
        const bool isRemoved = List::remove(handle);
        return !isFirst && isRemoved;
    }
    int races = 1;
};

TEST_F(EventUtilTest, GoesOnToTheNextEqualOneIfAnotherThreadWasFaster) {
    RacedList raced;
    raced.append(counter(1));
    const auto second = raced.append(counter(1));
    EXPECT_TRUE(removeListener(raced, counter(1)));
    EXPECT_FALSE(second);
}

}  // namespace
}  // namespace sluice
