#include "support/model/expectations.hpp"
#include "support/sanitizers.hpp"

#include <sluice/base/spin_lock.hpp>
#include <sluice/log/detail/lanes/intake_consumer.hpp>
#include <sluice/log/detail/lanes/lane_registry.hpp>
#include <sluice/log/detail/lanes/record_writer.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

// Lanes, watermark and merge as shipped. Threads post into lanes that the scenario gives them, and
// a back end looks, emits and sleeps. The payload of a record is a plain variable, so a missing
// edge shows as a data race. A lost wake-up shows as a clock that went on.

namespace sluice::model {
namespace {

using log::detail::Key;

constexpr auto relaxed = std::memory_order_relaxed;

/// Each reading is later than all readings before it, on whatever thread, and orders nothing else.
struct Ticks {
    template <class Word>
    static Key announceThenNow(Word& word, std::uint64_t value, Site site = Site::here()) noexcept {
        word.exchange(value, std::memory_order_seq_cst, site);
        return now();
    }
    static Key now() noexcept { return count->fetch_add(1, relaxed) + 1; }
    static Key nowThenLook() noexcept {
        const Key key = now();
        ModelPlatform::Fence::heavy();
        return key;
    }
    static void waitUntilPast(Key /*key*/) noexcept {}

    inline static Atomic<Key>* count = nullptr;
};

struct ModelIntakeTraits {
    using Platform = ModelPlatform;
    using Clock = Ticks;
    using Parker = ModelParker;
    using Lock = BasicSpinLock<ModelPlatform>;
};

struct Label {
    Plain<int>* data;
    int number;
};

using Registry = log::detail::LaneRegistry<ModelIntakeTraits>;
using Lane = Registry::Lane;
using IntakeConsumer = log::detail::IntakeConsumer<Label, ModelIntakeTraits>;
using Writer = log::detail::RecordWriter<Label, ModelIntakeTraits>;
using Outcome = Writer::Outcome;

// A record of these scenarios takes 32 bytes.
constexpr std::size_t manyBytes = 256;
constexpr std::size_t bytesOfOne = 32;
constexpr std::size_t manyMessages = 8;

/// The lanes of a scenario, and the back end that reads them.
class Log {
public:
    explicit Log(std::size_t messages, std::size_t bytes = manyBytes)
        : registry_(
              *new Registry({messages, bytes, sizeof(Label)}, {messages, bytes, sizeof(Label)})) {
        Ticks::count = &ticks_;
    }
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;
    ~Log() {
        for (Registry::Slot* const lane : lanes_) {
            Registry::dismiss(*lane);
        }
        registry_.abandon();
    }

    /// A second lane that is there anyway: the one for threads without a lane of their own.
    Lane& sharedLane() { return registry_.shared(); }
    Registry::Slot& addLane() {
        Registry::Slot& lane = registry_.enroll(nullptr);
        lanes_.push_back(&lane);
        return lane;
    }

    Outcome post(Lane& lane, Plain<int>& data, int number) {
        const auto write = [&](std::byte*) noexcept { data.set(number); };
        return Writer::tryPost(registry_, lane, 0, Label{&data, number}, 0, write);
    }
    Outcome postWhenThereIsRoom(Lane& lane, Plain<int>& data, int number) {
        Outcome outcome = post(lane, data, number);
        while (outcome == Outcome::full) {
            lane.awaitRoom(Writer::roomFor(lane, 0, 0), registry_.closed());
            outcome = post(lane, data, number);
        }
        return outcome;
    }
    void close() {
        registry_.close();
        consumer_.wake();
    }

    // ---- Back end

