#include <sluice/actor/detail/timer_slots.hpp>
#include <sluice/base/platform.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <type_traits>

namespace sluice::detail {
namespace {

/// The word of a slot begins with the last generation that it can count.
struct OldPlatform : StdPlatform {
    template <class T>
    struct Atomic : std::atomic<T> {
        static constexpr T firstGeneration = 8;
        Atomic(T value = 0) noexcept
            : std::atomic<T>(std::is_same_v<T, CounterWord> && value == firstGeneration
                                 ? static_cast<T>(T{0} - firstGeneration)
                                 : value) {}
        using std::atomic<T>::operator=;
    };
};

TEST(TimerSlotsTest, ASlotBeginsAgainAfterItsLastGeneration) {
    TimerSlots<OldPlatform, int, 1> slots;
    const auto fire = [&] {
        slots.takeChanges(
            [&](auto index) {
                ASSERT_TRUE(slots.end(index));
                slots.destroyEntry(index);
            },
            [](auto) {});
    };
    const Timer last = slots.arm(1);
    EXPECT_TRUE(last);
    EXPECT_FALSE(slots.cancel(Timer()));
    fire();
    EXPECT_TRUE(slots.arm(2)) << "in the other slot";
    fire();
    const Timer first = slots.arm(3);
    EXPECT_TRUE(first);
    EXPECT_NE(first, last);
    EXPECT_FALSE(slots.cancel(last));
    EXPECT_FALSE(slots.cancel(Timer())) << "an empty Timer names no timer";
    fire();
}

/// Starts a timer in its destructor.
struct Successor {
    using Slots = TimerSlots<StdPlatform, Successor, 4>;
    Successor(Slots& startsIn, int follow) noexcept : slots(&startsIn), left(follow) { ++alive; }
    Successor(const Successor&) = delete;
    Successor& operator=(const Successor&) = delete;
    ~Successor() {
        --alive;
        if (left != 0) {
            (void)slots->arm(*slots, left - 1);
        }
    }
    inline static int alive = 0;
    Slots* slots;
    int left;
};

TEST(TimerSlotsTest, NoTimerStartsWhileTheyAreDestroyed) {
    {
        Successor::Slots slots;
        const Timer first = slots.arm(slots, 0);
        EXPECT_TRUE(first);
        EXPECT_TRUE(slots.arm(slots, 1));
        EXPECT_TRUE(slots.arm(slots, 1));
        EXPECT_TRUE(slots.cancel(first));
        slots.takeChanges([](auto) {}, [](auto) {});  // frees a slot that is destroyed first
    }
    EXPECT_EQ(Successor::alive, 0);
}

}  // namespace
}  // namespace sluice::detail
