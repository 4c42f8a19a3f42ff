#include "unit/queue/queue_doubles.hpp"
#include "unit/queue/scripted_wait.hpp"

#include <sluice/queue/blocking_queue.hpp>
#include <sluice/queue/mpmc_ring.hpp>
#include <sluice/queue/mpsc_lanes.hpp>
#include <sluice/queue/mpsc_ring.hpp>
#include <sluice/queue/segment_queue.hpp>
#include <sluice/queue/spsc_ring.hpp>

#include "support/testing.hpp"

// Waits, their ends, the notifications and exceptions, played through in one thread. Times and
// handles are in blocking_queue_times_test.cpp.

namespace sluice {
namespace {

using namespace std::chrono_literals;
using namespace test;

template <class T>
using Scripted = BlockingQueue<SpscRing<T, 2>, ScriptedWait, ScriptedPacing>;

class BlockingQueueTest : public testing::Test {
protected:
    BlockingQueueTest() {
        ScriptedWait::reset();
        ScriptedPacing::reset();
        (void)queue.popFor(1ns);
        consumerSide = ScriptedWait::lastWaiter;
        (void)queue.tryPush(0);
        (void)queue.tryPush(0);
        (void)queue.pushFor(0, 1ns);
        producerSide = ScriptedWait::lastWaiter;
        (void)queue.consumeFor(0s, [](int) {});
        ScriptedWait::reset();
        ScriptedPacing::reset();
        forget();
    }

    void forget() {
        consumerSide->notifications = 0;
        producerSide->notifications = 0;
        ScriptedWait::sleeps = 0;
    }
    void fill() {
        ASSERT_EQ(queue.tryPush(1), SendResult::ok);
        ASSERT_EQ(queue.tryPush(2), SendResult::ok);
        forget();
    }

