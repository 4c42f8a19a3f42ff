#include <sluice/base/platform.hpp>
#include <sluice/queue/mpsc_lanes.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <vector>

// Lanes that are idle cost the consumer nothing, and come back when their producer pushes.

namespace sluice {
namespace {

std::size_t loads = 0;  // of atomic variables; there is one thread

struct CountingPlatform : StdPlatform {
    template <class T>
    struct Atomic : std::atomic<T> {
        using std::atomic<T>::atomic;
        T load(std::memory_order order) const noexcept {
            ++loads;
            return std::atomic<T>::load(order);
        }
    };
};
struct CountingTraits : QueueTraits {
    using Platform = CountingPlatform;
};

class MpscLanesIdleTest : public testing::Test {
protected:
    static constexpr int count = 1000;

    MpscLanesIdleTest() {
        for (int i = 0; i < count; ++i) {
            producers.push_back(lanes.producer());
        }
        // The consumer leaves idle lanes alone after some visits that find nothing.
        for (int i = 0; i < 10; ++i) {
            consume();
        }
    }

    std::vector<int> consume() {
        std::vector<int> seen;
        lanes.consume([&seen](int& message) { seen.push_back(message); });
        return seen;
    }
    std::vector<int> consumeOrdered() {
        std::vector<int> seen;
        lanes.consumeOrdered([](const int& message) { return message; },
                             [&seen](int& message) { seen.push_back(message); });
        return seen;
    }

    MpscLanes<int, CountingTraits> lanes{4};
    std::vector<MpscLanes<int, CountingTraits>::Producer> producers;
};

TEST_F(MpscLanesIdleTest, AMessageCostsTheSameHoweverManyLanesAreIdle) {
    ASSERT_EQ(producers[500].tryPush(7), SendResult::ok);
    loads = 0;
    EXPECT_EQ(consume(), (std::vector<int>{7}));
    EXPECT_LT(loads, 50U);
    loads = 0;
    EXPECT_EQ(consume(), std::vector<int>{});
    EXPECT_LT(loads, 50U);
}

TEST_F(MpscLanesIdleTest, EachLaneComesBackWithItsMessage) {
    std::vector<int> pushed;
    for (int i = 0; i < count; ++i) {
        ASSERT_EQ(producers[static_cast<std::size_t>(count - 1 - i)].tryPush(i), SendResult::ok);
        pushed.push_back(i);
    }
    EXPECT_EQ(consume(), pushed);
}

TEST_F(MpscLanesIdleTest, AnIdleLaneTakesPartInTheMerge) {
    ASSERT_EQ(producers[1].tryPush(2), SendResult::ok);
    {
        auto reservation = producers[2].tryReserve();
        reservation.emplace(1);
        reservation.commit();
    }
    EXPECT_EQ(consumeOrdered(), (std::vector<int>{1, 2}));
}

TEST_F(MpscLanesIdleTest, AnIdleLaneOfAGoneProducerIsRemoved) {
    producers.resize(count - 1);
    EXPECT_EQ(lanes.laneCount(), std::size_t{count});
    consume();
    EXPECT_EQ(lanes.laneCount(), std::size_t{count - 1});
}

TEST_F(MpscLanesIdleTest, IdleLanesAreClosedAndDrained) {
    ASSERT_EQ(producers[3].tryPush(7), SendResult::ok);
    lanes.close();
    EXPECT_EQ(producers[4].tryPush(8), SendResult::closed);
    EXPECT_FALSE(lanes.isDrained());
    EXPECT_EQ(consume(), (std::vector<int>{7}));
    EXPECT_TRUE(lanes.isDrained());
}

}  // namespace
}  // namespace sluice
