#include "unit/wait/scripted_platform.hpp"

#include <sluice/wait/park.hpp>
#include <sluice/wait/spin_waits.hpp>

#include "support/testing.hpp"

// Single-threaded: the script's hooks do the work of other threads. Lost wake-ups are found by
// tests/model/park_model_test.cpp.

namespace sluice {
namespace {

using namespace std::chrono_literals;
using test::at;
using test::Script;
struct ScriptedPark : BasicPark<test::ScriptedPlatform, test::ScriptedParker> {
    using Epoch = BasicPark::Epoch;
    using BasicPark::announce;
    using BasicPark::BasicPark;
    using BasicPark::cancelWait;
    using BasicPark::sleepUntil;
};

static_assert(std::is_nothrow_default_constructible_v<Park>);
static_assert(!std::is_copy_constructible_v<Park> && !std::is_copy_assignable_v<Park>);
static_assert(std::is_same_v<Park::Clock, StdPlatform::Clock>);
static_assert(noexcept(std::declval<Park&>().notifyAll()));
static_assert(detail::canNotifyOne<Park> && detail::canNotifyOne<BusySpin> &&
              detail::canNotifyOne<SpinThenYield>);

class ParkTest : public testing::Test {
protected:
    auto readyAtPoll(int number) {
        return [this, number] { return ++polls == number; };
    }
    int unparksOfOneNotification() {
        const int before = script.unparks;
        park.notifyAll();
        return script.unparks - before;
    }
    bool nobodyIsAnnounced() { return unparksOfOneNotification() == 0; }

    Script script;
    ScriptedPark park{ScriptedPark::Options{5, 3}};
    int polls = 0;
};

// ---- the three stages of a wait

TEST_F(ParkTest, SpinsThenYieldsThenSleeps) {
    bool isReady = false;
    script.onPark = [&] {
        isReady = true;
        park.notifyAll();
    };
    park.wait([&] {
        ++polls;
        return isReady;
    });
    EXPECT_EQ(script.pauses, 5);
    EXPECT_EQ(script.yields, 3);
    EXPECT_EQ(script.parks, 1);
    EXPECT_EQ(polls, 5 + 3 + 1 + 1) << "spin, yield, once announced, once awake again";
}

TEST_F(ParkTest, WaitEndsWhenReadyInAnyStage) {
    for (const int poll : {1, 5, 8, 9}) {
        polls = 0;
        park.wait(readyAtPoll(poll));
        polls = 0;
        EXPECT_TRUE(park.waitUntil(readyAtPoll(poll), at(100))) << poll;
        EXPECT_TRUE(nobodyIsAnnounced()) << poll;
    }
    EXPECT_EQ(script.parks + script.unparks, 0);
    EXPECT_TRUE(script.timedParks.empty());
}

TEST_F(ParkTest, PollsSeldomWherePollsAreInVain) {
    script.onPark = [this] { park.notifyAll(); };
    const auto pausesOfAWait = [this](int poll) {
        const int before = script.pauses;
        polls = 0;
        park.wait(readyAtPoll(poll));
        return script.pauses - before;
    };
    constexpr int asleep = 5 + 3 + 1 + 1;
    for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(pausesOfAWait(asleep), 5) << i;
    }
    constexpr int asleepImmediately = 1 + 1 + 1;
    for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(pausesOfAWait(asleepImmediately), 0) << i;
        EXPECT_EQ(pausesOfAWait(1), 0) << "no wait at all, so it does not count";
    }
    EXPECT_EQ(pausesOfAWait(asleep), 5) << "once in a while";
    for (int i = 0; i < 15; ++i) {
        EXPECT_EQ(pausesOfAWait(asleepImmediately), 0) << i;
    }
    EXPECT_EQ(pausesOfAWait(3), 2) << "they succeed again";
    EXPECT_EQ(pausesOfAWait(asleep), 5);
}

TEST_F(ParkTest, TimedWaitSleepsUntilTheDeadlineAtMost) {
    script.onPark = [this] { script.now += 60ns; };
    EXPECT_FALSE(park.waitUntil(readyAtPoll(-1), at(100)));
    EXPECT_EQ(script.timedParks, (std::vector<Script::Time>{100ns, 40ns}));
    EXPECT_TRUE(nobodyIsAnnounced());
}

TEST_F(ParkTest, TimedWaitWithoutTimePollsOnceAndAnnouncesNothing) {
    script.now = 100ns;
    EXPECT_FALSE(park.waitUntil(readyAtPoll(-1), at(100)));
    EXPECT_EQ(polls, 1);
    EXPECT_EQ(script.pauses + script.yields + script.heavyFences, 0);
}

TEST_F(ParkTest, TimedWaitPollsOnceMoreAtTheDeadline) {
    bool isReady = false;
    script.onPark = [&] {
        script.now = 100ns;
        isReady = true;
    };
    EXPECT_TRUE(park.waitUntil([&] { return isReady; }, at(100)));
}