    Scripted<int> queue;
    ScriptedWait* consumerSide = nullptr;
    ScriptedWait* producerSide = nullptr;
};

static_assert(std::is_same_v<BlockingQueue<SpscRing<int, 2>>::value_type, int>);
static_assert(std::is_same_v<BlockingQueue<SpscRing<int, 2>>::Clock, Park::Clock>);
static_assert(!std::is_copy_constructible_v<BlockingQueue<SpscRing<int, 2>>>);
static_assert(!std::is_copy_assignable_v<BlockingQueue<SpscRing<int, 2>>>);
static_assert(std::is_default_constructible_v<BlockingQueue<SpscRing<int, 2>>>);

/// A caller's own queue, which has no count of its messages.
struct Guessing {
    using value_type = int;
    SendResult tryEmplace(int value) { return messages.push_back(value), SendResult::ok; }
    static std::size_t sizeApprox() noexcept { return 0; }
    std::vector<int> messages;
};

struct AskingWait : ScriptedWait {
    template <class IsDue>
    void notifyOne(IsDue isDue) noexcept {
        notifications += isDue() ? 1 : 0;
    }
    void notifyOne() noexcept { notifyAll(); }
};

TEST_F(BlockingQueueTest, PushIntoAnOwnQueueNotifiesWhateverItsSizeIs) {
    BlockingQueue<Guessing, AskingWait> own;
    ASSERT_EQ(own.tryPush(1), SendResult::ok);
    EXPECT_EQ(own.waiting().notifications, 1);
}

/// Knows how many wait strategies are there.
struct CountedWait : ScriptedWait {
    CountedWait() noexcept { ++alive; }
    CountedWait(const CountedWait&) = delete;
    CountedWait& operator=(const CountedWait&) = delete;
    ~CountedWait() { --alive; }
    void notifyAll() noexcept { EXPECT_EQ(alive, 3); }
    inline static int alive = 0;
};

TEST_F(BlockingQueueTest, AMessageMayPushWhileTheQueueIsDestroyed) {
    using Message = std::shared_ptr<void>;
    using Queue = BlockingQueue<MpscRing<Message, 2>, CountedWait, ScriptedPacing>;
    auto owner = std::make_unique<Queue>();
    std::optional<SendResult> result;
    const auto pushOneMore = [&result, pushed = owner.get()](void*) {
        result = pushed->tryPush(nullptr);
    };
    ASSERT_EQ(owner->tryPush(Message(nullptr, pushOneMore)), SendResult::ok);
    owner.reset();
    EXPECT_EQ(result, SendResult::closed);
}

// ---- calls that never wait

TEST_F(BlockingQueueTest, EveryPushNotifiesTheConsumer) {
    EXPECT_EQ(queue.tryPush(1), SendResult::ok);
    EXPECT_EQ(consumerSide->notifications, 1);
    EXPECT_EQ(queue.push(2), SendResult::ok);
    EXPECT_EQ(consumerSide->notifications, 2);
    EXPECT_EQ(producerSide->notifications, 0);
    queue.close();
    forget();
    EXPECT_EQ(queue.tryPush(3), SendResult::closed);
    EXPECT_GE(consumerSide->notifications, 1) << "it may wait for the end of this very push";
}

// Or a producer in front of a full queue and a consumer behind a slot that is still being filled
// would wake each other for ever.
TEST_F(BlockingQueueTest, PushThatFindsNoRoomNotifiesNobody) {
    fill();
    forget();
    EXPECT_EQ(queue.tryPush(3), SendResult::full);
    EXPECT_EQ(queue.pushFor(3, 0s), SendResult::full);
    EXPECT_EQ(consumerSide->notifications, 0);
    EXPECT_EQ(producerSide->notifications, 0);
}

// The handler of the second message may wait for a push for which there is room.
TEST_F(BlockingQueueTest, FreedSlotNotifiesAProducerBeforeTheNextHandler) {
    const auto notifiedAt2 = [this](int value) {
        EXPECT_EQ(producerSide->notifications, value - 1);
    };
    fill();
    EXPECT_EQ(queue.consume(notifiedAt2), 2U);
    EXPECT_EQ(producerSide->notifications, 2);
    fill();
    EXPECT_EQ(queue.consumeFor(1s, notifiedAt2), 2U);
}

TEST_F(BlockingQueueTest, FreedSlotOfALaneNotifiesItsProducer) {
    BlockingQueue<MpscLanes<int>, ScriptedWait, ScriptedPacing> lanes(2);
    auto producer = lanes.producer();
    (void)producer.push(1);
    (void)producer.push(2);
    (void)producer.pushFor(3, 1ns);
    ScriptedWait& waiting = *ScriptedWait::lastWaiter;
    const auto key = [](int number) { return number; };
    waiting.notifications = 0;
    EXPECT_EQ(lanes.consumeOrdered(
                  key, [&](int number) { EXPECT_EQ(waiting.notifications, number - 1); }),
              2U);
}

TEST_F(BlockingQueueTest, CloseNotifiesBothSides) {
    queue.close();
    EXPECT_GE(consumerSide->notifications, 1);
    EXPECT_GE(producerSide->notifications, 1);
}

// ---- producers that wait

// Each attempt would take the pointer out of its argument if it converted anew.
TEST_F(BlockingQueueTest, ArgumentOfAnotherTypeSurvivesTheWait) {
    Scripted<std::shared_ptr<int>> pointers;
    ASSERT_EQ(pointers.push(std::make_unique<int>(1)), SendResult::ok);
    ASSERT_EQ(pointers.push(std::make_unique<int>(2)), SendResult::ok);
    ScriptedWait::onSleep = [&] { (void)pointers.tryPop(); };
    ASSERT_EQ(pointers.push(std::make_unique<int>(3)), SendResult::ok);
    EXPECT_NE(pointers.pop().value(), nullptr);
    EXPECT_NE(pointers.pop().value(), nullptr);
}

// ---- the consumer that waits

TEST_F(BlockingQueueTest, ConsumeOfNothingDoesNotWait) {
    fill();
    EXPECT_EQ(queue.consume([](int) {}, 0), 0U);
    EXPECT_EQ(queue.consumeFor(
                  1s, [](int) {}, 0),
              0U);
    EXPECT_EQ(queue.sizeApprox(), 2U);
    EXPECT_EQ(ScriptedWait::sleeps, 0);
}

TEST_F(BlockingQueueTest, MergesByKeyWhereTheQueueInsideDoes) {
    BlockingQueue<MpscLanes<int>, ScriptedWait, ScriptedPacing> lanes(4);
    auto first = lanes.producer();
    auto second = lanes.producer();
    ScriptedWait::onSleep = [&] {
        for (const int number : {2, 4}) {
            ASSERT_EQ(first.push(number), SendResult::ok);
            ASSERT_EQ(second.push(number - 1), SendResult::ok);
        }
    };
    std::vector<int> seen;
    const auto take = [&seen](int number) { seen.push_back(number); };
    const auto key = [](int number) { return number; };
    EXPECT_EQ(lanes.consumeOrdered(key, take), 4U);
    EXPECT_EQ(seen, (std::vector<int>{1, 2, 3, 4}));
}

TEST_F(BlockingQueueTest, EmplaceConstructsInTheSlotAndWaitsForRoom) {
    BlockingQueue<SpscRing<std::pair<int, int>, 2>, ScriptedWait, ScriptedPacing> pairs;
    EXPECT_EQ(pairs.tryEmplace(1, 2), SendResult::ok);
    EXPECT_EQ(pairs.emplace(3, 4), SendResult::ok);
    EXPECT_EQ(pairs.tryEmplace(5, 6), SendResult::full);
    ScriptedWait::onSleep = [&pairs] { (void)pairs.tryPop(); };
    EXPECT_EQ(pairs.emplace(5, 6), SendResult::ok);
    EXPECT_EQ(pairs.pop(), std::make_pair(3, 4));
    EXPECT_EQ(pairs.pop(), std::make_pair(5, 6));
    pairs.close();
    EXPECT_EQ(pairs.emplace(7, 8), SendResult::closed);
}

TEST_F(BlockingQueueTest, ProducersEmplaceToo) {
    BlockingQueue<MpscLanes<std::pair<int, int>>, ScriptedWait, ScriptedPacing> lanes(1);
    auto producer = lanes.producer();
    EXPECT_EQ(producer.emplace(1, 2), SendResult::ok);
    EXPECT_EQ(producer.tryEmplace(3, 4), SendResult::full);
    EXPECT_EQ(lanes.pop(), std::make_pair(1, 2));
}

TEST_F(BlockingQueueTest, TrimReachesTheQueueInside) {
    CountingResource memory;
    BlockingQueue<SegmentQueue<int, TinyTraits>, ScriptedWait, ScriptedPacing> segments(100,
                                                                                        &memory);
    for (int i = 0; i < 30; ++i) {
        ASSERT_EQ(segments.tryPush(i), SendResult::ok);
    }
    ASSERT_EQ(segments.consume([](int) {}), 30U);
    ASSERT_GT(memory.allocations - memory.deallocations, 2);
    segments.trim();
    EXPECT_EQ(memory.allocations - memory.deallocations, 1);
}

TEST_F(BlockingQueueTest, ProducerMovedToItselfKeepsItsLane) {
    BlockingQueue<MpscLanes<int>, ScriptedWait, ScriptedPacing> lanes(4);
    auto producer = lanes.producer();
    auto& same = producer;
    producer = std::move(same);
    EXPECT_TRUE(producer.isOpen());
    EXPECT_EQ(producer.tryPush(1), SendResult::ok);
    EXPECT_EQ(lanes.pop(), 1);
}

#if !defined(NDEBUG)
TEST(BlockingQueueDeathTest, SecondConsumerThatWaits) {
    ScriptedWait::reset();
    Scripted<int> queue;
    ScriptedWait::onSleep = [&] { (void)queue.pop(); };
    EXPECT_DEATH((void)queue.pop(), "a second consumer");
    EXPECT_DEATH(queue.consume([](int) {}), "a second consumer");
    ScriptedWait::reset();
}
#endif

TEST_F(BlockingQueueTest, ProducerInFrontOfASlowConsumerStopsPausing) {
    fill();
    const std::function<void()> sleepOften = [&] {
        if (ScriptedWait::sleeps < 20) {
            ScriptedWait::onSleep = sleepOften;
        } else {
            EXPECT_EQ(queue.tryPop(), 1);
        }
    };
    ScriptedWait::onSleep = sleepOften;
    EXPECT_EQ(queue.push(3), SendResult::ok);
    EXPECT_EQ(ScriptedPacing::refusals, 8) << "of 20 attempts";
}

/// Counts the wake-ups of one thread and of all.
struct CountingWait : ScriptedWait {
    void notifyOne() noexcept { ++ones; }
    int ones = 0;
};

/// The waits of consumers and producers of an empty queue of two messages.
template <class Queue>
std::pair<CountingWait&, CountingWait&> sidesOf(Queue& queue) {
    (void)queue.popFor(1ns);
    auto& consumers = static_cast<CountingWait&>(*ScriptedWait::lastWaiter);
    (void)queue.tryPush(0);
    (void)queue.tryPush(0);
    (void)queue.pushFor(0, 1ns);
    auto& producers = static_cast<CountingWait&>(*ScriptedWait::lastWaiter);
    (void)queue.consumeFor(0s, [](int) {});
    consumers = {};
    producers = {};
    return {consumers, producers};
}

TEST_F(BlockingQueueTest, MessageWakesOneConsumerAndRoomOneProducer) {
    BlockingQueue<MpmcRing<int, 2>, CountingWait, ScriptedPacing> twoRooms;
    auto [consumers, producers] = sidesOf(twoRooms);
    EXPECT_EQ(twoRooms.tryPush(2), SendResult::ok);
    EXPECT_EQ(consumers.ones, 1);
    EXPECT_EQ(twoRooms.tryPop(), 2);
    EXPECT_EQ(producers.ones, 1);
    EXPECT_EQ(consumers.notifications + producers.notifications, 0);
}

TEST_F(BlockingQueueTest, ThreadThatWaitedWakesTheNextOneIfItLeavesSomething) {
    BlockingQueue<MpmcRing<int, 2>, CountingWait, ScriptedPacing> twoRooms;
    auto [consumers, producers] = sidesOf(twoRooms);
    ScriptedWait::onSleep = [&] {
        (void)twoRooms.tryPush(1);
        (void)twoRooms.tryPush(2);
    };
    EXPECT_EQ(twoRooms.pop(), 1);
    EXPECT_EQ(consumers.ones, 3) << "once for each message, and for the one that is left";
    EXPECT_EQ(twoRooms.pop(), 2);
    EXPECT_EQ(consumers.ones, 3) << "it has not waited";

    EXPECT_EQ(twoRooms.tryPush(3), SendResult::ok);
    EXPECT_EQ(twoRooms.tryPush(4), SendResult::ok);
    producers.ones = 0;
    ScriptedWait::onSleep = [&] {
        (void)twoRooms.tryPop();
        (void)twoRooms.tryPop();
    };
    EXPECT_EQ(twoRooms.push(5), SendResult::ok);
    EXPECT_EQ(producers.ones, 3) << "once for each pop, and for the room that is left";
    EXPECT_EQ(twoRooms.push(6), SendResult::ok);
    EXPECT_EQ(producers.ones, 3) << "it has not waited";
}

// ---- constructors, moves and handlers that throw

#if defined(__cpp_exceptions)

TEST_F(BlockingQueueTest, ConstructorThatThrowsAfterTheCloseEndsADrain) {
    using Queue = BlockingQueue<MpscRing<Building, 2>, ScriptedWait, ScriptedPacing>;
    Queue closing;
    EXPECT_THROW((void)closing.tryEmplace(1,
                                          [&] {
                                              EXPECT_FALSE(closing.drainFor(1ns));
                                              ScriptedWait::lastWaiter->notifications = 0;
                                              throw std::runtime_error("constructor");
                                          }),
                 std::runtime_error);
    EXPECT_EQ(ScriptedWait::lastWaiter->notifications, 1) << "drain() may wait for it";
    EXPECT_EQ(closing.consume([](Building&) {}), 0U);
    EXPECT_TRUE(closing.drainFor(0s));
}

/// Refuses to be moved as long as `stuck` says so.
struct Stuck {
    static inline bool stuck = false;
    int value = 0;
    explicit Stuck(int number) : value(number) {}
    Stuck(Stuck&& other) : value(other.value) {
        if (stuck) {
            throw std::runtime_error("move");
        }
    }
};

template <class Queue>
void expectThatAThrowingMoveLosesNothing() {
    BlockingQueue<Queue, ScriptedWait, ScriptedPacing> queue(4);
    ASSERT_EQ(queue.tryPush(Stuck(1)), SendResult::ok);
    ASSERT_EQ(queue.tryPush(Stuck(2)), SendResult::ok);
    Stuck::stuck = true;
    EXPECT_THROW((void)queue.pop(), std::runtime_error);
    EXPECT_THROW((void)queue.popFor(0s), std::runtime_error);
    EXPECT_THROW((void)queue.tryPop(), std::runtime_error);
    Stuck::stuck = false;
    ASSERT_EQ(queue.sizeApprox(), 2U);
    EXPECT_EQ(queue.pop()->value, 1);
    EXPECT_EQ(queue.tryPop()->value, 2);
}

TEST_F(BlockingQueueTest, MessageWhoseMoveThrowsStaysInTheQueue) {
    expectThatAThrowingMoveLosesNothing<SpscRing<Stuck, dynamicCapacity>>();
    expectThatAThrowingMoveLosesNothing<MpscRing<Stuck, dynamicCapacity>>();
    expectThatAThrowingMoveLosesNothing<SegmentQueue<Stuck>>();
}

#endif

}  // namespace
}  // namespace sluice
