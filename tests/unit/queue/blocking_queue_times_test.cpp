#include "unit/queue/queue_doubles.hpp"
#include "unit/queue/scripted_wait.hpp"
#include "unit/wait/scripted_platform.hpp"

#include <sluice/queue/blocking_queue.hpp>
#include <sluice/queue/mpsc_lanes.hpp>
#include <sluice/queue/spsc_ring.hpp>
#include <sluice/wait/event_fd_wait.hpp>

#include "support/testing.hpp"

#if defined(__linux__)
#include <poll.h>
#endif

// Limits of time, handles of producers, and the cost of waiting.

namespace sluice {
namespace {

using namespace std::chrono_literals;
using namespace test;
using Queue = BlockingQueue<SpscRing<int, 1>, ScriptedWait, ScriptedPacing>;
using Clock = ScriptedWait::Clock;

class BlockingQueueTimesTest : public testing::Test {
protected:
    BlockingQueueTimesTest() {
        ScriptedWait::reset();
        ScriptedPacing::reset();
    }

    template <class Duration>
    Clock::time_point deadlineOf(Duration atMost) {
        Clock::time = start;
        (void)queue.popFor(atMost);
        return ScriptedWait::lastDeadline;
    }

    static constexpr Clock::time_point start{1h};
    Queue queue;
};

TEST_F(BlockingQueueTimesTest, PushForGivesUpAtItsLimitAndKeepsItsArgument) {
    BlockingQueue<SpscRing<std::unique_ptr<int>, 1>, ScriptedWait, ScriptedPacing> pointers;
    auto value = std::make_unique<int>(7);
    EXPECT_EQ(pointers.pushFor(std::make_unique<int>(6), 5ms), SendResult::ok);
    EXPECT_EQ(pointers.pushFor(std::move(value), 5ms), SendResult::full);
    EXPECT_EQ(ScriptedWait::lastDeadline, start + 5ms);
    ASSERT_NE(value, nullptr);
    EXPECT_GE(ScriptedPacing::refusals, 1);
    ScriptedWait::onSleep = [&] { (void)pointers.tryPop(); };
    EXPECT_EQ(pointers.pushFor(std::move(value), 5ms), SendResult::ok);
    EXPECT_EQ(*pointers.pop().value(), 7);
}

// ---- drain

TEST_F(BlockingQueueTimesTest, DrainClosesAndWaitsUntilEverythingIsConsumed) {
    ASSERT_EQ(queue.tryPush(1), SendResult::ok);
    ScriptedWait::onSleep = [&] {  // the wait is notified, but the end has not come
        EXPECT_EQ(queue.tryPush(2), SendResult::closed);
        ScriptedWait::onSleep = [&] { EXPECT_EQ(queue.tryPop(), 1); };
    };
    queue.drain();
    EXPECT_EQ(ScriptedWait::sleeps, 2);
    EXPECT_TRUE(queue.isClosed());
    queue.drain();
    EXPECT_EQ(ScriptedWait::sleeps, 2);
}

/// Acts in the middle of a push.
struct Intruder {
    explicit Intruder(std::function<void()> act) : onCopy(std::move(act)) {}
    Intruder(const Intruder& other) { other.onCopy(); }
    Intruder& operator=(const Intruder&) = delete;
    ~Intruder() = default;
    std::function<void()> onCopy;
};

TEST_F(BlockingQueueTimesTest, DrainAwaitsThePushThatACloseOvertook) {
    BlockingQueue<SpscRing<Intruder, 2>, ScriptedWait, ScriptedPacing> subject;
    const Intruder intruder([&] {
        subject.close();
        EXPECT_FALSE(subject.drainFor(0s));
    });
    EXPECT_EQ(subject.tryPush(intruder), SendResult::ok);
    EXPECT_FALSE(subject.drainFor(0s));
    EXPECT_EQ(subject.consume([](const Intruder&) {}), 1U);
    EXPECT_TRUE(subject.drainFor(0s));
}

TEST_F(BlockingQueueTimesTest, NoTimeIsOneAttempt) {
    EXPECT_EQ(queue.pushFor(1, 0s), SendResult::ok);
    EXPECT_EQ(queue.pushFor(2, 0s), SendResult::full);
    EXPECT_EQ(queue.popFor(0s), 1);
    EXPECT_EQ(queue.popFor(0s), std::nullopt);
    EXPECT_EQ(queue.pushFor(3, -1s), SendResult::ok);
    EXPECT_EQ(queue.consumeFor(-1s, [](int) {}), 1U);
    EXPECT_EQ(Clock::time, start);
}

TEST_F(BlockingQueueTimesTest, FractionsAreRoundedUp) {
    EXPECT_EQ(deadlineOf(std::chrono::duration<double, std::nano>(1.5)), start + 2ns);
    EXPECT_EQ(deadlineOf(std::chrono::duration<int, std::pico>(1)), start + 1ns);
}

// ---- handles

using Lanes = BlockingQueue<MpscLanes<std::unique_ptr<int>>, ScriptedWait, ScriptedPacing>;
using Handle = decltype(std::declval<Lanes&>().producer());
static_assert(std::is_nothrow_move_constructible_v<Handle>);
static_assert(!std::is_copy_constructible_v<Handle>);

TEST_F(BlockingQueueTimesTest, HandleMayEndAfterItsQueue) {
    std::unique_ptr<Handle> handle;
    {
        Lanes lanes(std::size_t{1});
        handle = std::make_unique<Handle>(lanes.producer());
        EXPECT_EQ(handle->push(std::make_unique<int>(1)), SendResult::ok);
        lanes.close();
    }
    handle.reset();
}

#if defined(__linux__)
TEST_F(BlockingQueueTimesTest, DescriptorOfItsWaitIsReadableWhenAMessageArrives) {
    BlockingQueue<SpscRing<int, 2>, EventFdWait> subject;
    pollfd wanted{subject.waiting().descriptor(), POLLIN, 0};
    EXPECT_EQ(subject.consumeFor(0s, [](int) {}), 0U) << "it arms the descriptor";
    EXPECT_EQ(::poll(&wanted, 1, 0), 0);
    EXPECT_EQ(subject.push(1), SendResult::ok);
    EXPECT_EQ(::poll(&wanted, 1, 0), 1);
    EXPECT_EQ(subject.consumeFor(0s, [](int) {}), 1U);
}
#endif

// ---- cost

TEST(BlockingQueueCostTest, NoSystemCallWhileTheOtherSideIsAwake) {
    Script script;
    BlockingQueue<SpscRing<int, 2>, BasicPark<ScriptedPlatform, ScriptedParker>, NoPacing> queue;
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(queue.push(i), SendResult::ok);
        ASSERT_EQ(queue.pushFor(i, 1h), SendResult::ok);
        ASSERT_EQ(queue.tryPush(i), SendResult::full);
        ASSERT_EQ(queue.pop(), i);
        ASSERT_EQ(queue.consumeFor(1h, [](int) {}), 1U);
    }
    EXPECT_EQ(script.parks + script.unparks, 0);
    EXPECT_TRUE(script.timedParks.empty());
    EXPECT_EQ(script.heavyFences, 0);
}

}  // namespace
}  // namespace sluice