// ---- the single steps: fences, kernel calls, deadlines

TEST_F(ParkTest, AThreadThatJoinsOthersMakesNoHeavyFence) {
    const auto first = park.announce();
    const auto second = park.announce();
    EXPECT_EQ(script.heavyFences, 1);
    (void)park.cancelWait(first);
    (void)park.cancelWait(park.announce());
    EXPECT_EQ(script.heavyFences, 1) << "the second one is still there";
    (void)park.cancelWait(second);
    (void)park.cancelWait(park.announce());
    EXPECT_EQ(script.heavyFences, 2) << "nobody was there";
    EXPECT_TRUE(nobodyIsAnnounced());
}

TEST_F(ParkTest, NotificationsUntilTheWaiterRunsCallNoKernel) {
    EXPECT_EQ(unparksOfOneNotification(), 0);
    const auto epoch = park.announce();
    EXPECT_EQ(unparksOfOneNotification(), 1);
    EXPECT_EQ(unparksOfOneNotification(), 0);
    EXPECT_TRUE(park.sleepUntil(epoch, ScriptedPark::Clock::time_point::max()));
    EXPECT_EQ(unparksOfOneNotification(), 0);
    EXPECT_EQ(script.heavyFences, 1);
    EXPECT_EQ(script.lightFences, 4) << "one for each notification";
}

TEST_F(ParkTest, AThreadThatWasWokenPollsBeforeItAnnouncesItselfAgain) {
    for (const bool isTimed : {false, true}) {
        ScriptedPark subject{ScriptedPark::Options{0, 0}};
        bool isAwake = false;
        script.heavyFences = 0;
        script.onPark = [&] {
            isAwake = true;
            subject.notifyAll();
        };
        const auto ready = [&isAwake] { return isAwake; };
        if (isTimed) {
            EXPECT_TRUE(subject.waitUntil(ready, ScriptedPark::Clock::time_point::max()));
        } else {
            subject.wait(ready);
        }
        EXPECT_EQ(script.heavyFences, 1);
    }
    EXPECT_EQ(script.pauses + script.yields, 0) << "no polls were asked for";
}

TEST_F(ParkTest, SleepsOnThroughSpuriousReturns) {
    script.onPark = [this] {
        if (script.parks == 5) {
            park.notifyAll();
        }
    };
    park.notifyAll();  // too early to count
    EXPECT_TRUE(park.sleepUntil(park.announce(), ScriptedPark::Clock::time_point::max()));
    EXPECT_EQ(script.parks, 5);
}

TEST_F(ParkTest, CancelAfterTheNotificationLeavesLaterWaitersAlone) {
    const auto notified = park.announce();
    park.notifyAll();
    const auto later = park.announce();
    (void)park.cancelWait(notified);
    EXPECT_EQ(unparksOfOneNotification(), 1) << "the later waiter's announcement was taken back";
    EXPECT_TRUE(park.sleepUntil(later, ScriptedPark::Clock::time_point::max()));
    EXPECT_EQ(script.parks, 0);
}

TEST_F(ParkTest, TimedWaiterThatGaveUpIsNotWokenUp) {
    script.onPark = [this] { script.now += 30ns; };
    EXPECT_FALSE(park.sleepUntil(park.announce(), at(100)));
    EXPECT_EQ(script.timedParks, (std::vector<Script::Time>{100ns, 70ns, 40ns, 10ns}));
    for (const auto deadline : {at(100), at(-1000), ScriptedPark::Clock::time_point::min()}) {
        EXPECT_FALSE(park.sleepUntil(park.announce(), deadline));
    }
    EXPECT_EQ(script.timedParks.size(), 4U);
    EXPECT_TRUE(nobodyIsAnnounced());
}

