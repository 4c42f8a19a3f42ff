#include "unit/queue/blocking_queue_doubles.hpp"

#include <sluice/queue/mpsc_ring.hpp>
#include <sluice/queue/segment_queue.hpp>

#include <gtest/gtest.h>

#if defined(__cpp_exceptions)

#include <stdexcept>

// Constructors, moves and handlers that throw.

namespace sluice {
namespace {

using namespace std::chrono_literals;
using namespace test;

struct Fragile {
    explicit Fragile(bool breaks) : isBroken(breaks) {}
    Fragile(const Fragile& other) : isBroken(other.isBroken) {
        if (isBroken) {
            throw std::runtime_error("constructor");
        }
    }
    bool isBroken;
};

TEST_F(BlockingQueueTest, ConstructorThatThrowsPassesThroughAndTheConsumerIsNotified) {
    Scripted<Fragile> fragile;
    (void)fragile.popFor(1ns);
    const ScriptedWait& consumer = *ScriptedWait::lastWaiter;
    const Fragile broken(true);
    EXPECT_THROW((void)fragile.tryPush(broken), std::runtime_error);
    EXPECT_EQ(consumer.notifications, 1);
    EXPECT_THROW((void)fragile.push(broken), std::runtime_error);
    EXPECT_EQ(consumer.notifications, 2);
    EXPECT_THROW((void)fragile.pushFor(broken, 1s), std::runtime_error);
    EXPECT_EQ(consumer.notifications, 3);
    EXPECT_EQ(fragile.sizeApprox(), 0U);
}

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

template <class Queue>
void expectThatTryPopLosesNothing() {
    Queue queue(4);
    ASSERT_EQ(queue.tryPush(Stuck(1)), SendResult::ok);
    Stuck::stuck = true;
    EXPECT_THROW((void)queue.tryPop(), std::runtime_error);
    Stuck::stuck = false;
    ASSERT_EQ(queue.sizeApprox(), 1U);
    EXPECT_EQ(queue.tryPop()->value, 1);
    EXPECT_FALSE(queue.tryPop().has_value());
}

TEST_F(BlockingQueueTest, QueueInsideKeepsAMessageWhoseMoveThrows) {
    expectThatTryPopLosesNothing<SpscRing<Stuck, dynamicCapacity>>();
    expectThatTryPopLosesNothing<MpscRing<Stuck, dynamicCapacity>>();
    expectThatTryPopLosesNothing<SegmentQueue<Stuck>>();
}

TEST_F(BlockingQueueTest, HandlerThatThrowsPassesThroughAndTheProducersAreNotified) {
    fill();
    const auto throwing = [](int) { throw std::runtime_error("handler"); };
    EXPECT_THROW(queue.consume(throwing), std::runtime_error);
    EXPECT_EQ(producerSide->notifications, 1);
    EXPECT_THROW(queue.consumeFor(1s, throwing), std::runtime_error);
    EXPECT_EQ(producerSide->notifications, 2);
    EXPECT_EQ(queue.sizeApprox(), 0U);
    EXPECT_TRUE(ScriptedPacing::batches.empty());
}
}  // namespace
}  // namespace sluice

#endif
