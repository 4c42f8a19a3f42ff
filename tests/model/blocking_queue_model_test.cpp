#include "support/model/expectations.hpp"

#include <sluice/queue/blocking_queue.hpp>
#include <sluice/queue/mpmc_lanes.hpp>
#include <sluice/queue/mpmc_ring.hpp>
#include <sluice/queue/mpsc_ring.hpp>
#include <sluice/queue/spsc_ring.hpp>
#include <sluice/wait/park.hpp>

#include "support/testing.hpp"

// BlockingQueue as shipped, over rings and Park, under the model checker. A message wakes a
// sleeping consumer, and room wakes a sleeping producer. After a lost wake-up no thread of the
// schedule can go on.

namespace sluice::model {
namespace {

using Spsc = BlockingQueue<SpscRing<int, 1, ModelTraits>, SleepAtOnce, NoPacing>;
using Mpsc = BlockingQueue<MpscRing<int, 1, ModelTraits>, SleepAtOnce, NoPacing>;
using Mpmc = BlockingQueue<MpmcRing<int, 1, ModelTraits>, SleepAtOnce, NoPacing>;

template <class Queue>
void expectNext(Queue& queue, int number) {
    const auto message = queue.pop();
    check(message.has_value() && *message == number, "the next message");
}

/// Each side waits for the other: the second push for room, each pop for a message.
void bothSidesWait() {
    Spsc queue;
    parallel([&] { check(queue.push(0) == SendResult::ok && queue.push(1) == SendResult::ok, ""); },
             [&] { expectNext(queue, 0), expectNext(queue, 1); });
}

void twoProducersWait() {
    Mpsc queue;
    const auto push = [&] { check(queue.push(7) == SendResult::ok, "it waits for room"); };
    parallel(push, push, [&] { expectNext(queue, 7), expectNext(queue, 7); });
}

/// The consumer goes on until the end, which a third thread brings about.
template <class Queue>
void closeWhilePushing() {
    Queue queue;
    int accepted = 0;
    int delivered = 0;
    parallel([&] { accepted += queue.push(0) == SendResult::ok ? 1 : 0; },
             [&] {
                 while (queue.pop().has_value()) {
                     ++delivered;
                 }
             },
             [&] { queue.close(); });
    check(accepted == delivered, "what was accepted was delivered");
}

/// Two consumers wait for the end. It comes when the other one's handler has returned, or with
/// close().
void twoConsumersSeeTheEnd() {
    Mpmc queue;
    check(queue.push(0) == SendResult::ok, "there is room for one");
    std::array<int, 2> delivered{};
    const auto consumeAll = [&queue](int& count) {
        while (queue.pop().has_value()) {
            ++count;
        }
    };
    parallel([&] { consumeAll(delivered[0]); }, [&] { consumeAll(delivered[1]); },
             [&] { queue.close(); });
    check(delivered[0] + delivered[1] == 1, "the message is delivered once");
}

void twoConsumersWait() {
    Mpmc queue;
    parallel([&] { check(queue.push(0) == SendResult::ok && queue.push(0) == SendResult::ok, ""); },
             [&] { expectNext(queue, 0); }, [&] { expectNext(queue, 0); });
}

/// A message can be complete before an older one, and a slot be free before an older one. Then one
/// of the two wake-ups comes too early, and the other one has to serve two threads.
void eachMessageReachesAConsumer() {
    BlockingQueue<MpmcRing<int, 2, ModelTraits>, SleepAtOnce, NoPacing> queue;
    const auto push = [&] { check(queue.tryPush(7) == SendResult::ok, "there is room"); };
    parallel(
        push, push, [&] { expectNext(queue, 7); }, [&] { expectNext(queue, 7); });
}

void eachSlotReachesAProducer() {
    BlockingQueue<MpmcRing<int, 2, ModelTraits>, SleepAtOnce, NoPacing> queue;
    check(queue.push(7) == SendResult::ok && queue.push(7) == SendResult::ok, "there is room");
    const auto push = [&] { check(queue.push(7) == SendResult::ok, "it waits for room"); };
    const auto pop = [&] { check(queue.tryPop().has_value(), "there are two"); };
    parallel(push, push, pop, pop);
}

/// Each consumer takes one message of the only lane. The second message may arrive while the lane
/// is held, and its wake-up reach a consumer that cannot take it.
template <class Lanes>
void aReleasedLaneReachesTheOtherConsumer() {
    BlockingQueue<Lanes, SleepAtOnce, NoPacing> queue(2);
    auto producer = queue.producer();
    const auto push = [&] { check(producer.tryPush(7) == SendResult::ok, "there is room"); };
    parallel([&] { push(), push(); }, [&] { expectNext(queue, 7); }, [&] { expectNext(queue, 7); });
}
using SharedLanes = MpmcLanes<int, ModelTraits>;
struct ForgetfulLanes : SharedLanes {
    using SharedLanes::SharedLanes;
    static bool hasArrival() noexcept { return false; }
};

/// A poll for no message hides none from the other consumer.
void aPollForNoMessageHoldsNoLane() {
    BlockingQueue<SharedLanes, SleepAtOnce, NoPacing> queue(1);
    auto producer = queue.producer();
    parallel([&] { check(producer.tryPush(7) == SendResult::ok, "there is room"); },
             [&] { expectNext(queue, 7); },
             [&] { check(queue.tryConsume([](int) {}, 0) == 0, "none is asked for"); });
}

/// A producer that waits for room is told of the end.
template <class Queue>
void closeWhileFull() {
    Queue queue;
    check(queue.push(0) == SendResult::ok, "there is room for one");
    parallel([&] { check(queue.push(1) == SendResult::closed, "nobody makes room"); },
             [&] { queue.close(); });
    expectNext(queue, 0);
    check(!queue.pop().has_value(), "and no more");
}

template <class Queue>
void drain() {
    Queue queue;
    bool isHandled = false;
    parallel(
        [&] {
            (void)queue.push(0);
            queue.drain();
            check(isHandled, "drained means handled");
        },
        [&] {
            const std::size_t count = queue.consume([&](int) { isHandled = true; });
            check(count == 1, "it waits for the message");
        });
}

void waitsWithALimitEnd() {
    using namespace std::chrono_literals;
    Spsc queue;
    parallel(
        [&] {
            check(queue.push(0) == SendResult::ok, "there is room for one");
            const SendResult second = queue.pushFor(1, 3ms);
            check(second != SendResult::closed, "either room or time");
        },
        [&] {
            const auto first = queue.popFor(3ms);
            check(!first.has_value() || *first == 0, "the first message, or none in time");
        });
}

TEST(BlockingQueueModelTest, SidesWakeEachOther) {
    Options dear;
    dear.budget = budgetByEffort({1, 1}, {2, 1});
    EXPECT_TRUE(holds(bothSidesWait));
    EXPECT_TRUE(holds(twoProducersWait, dear));
    EXPECT_TRUE(holds(twoConsumersWait, dear));
    EXPECT_TRUE(holds(waitsWithALimitEnd));
}

TEST(BlockingQueueModelTest, AThreadThatWaitedWakesTheNextOne) {
    Options dear;
    dear.budget = budgetByEffort({2, 0}, {2, 1});
    dear.maxExecutions = cap(600000);
    EXPECT_TRUE(holds(eachMessageReachesAConsumer, dear));
    EXPECT_TRUE(holds(eachSlotReachesAProducer, dear));
}

TEST(BlockingQueueModelTest, AConsumerThatReleasesALaneWakesTheNextOne) {
    Options dear;
    dear.budget = budgetByEffort({2, 0}, {2, 1});
    dear.maxExecutions = cap(600000);
    EXPECT_TRUE(holds(aReleasedLaneReachesTheOtherConsumer<SharedLanes>, dear));
    EXPECT_FALSE(holds(aReleasedLaneReachesTheOtherConsumer<ForgetfulLanes>, dear));
    EXPECT_TRUE(holds(aPollForNoMessageHoldsNoLane, dear));
}

using Pairs = BlockingQueue<MpscRing<int, 2, ModelTraits>, SleepAtOnce, NoPacing>;
constexpr auto endless = std::chrono::hours::max();

template <class Limit>
std::size_t consumePair(Pairs& queue, Limit atMost) {
    return queue.consumeBatch(
        2, atMost, [](int) {}, 2);
}

/// Only the push with the last position of the batch wakes the consumer.
void aBatchOfTwoProducers() {
    Pairs queue;
    const auto push = [&] { check(queue.tryPush(7) == SendResult::ok, "there is room"); };
    parallel(push, push, [&] { check(consumePair(queue, endless) == 2, "both are waited for"); });
}

/// The wait after a batch needs each message.
void aPopAfterABatch() {
    Pairs queue;
    const auto push = [&] { check(queue.push(7) == SendResult::ok, "it waits for room"); };
    parallel([&] { push(), push(), push(); },
             [&] {
                 check(consumePair(queue, endless) == 2, "not one that is being pushed");
                 expectNext(queue, 7);
             });
}

void theTimeEndsABatch() {
    Pairs queue;
    parallel([&] { check(queue.push(7) == SendResult::ok, "there is room"); },
             [&] { check(consumePair(queue, std::chrono::milliseconds(5)) == 1, "of two"); });
}

void theEndEndsABatch() {
    Pairs queue;
    parallel([&] { check(queue.push(7) == SendResult::ok, "there is room"), queue.close(); },
             [&] {
                 check(consumePair(queue, endless) == 1, "of two");
                 check(consumePair(queue, endless) == 0, "the queue is drained");
             });
}

TEST(BlockingQueueModelTest, TheLastMessageOfABatchWakes) {
    EXPECT_TRUE(holds(aBatchOfTwoProducers));
    EXPECT_TRUE(holds(aPopAfterABatch));
    EXPECT_TRUE(holds(theTimeEndsABatch));
    EXPECT_TRUE(holds(theEndEndsABatch));
}

TEST(BlockingQueueModelTest, TheEndReachesEverybody) {
    EXPECT_TRUE(holds(closeWhilePushing<Spsc>));
    EXPECT_TRUE(holds(closeWhilePushing<Mpsc>));
    EXPECT_TRUE(holds(closeWhilePushing<Mpmc>));
    Options many;
    many.maxExecutions = cap(1000000);
    EXPECT_TRUE(holds(twoConsumersSeeTheEnd, many));
    EXPECT_TRUE(holds(closeWhileFull<Spsc>));
    EXPECT_TRUE(holds(closeWhileFull<Mpsc>));
}

TEST(BlockingQueueModelTest, DrainWaitsForTheConsumer) {
    EXPECT_TRUE(holds(drain<Spsc>));
    EXPECT_TRUE(holds(drain<Mpsc>));
    EXPECT_TRUE(holds(drain<Mpmc>));
}

}  // namespace
}  // namespace sluice::model
