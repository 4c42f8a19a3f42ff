#include "model/log_queue.hpp"

#include "support/testing.hpp"

// The order of the emitted records, the threads that wait for room, and the end of draining. Each
// scenario fails for a change of the logic that log_queue_model_test.cpp does not find.
//
// Some changes of the logic change no result, so no scenario fails for them:
// - Records beyond the limit are copied. The back end compares the stamp of each copy with the
// limit.
// - A lane reads the clock again in a look. The first reading stays the highest watermark.
// - The watermark steps back. Records are emitted later, and in the same order.
// - A lane that was announced is freed. Its owner has ended, so its word has changed.

namespace sluice::model {
namespace {

/// Records beyond the limit stay, in the lane or as copies.
void onlyRecordsBelowTheLimitAreEmitted(bool copies) {
    Log log(4);
    RecordLane& lane = log.addLane();
    const auto post = [&](RecordLane& to, int number) {
        check(log.post(to, number) == PostAttempt::ok, "there is room");
    };
    post(lane, 1);
    const Stamp limit = Ticks::now();
    post(log.sharedLane(), 2);
    post(lane, 3);
    log.batch(copies, 8, limit);
    check(log.numbers == std::vector<int>{1}, "the others are not below the limit");
    log.batch(copies);
    check(log.numbers == std::vector<int>{1, 2, 3}, "in the order of their stamps");
}

/// A copy is older than the records of its lane.
void copiesAreEmittedFirst() {
    Log log(4);
    RecordLane& lane = log.addLane();
    const auto post = [&](RecordLane& to, int number) {
        check(log.post(to, number) == PostAttempt::ok, "there is room");
    };
    post(lane, 1);
    post(log.sharedLane(), 2);
    log.batch(true, 1);  // copies both, and emits one
    post(log.sharedLane(), 3);
    log.batch();
    check(log.numbers == std::vector<int>{1, 2, 3}, "in the order of their stamps");
}

void anOwnerMayEvictBesideABackEndThatExpectsIt() {
    Log log(1);
    RecordLane& lane = log.addLane();
    const log::detail::RecordSize size = RecordQueue::sizeIn(lane, 0);
    check(log.post(lane, 0) == PostAttempt::ok, "there is room");
    parallel([&] { log.batch(true); },
             [&] {
                 check(lane.evictFor(size, [](const std::byte*) { return true; }),
                       "the back end copies before it emits");
             });
}

/// A thread that waits without polling is woken when half of the lane is free.
void halfOfTheRoomIsTold() {
    Log log(3);
    RecordLane& lane = log.addLane();
    for (int i = 0; i < 3; ++i) {
        check(log.post(lane, 0) == PostAttempt::ok, "there is room");
    }
    parallel([&] { log.batch(false, 1); }, [&] { log.awaitRoom(lane, [] { return true; }); });
    check(lane.occupancy().messages == 2, "it waits for no more than half");
}

/// The end wakes such a thread, too.
void theEndIsTold() {
    Log log(2);
    RecordLane& lane = log.addLane();
    check(log.post(lane, 0) == PostAttempt::ok, "there is room");
    check(log.post(lane, 0) == PostAttempt::ok, "there is room");
    parallel([&] { log.awaitRoom(lane, [] { return true; }); }, [&] { log.close(); });
}

/// A look that ends before the queue is closed does not settle it.
void anEarlierLookDoesNotSettle() {
    Log log(2);
    RecordLane& lane = log.addLane();
    parallel(
        [&] {
            log.batch();
            check(!log.queue().isDrained() || log.numbers.size() == 1, "it has seen the record");
        },
        [&] {
            check(log.post(lane, 0) == PostAttempt::ok, "the queue is open");
            log.close();
        });
}

void aQueueWithRecordsIsNotDrained() {
    Log log(2);
    RecordLane& lane = log.addLane();
    check(log.post(lane, 0) == PostAttempt::ok, "there is room");
    check(log.post(lane, 0) == PostAttempt::ok, "there is room");
    log.close();
    log.batch(false, 1);
    check(!log.queue().isDrained(), "one record is left");
    log.batch();
    check(log.queue().isDrained(), "none is left");
}

TEST(LogQueueRoomModelTest, RecordsComeInTheOrderOfTheirKeys) {
    EXPECT_TRUE(holds([] { onlyRecordsBelowTheLimitAreEmitted(false); }));
    EXPECT_TRUE(holds([] { onlyRecordsBelowTheLimitAreEmitted(true); }));
    EXPECT_TRUE(holds(copiesAreEmittedFirst));
}

TEST(LogQueueRoomModelTest, AnOwnerMayEvictBesideABackEndThatExpectsIt) {
    EXPECT_TRUE(holds(anOwnerMayEvictBesideABackEndThatExpectsIt));
}

TEST(LogQueueRoomModelTest, AThreadThatWaitsForRoomIsWoken) {
    EXPECT_TRUE(holds(halfOfTheRoomIsTold));
    EXPECT_TRUE(holds(theEndIsTold));
}

TEST(LogQueueRoomModelTest, OnlyADrainedQueueSaysSo) {
    EXPECT_TRUE(holds(anEarlierLookDoesNotSettle));
    EXPECT_TRUE(holds(aQueueWithRecordsIsNotDrained));
}

}  // namespace
}  // namespace sluice::model
