#include "support/crew.hpp"
#include "unit/bus/bus_doubles.hpp"
#include "unit/bus/counted_sleep.hpp"
#include "unit/bus/stop.hpp"

#include "support/testing.hpp"

// The threads that are told when a bus is drained, and the threads that drain() waits for.

namespace sluice {
namespace {

using namespace test;

struct RiseWatcher : BusObserver {
    void pressureChanged(Pressure before, Pressure now) noexcept {
        if (before < now) {
            onRise();
        }
    }
    std::function<void()> onRise;
};
struct RiseWatched : FullBusTraits {
    using Observer = RiseWatcher;
    static constexpr std::array<std::size_t, priorityCount> rooms{4, 4, 1};
};

// Each of them is inside a publication of its own.
TEST(BusDrainToldTest, ObserversThatDrainDoNotWaitForEachOther) {
    RiseWatcher watcher;
    Bus<TestMessages, RiseWatched> bus(watcher);
    std::atomic<int> draining{0};
    watcher.onRise = [&] {
        ++draining;
        awaitThat([&] { return draining == 2; });
        EXPECT_TRUE(bus.drain(decltype(bus)::Clock::time_point::max()));
    };
    Crew crew;
    crew.add([&] {
        for (int i = 0; i < 3; ++i) {
            EXPECT_EQ(bus.publish(Sample{}, Priority::low), SendResult::ok);
        }
    });
    crew.add([&] {
        awaitThat([&] { return draining == 1; });
        EXPECT_EQ(bus.publish(Sample{}, Priority::high), SendResult::ok);
    });
    crew.start();
    awaitThat([&] { return draining == 2; });
    bus.run();
}

template <class Duration>
struct ClockOf {
    using duration = Duration;
    using rep = typename duration::rep;
    using period = typename duration::period;
    using time_point = std::chrono::time_point<ClockOf>;
    [[maybe_unused]] static constexpr bool is_steady = true;
    static time_point now() noexcept {
        return time_point(std::chrono::duration_cast<duration>(
            std::chrono::steady_clock::now().time_since_epoch()));
    }
};
template <class Duration>
struct PlatformOf : StdPlatform {
    using Clock = ClockOf<Duration>;
};
template <class Duration>
struct TimedIn : DeepTraits<12> {
    using Platform = PlatformOf<Duration>;
    using Wait = BasicPark<Platform>;
    using Pacing = NoPacing;
};

template <class Duration>
class BusClockTest : public ::testing::Test {};
using Durations =
    ::testing::Types<std::chrono::milliseconds, std::chrono::duration<std::int64_t, std::pico>>;
TYPED_TEST_SUITE(BusClockTest, Durations);

TYPED_TEST(BusClockTest, MayBeCoarseOrFine) {
    Bus<TestMessages, TimedIn<TypeParam>> bus;
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    EXPECT_EQ(bus.process(), 1U);
    EXPECT_TRUE(bus.drain(ClockOf<TypeParam>::now() + std::chrono::hours(1)));
}

#if defined(__cpp_exceptions)
/// Throws when told to, after act().
struct Failing {
    template <class Act>
    Failing(bool fails, const Act& act) {
        act();
        if (fails) {
            throw std::runtime_error("not made");
        }
    }
    Failing(Failing&&) noexcept {}
};
constexpr auto doNothing = [] {};

/// Atomics that stop before the number of messages that have gone is counted.
template <class T, bool IsCount = std::is_integral_v<T> && !std::is_same_v<T, bool>>
struct StoppingCount : std::atomic<T> {
    using std::atomic<T>::atomic;
};
template <class T>
struct StoppingCount<T, true> : std::atomic<T> {
    using std::atomic<T>::atomic;
    T fetch_add(T value, std::memory_order order) noexcept {
        Stop::pass();
        return std::atomic<T>::fetch_add(value, order);
    }
};
struct StopsBeforeTheCount : StdPlatform {
    template <class T>
    using Atomic = StoppingCount<T>;
};
struct SleepyDrops : NoStatsBusTraits {
    using Platform = StopsBeforeTheCount;
    using Wait = CountedSleep;
    static constexpr std::array<std::size_t, priorityCount> rooms{1, 8, 4};
    static constexpr std::array<Overflow, priorityCount> overflow{
        Overflow::dropOldest, Overflow::reject, Overflow::reject};
};

struct CountedThrows : DeepTraits<8> {
    using Platform = StopsBeforeTheCount;
};

// Its publisher is stopped before it counts the slot.
TEST(BusDrainToldTest, IsOverOnlyWhenTheSlotThatWasSkippedIsCounted) {
    Bus<Messages<Failing>, CountedThrows> bus;
    Crew crew;
    Stop::await(crew, [&] {
        EXPECT_THROW((void)bus.emplace<Failing>(true, [&] { bus.close(); }), std::runtime_error);
    });
    EXPECT_EQ(bus.discard(), 0U);
    EXPECT_FALSE(bus.isDrained());
    Stop::mayGoOn = true;
    crew.join();
    EXPECT_EQ(bus.discard(), 0U);
    EXPECT_TRUE(bus.isDrained());
    EXPECT_EQ(bus.statistics().total().attempted(), 0U);
}

// A constructor that threw left a slot behind. The publisher that passes the slot ends the wait.
TEST(BusDrainToldTest, IsToldByAPublisherThatPassesASkippedSlot) {
    Bus<Messages<Failing>, SleepyDrops> bus;
    EXPECT_THROW((void)bus.emplaceWith<Failing>({Priority::low}, true, doNothing),
                 std::runtime_error);
    Crew crew;
    Stop::await(crew, [&] {
        EXPECT_EQ(bus.emplaceWith<Failing>({Priority::low}, false, doNothing), SendResult::ok);
    });
    EXPECT_EQ(bus.process(), 1U);
    Crew waiting;
    waiting.add([&] { bus.run(); });
    waiting.add([&] { EXPECT_TRUE(bus.drain(decltype(bus)::Clock::time_point::max())); });
    waiting.start();
    awaitThat([] { return CountingParker::asleep == 2; });
    Stop::mayGoOn = true;
}
#endif

}  // namespace
}  // namespace sluice
