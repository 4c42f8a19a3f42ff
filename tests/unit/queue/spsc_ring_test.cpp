#include "support/scale.hpp"
#include "unit/queue/queue_doubles.hpp"

#include <sluice/queue/mpsc_lanes.hpp>
#include <sluice/queue/spsc_ring.hpp>

#include "support/testing.hpp"
#include <thread>

// What SpscRing does differently from the other rings: the announcement of a push, reservations
// without a trace, and one producer.

namespace sluice {
namespace {

using namespace test;
using Ring = SpscRing<Building, 2>;

TEST(SpscRingTest, NoOperationIsAReadModifyWrite) {
    SpscRing<int, 4, TracingTraits> ring;
    WriteTrace::readModifyWrites = 0;
    for (int i = 0; i < 6; ++i) {
        (void)ring.tryPush(i);
    }
    EXPECT_EQ(ring.consume([](int) {}), 4U);
    (void)ring.writable(2);
    ring.commit(2);
    (void)ring.readable();
    ring.release(2);
    ring.close();
    EXPECT_EQ(WriteTrace::readModifyWrites, 0);
}

// ---- ranges and spans

template <class AnyRing>
std::vector<int> valuesOf(AnyRing& ring) {
    std::vector<int> values;
    ring.consume([&](auto& message) { values.push_back(message.value); });
    return values;
}

TEST(SpscSpansTest, TakePartsAndMixWithMessages) {
    SpscRing<int, 4> ring;
    EXPECT_EQ(ring.readable()[0].size, 0U);
    auto free = ring.writable();
    ASSERT_EQ(free[0].size, 4U) << "exactly the capacity";
    free[0].data[0] = 1;
    free[0].data[1] = 2;
    EXPECT_EQ(ring.sizeApprox(), 0U) << "not committed";
    ring.commit(2);
    ASSERT_EQ(ring.tryPush(3), SendResult::ok);
    EXPECT_EQ(ring.readable(1)[0].size, 1U);
    ring.release(1);
    EXPECT_EQ(ring.tryPop(), 2);
    EXPECT_EQ(ring.readable()[0].data[0], 3);
    ring.release(0);
    EXPECT_EQ(ring.tryPop(), 3);
}

TEST(SpscSpansTest, OpenSpanKeepsTheRingFromBeingDrained) {
    SpscRing<int, 2> ring;
    const auto free = ring.writable(1);
    ring.close();
    EXPECT_FALSE(ring.isDrained());
    *free[0].data = 7;
    ring.commit(1);
    EXPECT_EQ(ring.writable()[0].size, 0U) << "closed";
    EXPECT_FALSE(ring.isDrained());
    EXPECT_EQ(ring.tryPop(), 7);
    EXPECT_TRUE(ring.isDrained());
}

TEST(SpscSpansTest, ReleasedMessagesAreDestroyed) {
    SpscRing<Tracked, 3> ring;
    const std::vector<int> numbers{1, 2, 3};
    ASSERT_EQ(ring.tryPushAll(numbers.begin(), numbers.end()), 3U);
    ASSERT_EQ(ring.readable()[0].size, 3U);
    ring.release(2);
    EXPECT_EQ(Tracked::alive, 1);
    EXPECT_EQ(valuesOf(ring), std::vector<int>{3});
}

TEST(SpscSpansTest, StreamBetweenThreads) {
    const auto samples = static_cast<unsigned>(scaled(20000));
    SpscRing<unsigned, 64> ring;
    std::thread producer([&] {
        for (unsigned next = 0; next < samples;) {
            std::size_t count = 0;
            for (const Span<unsigned>& span : ring.writable(1 + next % 50)) {
                for (unsigned& sample : span) {
                    sample = next++;
                    ++count;
                }
            }
            ring.commit(count);
            if (count == 0) {
                std::this_thread::yield();
            }
        }
        ring.close();
    });
    unsigned expected = 0;
    unsigned wrong = 0;
    for (std::size_t count = 1; count != 0 || !ring.isDrained();) {
        count = 0;
        for (const Span<unsigned>& span : ring.readable(1 + expected % 40)) {
            for (const unsigned sample : span) {
                wrong += sample == expected++ ? 0 : 1;
                ++count;
            }
        }
        ring.release(count);
        if (count == 0) {
            std::this_thread::yield();
        }
    }
    producer.join();
    EXPECT_EQ(wrong, 0U);
    EXPECT_GE(expected, samples);
}

#if !defined(NDEBUG)
TEST(SpscSpansDeathTest, ReportsWrongCountsAndAPushInBetween) {
    SpscRing<int, 4> ring;
    EXPECT_DEATH(ring.commit(1), "more messages than writable");
    EXPECT_DEATH(ring.release(1), "more messages than readable");
    ASSERT_EQ(ring.tryPush(1), SendResult::ok);
    ASSERT_EQ(ring.tryPush(2), SendResult::ok);
    (void)ring.readable(1);
    EXPECT_DEATH(ring.release(2), "more messages than readable");
    (void)ring.writable(1);
    EXPECT_DEATH((void)ring.tryPush(1), "a push while a reservation is open");
}
#endif

// ---- reservations

#if defined(__cpp_exceptions)
TEST(SpscReservationTest, StaysOpenWhenTheConstructorThrows) {
    Ring ring;
    auto reservation = ring.tryReserve();
    EXPECT_THROW(reservation.emplace(1, [] { throw std::runtime_error("constructor"); }),
                 std::runtime_error);
    EXPECT_EQ(ring.front(), nullptr);
    reservation.emplace(2);
    reservation.commit();
    EXPECT_EQ(ring.tryPop()->value, 2);
}

TEST(SpscRingTest, PushThatThrowsAfterTheCloseLeavesADrainedQueue) {
    Ring ring;
    EXPECT_THROW((void)ring.tryEmplace(1,
                                       [&] {
                                           ring.close();
                                           throw std::runtime_error("constructor");
                                       }),
                 std::runtime_error);
    EXPECT_TRUE(ring.isDrained());
}
#endif

// ---- a close that overtakes a push (edge E3)

// The test closes at the critical moment: the producer has announced its push and has not yet
// checked whether the queue is closed. With hasQuickFence, that is the fence of the common push,
// otherwise the fence of the guarded one.
struct HookedFence {
    static void light() {
        if (onLight != nullptr) {
            std::exchange(onLight, nullptr)();
        }
    }
    static bool tryLight() { return hasQuickFence && (light(), true); }
    static void heavy() { ++heavyFences; }
    inline static void (*onLight)() = nullptr;
    inline static int heavyFences = 0;
    inline static bool hasQuickFence = true;
};
struct HookedPlatform : StdPlatform {
    using Fence = HookedFence;
};
struct HookedTraits : QueueTraits {
    using Platform = HookedPlatform;
};
using HookedRing = SpscRing<int, 4, HookedTraits>;
HookedRing* hookedRing = nullptr;

class SpscRingClosingTest : public testing::TestWithParam<bool> {
protected:
    SpscRingClosingTest() {
        HookedFence::hasQuickFence = GetParam();
        hookedRing = &ring;
        EXPECT_EQ(ring.tryPush(0), SendResult::ok) << "free slots are known from here on";
        EXPECT_EQ(ring.tryPop(), 0);
    }
    HookedRing ring;
};

TEST_P(SpscRingClosingTest, BetweenAnnouncementAndCheckItRefusesThePush) {
    HookedFence::onLight = [] {
        hookedRing->close();
        EXPECT_FALSE(hookedRing->isDrained()) << "the push is announced";
    };
    EXPECT_EQ(ring.tryPush(1), SendResult::closed);
    EXPECT_EQ(HookedFence::onLight, nullptr) << "each push has its fence";
    EXPECT_TRUE(ring.isDrained());
    EXPECT_EQ(ring.tryPop(), std::nullopt);
}

TEST_P(SpscRingClosingTest, TheEndOnceSeenStays) {
    ring.close();
    EXPECT_TRUE(ring.isDrained());
    HookedFence::onLight = [] {
        EXPECT_TRUE(hookedRing->isDrained()) << "although a push is announced";
    };
    EXPECT_EQ(ring.tryPush(1), SendResult::closed);
    EXPECT_EQ(HookedFence::onLight, nullptr);
}

// The same for a lane that is registered after the end.
TEST_P(SpscRingClosingTest, TheEndOfLanesStays) {
    static MpscLanes<int, HookedTraits>* hookedLanes = nullptr;
    MpscLanes<int, HookedTraits> lanes(2);
    hookedLanes = &lanes;
    lanes.close();
    EXPECT_TRUE(lanes.isDrained());
    auto latecomer = lanes.producer();
    HookedFence::onLight = [] { EXPECT_TRUE(hookedLanes->isDrained()); };
    EXPECT_EQ(latecomer.tryPush(1), SendResult::closed);
    EXPECT_EQ(HookedFence::onLight, nullptr);
}

TEST_P(SpscRingClosingTest, OnlyAClosedQueueCostsAHeavyFence) {
    HookedFence::heavyFences = 0;
    EXPECT_FALSE(ring.isDrained());
    EXPECT_EQ(HookedFence::heavyFences, 0);
    ring.close();
    EXPECT_TRUE(ring.isDrained());
    EXPECT_TRUE(ring.isDrained());
    EXPECT_EQ(HookedFence::heavyFences, 1);
}

INSTANTIATE_TEST_SUITE_P(Fences, SpscRingClosingTest, testing::Bool());

// ---- misuse

#ifndef NDEBUG
TEST(SpscRingDeathTest, PushWhileAReservationIsOpen) {
    SpscRing<int, 2> ring;
    const auto reservation = ring.tryReserve();
    EXPECT_DEATH((void)ring.tryEmplace(1), "commit or drop the reservation first");
    EXPECT_DEATH((void)ring.tryReserve(), "commit or drop the reservation first");
}

// A message that is being moved out is still the consumer's.
TEST(SpscRingDeathTest, SecondConsumerWhileAMessageIsMovedOut) {
    struct Curious {
        explicit Curious(SpscRing<Curious, 2>& of) : ring(of) {}
        Curious(Curious&& other) noexcept : ring(other.ring) { (void)ring.tryPop(); }
        SpscRing<Curious, 2>& ring;
    };
    SpscRing<Curious, 2> ring;
    ASSERT_EQ(ring.tryEmplace(ring), SendResult::ok);
    EXPECT_DEATH((void)ring.tryPop(), "let one thread at a time consume");
}

TEST(SpscRingDeathTest, SecondProducerInTheMiddleOfAPush) {
    Ring ring;
    const char* const advice = "use MpscRing or MpscLanes, or one queue per producer";
    EXPECT_DEATH((void)ring.tryEmplace(1, [&] { (void)ring.tryEmplace(2); }), advice);
    EXPECT_DEATH((void)ring.tryEmplace(1, [&] { (void)ring.tryReserve(); }), advice);
}
#endif

}  // namespace
}  // namespace sluice
