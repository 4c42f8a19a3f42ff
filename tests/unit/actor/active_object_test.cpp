#include "support/watchdog.hpp"
#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/active_object.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using namespace test;
using Log = std::vector<std::string>;

TEST(ActiveObjectTest, HandlesInOrderOnItsOwnThread) {
    const Watchdog watchdog([](std::FILE*) {});
    Keeper<> keeper;
    EXPECT_FALSE(keeper.isHere());
    ASSERT_TRUE(keeper.start());
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(keeper.post(Add{i}), SendResult::ok);
    }
    EXPECT_TRUE(keeper.stopAfterDrain(late()));
    EXPECT_TRUE(keeper.join());
    EXPECT_EQ(keeper.log, (Log{"0", "1", "2", "3", "4"}));
    EXPECT_EQ(keeper.statistics().total().delivered, 5U);
}

TEST(ActiveObjectTest, EveryWayToPostAndPrioritiesArriveWithTheirHeader) {
    const Watchdog watchdog([](std::FILE*) {});
    Keeper<> keeper;
    ASSERT_EQ(keeper.post(Note{"a"}, Priority::low), SendResult::ok);
    ASSERT_EQ(keeper.emplace<Note>(Note{"b"}), SendResult::ok);
    ASSERT_EQ(keeper.emplaceWith<Note>(Priority::low, Note{"c"}), SendResult::ok);
    ASSERT_EQ(keeper.tryPost(Note{"d"}, Priority::high), SendResult::ok);
    ASSERT_EQ(keeper.postFor(std::chrono::seconds(1), Note{"e"}, Priority::medium), SendResult::ok);
    ASSERT_EQ(keeper.post(Note{"f"}, {Priority::high, 7}), SendResult::ok);
    EXPECT_EQ(keeper.sizeApprox(), 6U);
    ASSERT_TRUE(keeper.start());
    EXPECT_TRUE(keeper.stopAfterDrain(late()));
    EXPECT_TRUE(keeper.join());
    EXPECT_EQ(keeper.log, (Log{"d high", "f high", "b medium", "e medium", "a low", "c low"}));
}

TEST(ActiveObjectTest, FullMailboxRefusesAndLeavesTheMessageToThePoster) {
    const Watchdog watchdog([](std::FILE*) {});
    Keeper<Holds<8>> keeper;  // rooms of 2, 4 and 2
    EXPECT_EQ(keeper.capacity(), 8U);
    for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(keeper.post(Add{i}), SendResult::ok);
    }
    Note note{"a text that is too long to lie in the string object itself"};
    EXPECT_EQ(keeper.post(std::move(note)), SendResult::full);
    EXPECT_EQ(keeper.tryPost(std::move(note)), SendResult::full);
    EXPECT_EQ(keeper.postFor(std::chrono::nanoseconds(1), std::move(note)), SendResult::full);
    EXPECT_FALSE(note.text.empty());
    EXPECT_EQ(keeper.pressure(), Pressure::critical);
    EXPECT_EQ(keeper.statistics().total().full, 3U);
}

struct DropsOldest : Holds<8> {
    static constexpr std::array<Overflow, priorityCount> overflow{
        Overflow::dropOldest, Overflow::dropOldest, Overflow::dropOldest};
};

TEST(ActiveObjectTest, DropsTheOldestWhereTheTraitsSaySo) {
    const Watchdog watchdog([](std::FILE*) {});
    Keeper<DropsOldest> keeper;
    for (int i = 0; i < 6; ++i) {
        ASSERT_EQ(keeper.post(Add{i}), SendResult::ok);
    }
    ASSERT_TRUE(keeper.start());
    EXPECT_TRUE(keeper.stopAfterDrain(late()));
    EXPECT_TRUE(keeper.join());
    EXPECT_EQ(keeper.log, (Log{"2", "3", "4", "5"}));
    EXPECT_EQ(keeper.statistics().total().dropped, 2U);
}