// Kernels and standard libraries overflow on longer limits.
TEST_F(ParkTest, NoSleepIsLongerThanADay) {
    script.onPark = [this] { park.notifyAll(); };
    for (const auto deadline : {at(0) + std::chrono::hours(25), at(0) + std::chrono::hours(24'000),
                                ScriptedPark::Clock::time_point::max()}) {
        script.parks = 0;
        EXPECT_TRUE(park.sleepUntil(park.announce(), deadline));
        EXPECT_EQ(script.parks, 1) << "for a day";
    }
}

TEST_F(ParkTest, NotificationJustBeforeGivingUpCounts) {
    script.onClockReading = [this] {
        script.now = 100ns;
        park.notifyAll();
    };
    EXPECT_TRUE(park.sleepUntil(park.announce(), at(100)));
    EXPECT_TRUE(script.timedParks.empty());
}

#if defined(__cpp_exceptions)
TEST_F(ParkTest, ThrowingConditionCallsTheWaitOffInAnyStage) {
    script.onPark = [this] { park.notifyAll(); };
    for (const int poll : {1, 5, 8, 9, 10}) {
        const auto throwing = [&]() -> bool {
            return ++polls == poll ? throw std::runtime_error("from ready") : false;
        };
        polls = 0;
        EXPECT_THROW(park.wait(throwing), std::runtime_error);
        polls = 0;
        EXPECT_THROW((void)park.waitUntil(throwing, at(100)), std::runtime_error);
        EXPECT_TRUE(nobodyIsAnnounced()) << poll;
    }
}
#endif

// ---- notifyOne

class NotifyOneTest : public ParkTest {
protected:
    int unparksOfOne() {
        const int before = script.unparks;
        park.notifyOne();
        return script.unparks - before;
    }
    /// The time of the script is later.
    bool isNotified(ScriptedPark::Epoch epoch) { return park.sleepUntil(epoch, at(0)); }
};

TEST_F(NotifyOneTest, WakesOneWaiterForEachNotification) {
    EXPECT_EQ(unparksOfOne(), 0);
    const auto first = park.announce();
    const auto second = park.announce();
    const auto third = park.announce();
    EXPECT_EQ(unparksOfOne(), 1);
    EXPECT_EQ(unparksOfOne(), 1);
    EXPECT_TRUE(isNotified(first));
    EXPECT_TRUE(isNotified(second));
    EXPECT_FALSE(isNotified(third));
}

TEST_F(NotifyOneTest, NotificationDoesNotLastUntilTheNextAnnouncement) {
    park.notifyOne();
    EXPECT_FALSE(isNotified(park.announce()));
    const auto epoch = park.announce();
    park.notifyOne();
    park.notifyOne();
    EXPECT_TRUE(isNotified(epoch));
    EXPECT_FALSE(isNotified(park.announce()));
}

#if defined(__cpp_exceptions)
TEST_F(NotifyOneTest, ConditionThatThrowsAfterASleepWakesAnother) {
    ScriptedPark subject{ScriptedPark::Options{0, 0}};
    const auto other = subject.announce();
    script.onPark = [&] { subject.notifyOne(); };
    const auto throwingLater = [&]() -> bool {
        return ++polls == 2 ? throw std::runtime_error("from ready") : false;
    };
    EXPECT_THROW(subject.wait(throwingLater), std::runtime_error);
    EXPECT_EQ(script.unparks, 2);
    EXPECT_TRUE(subject.sleepUntil(other, at(0)));
}
#endif

// ---- deadlineAfter

struct StoppedClock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<StoppedClock>;
    [[maybe_unused]] static constexpr bool is_steady = true;
    static time_point now() noexcept { return time_point(1000ns); }
};

constexpr auto now = StoppedClock::time_point(1000ns);
constexpr auto never = StoppedClock::time_point::max();

TEST(DeadlineTest, LiesAheadByTheDuration) {
    EXPECT_EQ(deadlineAfter<StoppedClock>(5us), now + 5us);
    EXPECT_EQ(deadlineAfter<StoppedClock>(std::chrono::duration<double, std::nano>(0.25)),
              now + 1ns)
        << "rounded up, so that nobody waits too short";
}

TEST(DeadlineTest, NothingAndLessIsNow) {
    EXPECT_EQ(deadlineAfter<StoppedClock>(0s), now);
    EXPECT_EQ(deadlineAfter<StoppedClock>(-1h), now);
    EXPECT_EQ(deadlineAfter<StoppedClock>(std::chrono::hours::min()), now);
}

TEST(DeadlineTest, LongestDurationsDoNotOverflow) {
    EXPECT_EQ(deadlineAfter<StoppedClock>(std::chrono::hours::max()), never);
    EXPECT_EQ(deadlineAfter<StoppedClock>(std::chrono::nanoseconds::max()), never);
    EXPECT_EQ(deadlineAfter<StoppedClock>(
                  std::chrono::duration<double>(std::numeric_limits<double>::infinity())),
              never);
}

TEST(DeadlineTest, AFloatThatIsRoundedBeyondTheEndDoesNotOverflow) {
    EXPECT_EQ(deadlineAfter(StoppedClock::time_point(), std::chrono::duration<float>(9223371776.F)),
              never);
    const std::chrono::duration<float> rest(never - now);
    EXPECT_EQ(deadlineAfter<StoppedClock>(rest), never);
}

TEST(DeadlineTest, BeginsBeforeTheEpochToo) {
    constexpr auto early = StoppedClock::time_point(-1s);
    EXPECT_EQ(deadlineAfter(early, 5s), StoppedClock::time_point(4s));
    EXPECT_EQ(deadlineAfter(StoppedClock::time_point::min(), 5s),
              StoppedClock::time_point::min() + 5s);
    EXPECT_EQ(deadlineAfter(early, std::chrono::hours::max()), never);
}

}  // namespace
}  // namespace sluice