    void harvest(bool copies = false) {
        consumer_.look();
        const auto emit = [this](const IntakeConsumer::Record& record) {
            check(record.head.data == nullptr || record.head.data->get() == record.head.number,
                  "the record is there when it is emitted");
            numbers.push_back(record.head.number);
        };
        const auto finish = [] {};
        consumer_.emitBefore(log::detail::endOfTime, 8, copies, emit, finish);
    }
    /// The clock of the model goes on only when nobody can do anything else.
    void sleepAndHarvest() {
        const auto end = wayOff();
        static_cast<void>(consumer_.waitForWork(end));
        check(ModelPlatform::Clock::now() < end, "the back end was woken");
        harvest();
    }

    static ModelPlatform::Clock::time_point wayOff() {
        return ModelPlatform::Clock::now() + std::chrono::milliseconds(1000);
    }
    IntakeConsumer& consumer() { return consumer_; }
    Registry& registry() { return registry_; }

    std::vector<int> numbers;  ///< of the records that were emitted

private:
    Atomic<Key> ticks_{0};
    Registry& registry_;
    IntakeConsumer consumer_{registry_, std::chrono::nanoseconds::max()};
    std::vector<Registry::Slot*> lanes_;
};

void aRecordWakesTheSleeper() {
    Log log(2);
    Plain<int> data;
    Lane& lane = log.addLane();
    log.harvest();
    parallel(
        [&] {
            while (log.numbers.empty()) {
                log.sleepAndHarvest();
            }
        },
        [&] { check(log.post(lane, data, 1) == Outcome::ok, "there is room"); });
}

void twoThreadsWakeTheSleeper() {
    Log log(2);
    Plain<int> first;
    Plain<int> second;
    Lane& one = log.addLane();
    Lane& other = log.sharedLane();
    log.harvest();
    parallel(
        [&] {
            while (log.numbers.size() < 2) {
                log.sleepAndHarvest();
            }
        },
        [&] { check(log.post(one, first, 1) == Outcome::ok, "there is room"); },
        [&] { check(log.post(other, second, 2) == Outcome::ok, "there is room"); });
}

void aNewLaneIsFound() {
    Log log(2);
    Plain<int> data;
    log.harvest();
    parallel(
        [&] {
            while (log.numbers.empty()) {
                log.sleepAndHarvest();
            }
        },
        [&] { check(log.post(log.addLane(), data, 1) == Outcome::ok, "there is room"); });
}

/// An order for the back end that is no record: it is made visible, then the back end is woken.
void twoOrdersWakeTheSleeper() {
    Log log(2);
    Atomic<int> orders{0};
    const auto order = [&] {
        (void)orders.fetch_add(1, relaxed);
        log.consumer().wake();
    };
    log.harvest();
    parallel(
        [&] {
            while (orders.load(relaxed) < 2) {
                log.sleepAndHarvest();
            }
        },
        order, order);
}

/// What a thread wrote before wake() is visible when the wait that it ended returns.
void aWakeUpTellsWhatWasWritten() {
    Log log(1);
    Plain<int> data;
    log.harvest();
    parallel(
        [&] {
            if (log.consumer().waitForWork(Log::wayOff())) {
                check(data.get() == 1, "nothing else wakes it");
            }
        },
        [&] {
            data.set(1);
            log.consumer().wake();
        });
}

/// The room of a record is used again, and the thread that waits for room is woken.
void roomIsUsedAgain(std::size_t messages, std::size_t bytes) {
    Log log(messages, bytes);
    Plain<int> data;
    Lane& lane = log.addLane();
    log.harvest();
    parallel(
        [&] {
            while (log.numbers.size() < 2) {
                // The other thread polls before it sleeps, so the clock goes on.
                static_cast<void>(log.consumer().waitForWork(Log::wayOff()));
                log.harvest();
            }
        },
        [&] {
            check(log.postWhenThereIsRoom(lane, data, 1) == Outcome::ok, "there is room");
            check(log.postWhenThereIsRoom(lane, data, 2) == Outcome::ok, "there is room again");
        });
    check(log.numbers == std::vector<int>{1, 2}, "in the order of the posts");
}
void roomForAMessageIsUsedAgain() {
    roomIsUsedAgain(1, manyBytes);
}
void bytesAreUsedAgain() {
    roomIsUsedAgain(manyMessages, bytesOfOne);
}

/// A thread that waits for room is refused when the intake is closed.
void theEndIsWaitedForByNobody() {
    Log log(1);
    Plain<int> data;
    Lane& lane = log.addLane();
    check(log.post(lane, data, 1) == Outcome::ok, "there is room");
    Plain<int> more;
    parallel(
        [&] {
            lane.awaitRoom(Writer::roomFor(lane, 0, 0), log.registry().closed());
            check(log.post(lane, more, 2) == Outcome::full, "nobody has made room");
        },
        [&] { log.close(); });
}

/// What was given back is never more than what was published.
void numbersAreNeverNegative() {
    Log log(2);
    Plain<int> data;
    Lane& lane = log.addLane();
    log.harvest();
    parallel([&] { log.harvest(); }, [&] { (void)log.post(lane, data, 1); },
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
    Lane* const known = isLaneNew ? nullptr : &log.addLane();
    log.harvest();
    parallel([&] { log.harvest(), log.harvest(); },
             [&] {
                 (void)log.post(known == nullptr ? log.addLane() : *known, first, 1);
                 hasReturned.store(1, relaxed);
             },
             [&] {
                 isLater = hasReturned.load(relaxed) == 1;
                 (void)log.post(log.sharedLane(), second, 2);
             });
    log.harvest();
    log.harvest();
    check(log.numbers.size() == 2, "nothing is lost");
    check(!isLater || log.numbers == std::vector<int>{1, 2}, "the later post comes later");
    check(log.consumer().orderViolations() == 0, "keys ascend");
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
    Plain<int> unused;
    Lane& lane = log.addLane();
    log.harvest();
    const auto post = [&](int number) {
        const auto write = [](std::byte*) noexcept {};
        const auto tryPost = [&] {
            return Writer::tryPost(log.registry(), lane, 0, Label{nullptr, number}, 0, write);
        };
        if (tryPost() != Outcome::ok) {
            check(lane.evictFor(Writer::roomFor(lane, 0, 0)), "copies are no obstacle");
            check(tryPost() == Outcome::ok, "evicting makes room");
        }
    };
    parallel([&] { log.harvest(true), log.harvest(true); }, [&] { post(1), post(2), post(3); });
    log.harvest(true);
    log.harvest(true);
    check(log.numbers.size() + lane.counts().overrun == 3, "each record is emitted or evicted");
    check(log.numbers.back() == 3, "the newest one stays");
}

/// A post is refused, or its record is emitted before the intake counts as drained.
void acceptedRecordsAreEmittedBeforeTheEnd() {
    Log log(2);
    Plain<int> data;
    Outcome outcome = Outcome::full;
    Lane& lane = log.addLane();
    log.harvest();
    parallel(
        [&] {
            while (!log.consumer().isDrained()) {
                log.sleepAndHarvest();
            }
        },
        [&] { outcome = log.post(lane, data, 1); }, [&] { log.close(); });
    check(outcome == Outcome::closed ? log.numbers.empty() : log.numbers.size() == 1,
          "accepted records are emitted, and no others");
}

/// The intake goes while a thread that has a lane ends: whoever is last destroys the lanes.
void theLastUserDestroysTheLanes() {
    auto* const registry =
        new Registry({1, manyBytes, sizeof(Label)}, {1, manyBytes, sizeof(Label)});
    Registry::Slot& lane = registry->enroll(nullptr);
    parallel([&] { registry->abandon(); }, [&] { Registry::dismiss(lane); });
}

/// A lane that its thread has left is emptied and handed on.
void aLaneIsHandedOn() {
    Log log(1);
    Plain<int> data;
    Registry::Slot* lane = &log.registry().enroll(nullptr);
    log.harvest();
    parallel([&] { log.harvest(), log.harvest(); },
             [&] {
                 check(log.post(*lane, data, 1) == Outcome::ok, "there is room");
                 Registry::dismiss(*lane);
             });
    log.harvest();
    log.harvest();
    check(log.numbers.size() == 1, "the record was emitted");
    check(log.registry().leavers() == 0 && log.registry().laneCount() == 1,
          "the lane is a spare one");
}

TEST(LogIntakeModelTest, NoWakeUpIsLost) {
    EXPECT_TRUE(holds(aRecordWakesTheSleeper));
    EXPECT_TRUE(holds(twoThreadsWakeTheSleeper, options({1, 1})));
    EXPECT_TRUE(holds(aNewLaneIsFound));
    EXPECT_TRUE(holds(twoOrdersWakeTheSleeper));
    EXPECT_TRUE(holds(aWakeUpTellsWhatWasWritten));
}

TEST(LogIntakeModelTest, RoomIsUsedAgain) {
    EXPECT_TRUE(holds(roomForAMessageIsUsedAgain));
    EXPECT_TRUE(holds(bytesAreUsedAgain));
    EXPECT_TRUE(holds(theEndIsWaitedForByNobody));
}

TEST(LogIntakeModelTest, LaterPostsComeLater) {
    EXPECT_TRUE(holds(laterPostsComeLaterInKnownLanes));
    EXPECT_TRUE(holds(laterPostsComeLaterInNewLanes));
}

TEST(LogIntakeModelTest, NumbersAreNeverNegative) {
    EXPECT_TRUE(holds(numbersAreNeverNegative));
}

TEST(LogIntakeModelTest, EachRecordIsEmittedOrEvicted) {
    EXPECT_TRUE(holds(eachRecordIsEmittedOrEvicted));
}

TEST(LogIntakeModelTest, AcceptedRecordsAreEmittedBeforeTheEnd) {
    EXPECT_TRUE(holds(acceptedRecordsAreEmittedBeforeTheEnd));
}

TEST(LogIntakeModelTest, LanesOutliveTheirThreads) {
    EXPECT_TRUE(holds(aLaneIsHandedOn));
    EXPECT_TRUE(holds(theLastUserDestroysTheLanes));
}

// Not under sanitizers: they end the process for the faults that mutants are meant to have.
#if !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN
const Scenarios all = {aRecordWakesTheSleeper,
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
                       aLaneIsHandedOn,
                       theLastUserDestroysTheLanes};

OrderSurvey surveyOf(std::string_view file) {
    return surveyOrders(file, options({1, 1}), all);
}

TEST(LogIntakeModelTest, TheFencesOfTheWakeUpAreNeeded) {
    // What a notifier writes reaches the back end through the words of the lanes.
    EXPECT_TRUE(survive({"leave: compare acquire -> relaxed", "leave: load acquire -> relaxed",
                         "leave: update acquire -> relaxed", "wakeAll: update release -> relaxed"},
                        surveyOrders("event_count.hpp", options({1, 1}),
                                     {aRecordWakesTheSleeper, twoOrdersWakeTheSleeper})));
}

TEST(LogIntakeModelTest, EveryOrderOfALaneIsNeededButTwo) {
    // E5 protects plain members of the lane, which the checker does not watch.
    EXPECT_TRUE(survive({"end: store release -> relaxed", "hasLeft: load acquire -> relaxed"},
                        surveyOf("lane.hpp")));
}

TEST(LogIntakeModelTest, EveryOrderOfTheRegistryIsNeeded) {
    EXPECT_TRUE(survive({}, surveyOf("lane_registry.hpp")));
}

TEST(LogIntakeModelTest, EveryOrderOfTheConsumerIsNeeded) {
    EXPECT_TRUE(survive({}, surveyOf("intake_consumer.hpp")));
}
#endif

}  // namespace
}  // namespace sluice::model