struct Blocks : Holds<2> {
    static constexpr bool priorities = false;
    static constexpr std::array<Overflow, priorityCount> overflow{
        Overflow::block, Overflow::block, Overflow::block};
};

/// Posts to itself until there is no room.
class Flooder : public ActiveObject<Flooder, Messages<int>, Blocks> {
public:
    void handle(const int& depth) {
        if (depth == 0) {
            while ((last = post(1)) == SendResult::ok) {
            }
        }
    }
    SendResult last = SendResult::ok;
};

TEST(ActiveObjectTest, PostThatWouldBlockInAnOwnHandlerIsRefused) {
    const Watchdog watchdog([](std::FILE*) {});
    Flooder flooder;
    ASSERT_TRUE(flooder.start());
    ASSERT_EQ(flooder.post(0), SendResult::ok);
    // An open object: otherwise the handler's posts would be refused as closed.
    while (flooder.statistics().total().delivered < 2) {
        std::this_thread::yield();
    }
    flooder.stop();
    EXPECT_TRUE(flooder.join());
    EXPECT_EQ(flooder.last, SendResult::full);
}

struct Bare : BasicActorTraits<BareBusTraits> {
    static constexpr std::size_t depth = 4;
};

class Counter : public ActiveObject<Counter, Messages<int>, Bare> {
public:
    void handle(const int& value) { sum += value; }
    int sum = 0;
};

TEST(ActiveObjectTest, WorksWithTheBareMailbox) {
    const Watchdog watchdog([](std::FILE*) {});
    Counter counter;
    ASSERT_EQ(counter.post(4), SendResult::ok);
    ASSERT_EQ(counter.post(3), SendResult::ok);
    ASSERT_TRUE(counter.start());
    EXPECT_TRUE(counter.stopAfterDrain(late()));
    EXPECT_TRUE(counter.join());
    EXPECT_EQ(counter.sum, 7);
}

/// Driven by the test.
class Stepped : public ActiveObject<Stepped, Messages<int>> {
public:
    void handle(const int& value) {
        wasHere = isHere();
        if (value == 0) {
            stop();
        } else {
            sum += value;
        }
    }
    using ActiveObject::handleQueued;

    bool wasHere = false;
    int sum = 0;
};

TEST(ActiveObjectTest, MayBeDrivenStepByStepWithoutAThread) {
    Stepped stepped;
    ASSERT_EQ(stepped.post(1), SendResult::ok);
    EXPECT_EQ(stepped.handleQueued(), 1U);
    EXPECT_EQ(stepped.handleQueued(), 0U);
    EXPECT_TRUE(stepped.wasHere);
    EXPECT_FALSE(stepped.isHere());
    for (const int value : {2, 0, 4}) {
        ASSERT_EQ(stepped.post(value), SendResult::ok);
    }
    EXPECT_EQ(stepped.handleQueued(), 3U);
    EXPECT_EQ(stepped.sum, 3);
    EXPECT_EQ(stepped.statistics().total().discarded, 1U);
}

using namespace test::names;

class Familiar : public ActiveObject<Familiar, test::names::All> {
public:
    void handle(const Message&) { ++handled; }
    void handle(const State&) { ++handled; }
    void handle(const Task&) { ++handled; }
    void handle(const Alarm&) { ++handled; }
    void handle(const Mailbox&) { ++handled; }
    using ActiveObject::handleQueued;
    int handled = 0;
};

TEST(ActiveObjectTest, TakesNoNamesAwayFromAProgram) {
    Familiar object;
    EXPECT_EQ(object.post(Message{}), SendResult::ok);
    EXPECT_EQ(object.post(Alarm{}), SendResult::ok);
    EXPECT_EQ(object.handleQueued(), 2U);
    object.stop();
    EXPECT_EQ(object.handled, 2);
}

}  // namespace
}  // namespace sluice
