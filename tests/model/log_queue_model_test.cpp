#include "model/log_queue.hpp"

#include "support/testing.hpp"

namespace sluice::model {
namespace {

void aRecordWakesTheSleeper() {
    Log log(2);
    Plain<int> data;
    RecordLane& lane = log.addLane();
    log.batch();
    parallel(
        [&] {
            while (log.numbers.empty()) {
                log.sleepAndBatch();
            }
        },
        [&] { check(log.post(lane, data, 1) == PostAttempt::ok, "there is room"); });
}

/// The back end comes back by itself for a while, and then it sleeps again.
void aRecordWakesTheSleeperAfterNaps() {
    Log log(2);
    Plain<int> data;
    RecordLane& lane = log.addLane();
    log.batch();
    log.queue().waitForWork(ModelPlatform::Clock::now());
    parallel(
        [&] {
            log.queue().expectNoWake();
            while (log.numbers.empty()) {
                log.sleepAndBatch();
            }
        },
        [&] { check(log.post(lane, data, 1) == PostAttempt::ok, "there is room"); });
}

void twoThreadsWakeTheSleeper() {
    Log log(2);
    Plain<int> first;
    Plain<int> second;
    RecordLane& one = log.addLane();
    RecordLane& other = log.sharedLane();
    log.batch();
    parallel(
        [&] {
            while (log.numbers.size() < 2) {
                log.sleepAndBatch();
            }
        },
        [&] { check(log.post(one, first, 1) == PostAttempt::ok, "there is room"); },
        [&] { check(log.post(other, second, 2) == PostAttempt::ok, "there is room"); });
}

void aNewLaneIsFound() {
    Log log(2);
    Plain<int> data;
    log.batch();
    parallel(
        [&] {
            while (log.numbers.empty()) {
                log.sleepAndBatch();
            }
        },
        [&] { check(log.post(log.addLane(), data, 1) == PostAttempt::ok, "there is room"); });
}

/// An order for the back end that is no record: it is made visible, then the back end is woken.
void twoOrdersWakeTheSleeper() {
    Log log(2);
    Atomic<int> orders{0};
    const auto order = [&] {
        (void)orders.fetch_add(1, relaxed);
        log.queue().wake();
    };
    log.batch();
    parallel(
        [&] {
            while (orders.load(relaxed) < 2) {
                log.sleepAndBatch();
            }
        },
        order, order);
}

/// A thread's writes before wake() are visible when the wait that wake() ended returns.
void aWakeUpTellsWhatWasWritten() {
    Log log(1);
    Plain<int> data;
    log.batch();
    parallel(
        [&] {
            if (log.queue().waitForWork(Log::wayOff())) {
                check(data.get() == 1, "nothing else wakes it");
            }
        },
        [&] {
            data.set(1);
            log.queue().wake();
        });
}

/// The room of a record is used again, and the thread that waits for room is woken.
void roomIsUsedAgain(std::size_t messages, std::size_t bytes) {
    Log log(messages, bytes);
    Plain<int> data;
    RecordLane& lane = log.addLane();
    log.batch();
    parallel(
        [&] {
            while (log.numbers.size() < 2) {
                // The other thread polls before it sleeps, so the clock goes on.
                static_cast<void>(log.queue().waitForWork(Log::wayOff()));
                log.batch();
            }
        },
        [&] {
            check(log.postWhenThereIsRoom(lane, data, 1) == PostAttempt::ok, "there is room");
            check(log.postWhenThereIsRoom(lane, data, 2) == PostAttempt::ok, "there is room again");
        });
    check(log.numbers == std::vector<int>{1, 2}, "in the order of the posts");
}
void roomForAMessageIsUsedAgain() {
    roomIsUsedAgain(1, manyBytes);
}
void bytesAreUsedAgain() {
    roomIsUsedAgain(manyMessages, bytesOfOne);
}

/// A thread that waits for room is refused when the queue is closed.
void theEndIsWaitedForByNobody() {
    Log log(1);
    Plain<int> data;
    RecordLane& lane = log.addLane();
    check(log.post(lane, data, 1) == PostAttempt::ok, "there is room");
    Plain<int> more;
    parallel(
        [&] {
            log.awaitRoom(lane, [] { return false; });
            check(log.post(lane, more, 2) == PostAttempt::full, "nobody has made room");
        },
        [&] { log.close(); });
}

/// The lane never counts more than the one message that was published.
void numbersAreNeverNegative() {
    Log log(2);
    Plain<int> data;
    RecordLane& lane = log.addLane();
    log.batch();
    parallel([&] { log.batch(); }, [&] { (void)log.post(lane, data, 1); },
             [&] {
                 const log::detail::Occupancy found = lane.occupancy();
                 check(found.messages <= 1 && found.bytes <= bytesOfOne, "no more than one waits");
             });
}

/// A post that began after another one had returned is emitted after it.
void laterPostsComeLater(bool isLaneNew) {
    Log log(2);
    Plain<int> first;
    Plain<int> second;
    Atomic<int> hasReturned{0};
    bool isLater = false;
    RecordLane* const known = isLaneNew ? nullptr : &log.addLane();
    log.batch();
    parallel([&] { log.batch(), log.batch(); },
             [&] {
                 (void)log.post(known == nullptr ? log.addLane() : *known, first, 1);
                 hasReturned.store(1, relaxed);
             },
             [&] {
                 isLater = hasReturned.load(relaxed) == 1;
                 (void)log.post(log.sharedLane(), second, 2);
             });
    log.batch();
    log.batch();
    check(log.numbers.size() == 2, "nothing is lost");
    check(!isLater || log.numbers == std::vector<int>{1, 2}, "the later post comes later");
}
void laterPostsComeLaterInKnownLanes() {
    laterPostsComeLater(false);
}
void laterPostsComeLaterInNewLanes() {
    laterPostsComeLater(true);
}

/// The owner drops its oldest record while the back end takes it.
void eachRecordIsEmittedOrEvicted() {
    Log log(1);
    RecordLane& lane = log.addLane();
    log.batch();
    const auto post = [&](int number) {
        if (log.post(lane, number) != PostAttempt::ok) {
            check(
                lane.evictFor(RecordQueue::sizeIn(lane, 0), [](const std::byte*) { return true; }),
                "copies are no obstacle");
            check(log.post(lane, number) == PostAttempt::ok, "evicting makes room");
        }
    };
    parallel([&] { log.batch(true), log.batch(true); }, [&] { post(1), post(2), post(3); });
    log.batch(true);
    log.batch(true);
    check(log.numbers.size() + lane.counts().dropped == 3, "each record is emitted or evicted");
    check(log.numbers.back() == 3, "the newest one stays");
}

/// A post is refused, or its record is emitted before the queue counts as drained.
void acceptedRecordsAreEmittedBeforeTheEnd() {
    Log log(2);
    Plain<int> data;
    PostAttempt result = PostAttempt::full;
    RecordLane& lane = log.addLane();
    log.batch();
    parallel(
        [&] {
            while (!log.queue().isDrained()) {
                log.sleepAndBatch();
            }
        },
        [&] { result = log.post(lane, data, 1); }, [&] { log.close(); });
    check(result == PostAttempt::closed ? log.numbers.empty() : log.numbers.size() == 1,
          "accepted records are emitted, and no others");
}

/// The same for a back end that does not sleep.
void aDrainedQueueHasNoRecordLeft() {
    Log log(2);
    Plain<int> data;
    PostAttempt result = PostAttempt::full;
    bool isDrained = false;
    RecordLane& lane = log.addLane();
    log.batch();
    parallel([&] { log.batch(), isDrained = log.queue().isDrained(); },
             [&] { result = log.post(lane, data, 1); }, [&] { log.close(); });
    check(!isDrained || result != PostAttempt::ok || log.numbers.size() == 1,
          "a drained queue has emitted each accepted record");
}

/// The queue ends while a thread that has a lane ends. The later one of the two destroys the
/// lanes.
void theLastUserDestroysTheLanes() {
    auto* const registry = new Registry({1, manyBytes, sizeof(Label)});
    Registry::Slot& lane = registry->enroll(nullptr);
    parallel([&] { registry->abandon(); }, [&] { Registry::dismiss(lane); });
}

/// A lane that its thread has left is emptied and freed.
void aLaneIsFreed() {
    Log log(1);
    Plain<int> data;
    Registry::Slot* lane = &log.registry().enroll(nullptr);
    log.batch();
    parallel([&] { log.batch(), log.batch(); },
             [&] {
                 check(log.post(*lane, data, 1) == PostAttempt::ok, "there is room");
                 Registry::dismiss(*lane);
             });
    log.batch();
    log.batch();
    check(log.numbers.size() == 1, "the record was emitted");
    check(log.registry().leavers() == 0 && log.registry().laneCount() == 0, "the lane is free");
}

TEST(LogQueueModelTest, NoWakeUpIsLost) {
    EXPECT_TRUE(holds(aRecordWakesTheSleeper));
    EXPECT_TRUE(holds(aRecordWakesTheSleeperAfterNaps));
    EXPECT_TRUE(holds(twoThreadsWakeTheSleeper, options({1, 1})));
    EXPECT_TRUE(holds(aNewLaneIsFound));
    EXPECT_TRUE(holds(twoOrdersWakeTheSleeper));
    EXPECT_TRUE(holds(aWakeUpTellsWhatWasWritten));
}

TEST(LogQueueModelTest, RoomIsUsedAgain) {
    EXPECT_TRUE(holds(roomForAMessageIsUsedAgain));
    EXPECT_TRUE(holds(bytesAreUsedAgain));
    EXPECT_TRUE(holds(theEndIsWaitedForByNobody));
}

TEST(LogQueueModelTest, LaterPostsComeLater) {
    EXPECT_TRUE(holds(laterPostsComeLaterInKnownLanes));
    EXPECT_TRUE(holds(laterPostsComeLaterInNewLanes));
}

TEST(LogQueueModelTest, NumbersAreNeverNegative) {
    EXPECT_TRUE(holds(numbersAreNeverNegative));
}

TEST(LogQueueModelTest, EachRecordIsEmittedOrEvicted) {
    EXPECT_TRUE(holds(eachRecordIsEmittedOrEvicted));
}

TEST(LogQueueModelTest, AcceptedRecordsAreEmittedBeforeTheEnd) {
    EXPECT_TRUE(holds(acceptedRecordsAreEmittedBeforeTheEnd));
    EXPECT_TRUE(holds(aDrainedQueueHasNoRecordLeft));
}

TEST(LogQueueModelTest, LanesOutliveTheirThreads) {
    EXPECT_TRUE(holds(aLaneIsFreed));
    EXPECT_TRUE(holds(theLastUserDestroysTheLanes));
}

const Scenarios all = {aRecordWakesTheSleeper,
                       aRecordWakesTheSleeperAfterNaps,
                       aNewLaneIsFound,
                       aWakeUpTellsWhatWasWritten,
                       roomForAMessageIsUsedAgain,
                       bytesAreUsedAgain,
                       theEndIsWaitedForByNobody,
                       laterPostsComeLaterInKnownLanes,
                       laterPostsComeLaterInNewLanes,
                       {numbersAreNeverNegative, {2, 2}},
                       {eachRecordIsEmittedOrEvicted, {2, 1}},
                       acceptedRecordsAreEmittedBeforeTheEnd,
                       aDrainedQueueHasNoRecordLeft,
                       aLaneIsFreed,
                       theLastUserDestroysTheLanes};

std::optional<OrderSurvey> surveyOf(std::string_view file) {
    return ordersOf(file, options({1, 1}), all);
}

TEST(LogQueueModelTest, EveryOrderOfALaneIsNeeded) {
    EXPECT_TRUE(survive({}, surveyOf("lane.hpp")));
}

TEST(LogQueueModelTest, EveryOrderOfTheRegistryIsNeeded) {
    EXPECT_TRUE(survive({}, surveyOf("lane_registry.hpp")));
}

TEST(LogQueueModelTest, EveryOrderOfTheQueueIsNeeded) {
    // With the fences of the back end's sleep.
    EXPECT_TRUE(survive({}, surveyOf("record_queue.hpp")));
}

}  // namespace
}  // namespace sluice::model
