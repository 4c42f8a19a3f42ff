#include "unit/queue/queue_doubles.hpp"

#include <sluice/queue/mpsc_lanes.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

// The order in which MpscLanes delivers: lanes in turn, or merged by a key.

namespace sluice {
namespace {

using namespace test;

struct Stamped {
    int time;
    char producer;
    friend bool operator==(const Stamped& a, const Stamped& b) {
        return a.time == b.time && a.producer == b.producer;
    }
};
using Lanes = MpscLanes<Stamped>;

int timeOf(const Stamped& message) {
    return message.time;
}

class MpscLanesOrderTest : public testing::Test {
protected:
    void push(char producer, const std::vector<int>& times) {
        auto& handle = producer == 'a' ? a : producer == 'b' ? b : c;
        for (const int time : times) {
            ASSERT_EQ(handle.tryEmplace(time, producer), SendResult::ok);
        }
    }

    std::vector<Stamped> inTurn(std::size_t max = unlimited) {
        std::vector<Stamped> seen;
        const std::size_t count =
            lanes.consume([&](Stamped& message) { seen.push_back(message); }, max);
        EXPECT_EQ(count, seen.size());
        return seen;
    }
    std::vector<Stamped> byTime(std::size_t max = unlimited) {
        std::vector<Stamped> seen;
        const std::size_t count = lanes.consumeOrdered(
            timeOf, [&](Stamped& message) { seen.push_back(message); }, max);
        EXPECT_EQ(count, seen.size());
        return seen;
    }

    using Seen = std::vector<Stamped>;
    Lanes lanes{8};
    Lanes::Producer a = lanes.producer();
    Lanes::Producer b = lanes.producer();
    Lanes::Producer c = lanes.producer();
};

// ---- in turn

TEST_F(MpscLanesOrderTest, TryPopTakesTheLanesInTurn) {
    push('a', {1, 2, 3});
    push('b', {4});
    push('c', {5, 6});
    std::vector<int> times;
    while (const std::optional<Stamped> message = lanes.tryPop()) {
        times.push_back(message->time);
    }
    EXPECT_EQ(times, (std::vector<int>{1, 4, 5, 2, 6, 3}));
}

TEST_F(MpscLanesOrderTest, ConsumeEmptiesLaneAfterLane) {
    push('b', {3});
    push('a', {1, 2});
    push('c', {4});
    EXPECT_EQ(inTurn(), (Seen{{1, 'a'}, {2, 'a'}, {3, 'b'}, {4, 'c'}}));
}

TEST_F(MpscLanesOrderTest, ConsumeBeginsWhereTheLastCallEnded) {
    push('a', {1, 2, 3});
    push('b', {4, 5});
    EXPECT_EQ(inTurn(2), (Seen{{1, 'a'}, {2, 'a'}}));
    EXPECT_EQ(inTurn(1), (Seen{{4, 'b'}}));
    EXPECT_EQ(inTurn(1), (Seen{{3, 'a'}})) << "nothing in c";
    EXPECT_EQ(inTurn(), (Seen{{5, 'b'}}));
}

TEST_F(MpscLanesOrderTest, ConsumeVisitsEachLaneOnce) {
    push('a', {1});
    Seen seen;
    lanes.consume([&](Stamped& message) {
        seen.push_back(message);
        push('a', {message.time + 1});
    });
    EXPECT_EQ(seen, (Seen{{1, 'a'}}));
    EXPECT_EQ(inTurn(), (Seen{{2, 'a'}}));
}

TEST_F(MpscLanesOrderTest, HandlerMayRegisterAndCloseProducers) {
    push('a', {1});
    push('b', {2});
    push('c', {3});
    Lanes::Producer latecomer;
    lanes.consume([&](Stamped& message) {
        if (message.producer == 'a') {
            latecomer = lanes.producer();
            ASSERT_EQ(latecomer.tryEmplace(4, 'd'), SendResult::ok);
            a.close();
        } else {
            b.close();
            c.close();
        }
    });
    EXPECT_EQ(inTurn(), (Seen{{4, 'd'}}));
    EXPECT_EQ(inTurn(), Seen{});
    EXPECT_EQ(lanes.laneCount(), 1U);
}

TEST_F(MpscLanesOrderTest, TurnSurvivesTheRemovalOfItsLane) {
    push('a', {1});
    push('c', {3});
    EXPECT_EQ(lanes.tryPop(), (Stamped{1, 'a'}));
    b.close();
    EXPECT_EQ(byTime(1), (Seen{{3, 'c'}})) << "takes b, whose turn it is, out of the list";
    push('a', {4});
    push('c', {5});
    EXPECT_EQ(lanes.tryPop(), (Stamped{5, 'c'}));
    EXPECT_EQ(lanes.tryPop(), (Stamped{4, 'a'}));
    c.close();
    EXPECT_EQ(lanes.tryPop(), std::nullopt);
    EXPECT_EQ(lanes.laneCount(), 1U);
}

TEST_F(MpscLanesOrderTest, ProducerInTheMiddleOfAPushDelaysNobodyElse) {
    MpscLanes<Building> subject(4);
    auto slow = subject.producer();
    auto quick = subject.producer();
    ASSERT_EQ(slow.tryEmplace(1,
                              [&] {
                                  ASSERT_EQ(quick.tryEmplace(2), SendResult::ok);
                                  EXPECT_EQ(subject.tryPop()->value, 2);
                                  EXPECT_FALSE(subject.tryPop());
                              }),
              SendResult::ok);
    EXPECT_EQ(subject.tryPop()->value, 1);
}

// ---- by key

TEST_F(MpscLanesOrderTest, OrderedMergesByKey) {
    push('c', {2, 9});
    push('a', {1, 4, 5, 6});
    push('b', {3, 7, 8});
    std::vector<int> times;
    for (const Stamped& message : byTime()) {
        times.push_back(message.time);
    }
    EXPECT_EQ(times, (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(lanes.sizeApprox(), 0U);
}

TEST_F(MpscLanesOrderTest, EqualKeysKeepEachProducersOrder) {
    push('a', {1, 1});
    push('b', {1, 1, 2});
    push('a', {2});
    const Seen seen = byTime();
    ASSERT_EQ(seen.size(), 6U);
    for (std::size_t i = 1; i < seen.size(); ++i) {
        EXPECT_LE(seen[i - 1].time, seen[i].time);
    }
}

TEST_F(MpscLanesOrderTest, LaneOutOfKeyOrderKeepsItsOwnOrder) {
    push('a', {5, 1});
    push('b', {3});
    EXPECT_EQ(byTime(), (Seen{{3, 'b'}, {5, 'a'}, {1, 'a'}}));
}

TEST_F(MpscLanesOrderTest, OrderedDeliversALateSmallerKeyLater) {
    push('a', {5});
    push('b', {6});
    Seen seen;
    lanes.consumeOrdered(timeOf, [&](Stamped& message) {
        seen.push_back(message);
        if (message.time == 5) {
            push('c', {1});
        }
    });
    for (const Stamped& message : byTime()) {
        seen.push_back(message);
    }
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen.front(), (Stamped{5, 'a'}));
    EXPECT_EQ(lanes.sizeApprox(), 0U);
}

TEST_F(MpscLanesOrderTest, OrderedEndsAlthoughItsHandlerKeepsPushing) {
    push('a', {1});
    push('b', {2});
    std::size_t calls = 0;
    const std::size_t count = lanes.consumeOrdered(timeOf, [&](Stamped& message) {
        ++calls;
        push(message.producer, {message.time + 10});
    });
    EXPECT_EQ(count, calls);
    EXPECT_LE(count, 2U) << "no more than were there";
    EXPECT_EQ(lanes.sizeApprox(), 2U);
}

TEST_F(MpscLanesOrderTest, KeyIsTakenFromAConstMessageAndMayBeOfAnyOrderedType) {
    push('a', {1});
    push('b', {2});
    struct Descending {
        int time;
        bool operator<(const Descending& other) const { return time > other.time; }
    };
    std::vector<int> times;
    lanes.consumeOrdered(
        [](auto& message) {
            static_assert(std::is_const_v<std::remove_reference_t<decltype(message)>>);
            return Descending{message.time};
        },
        [&](auto& message) {
            static_assert(!std::is_const_v<std::remove_reference_t<decltype(message)>>);
            times.push_back(message.time);
        });
    EXPECT_EQ(times, (std::vector<int>{2, 1}));
}

#if defined(__cpp_exceptions)
TEST_F(MpscLanesOrderTest, ThrowingHandlerHasConsumedExactlyItsMessage) {
    push('a', {1, 3});
    push('b', {2, 4});
    const auto failAt = [](int time) {
        return [time](Stamped& message) {
            if (message.time == time) {
                throw std::runtime_error("handler");
            }
        };
    };
    EXPECT_THROW(lanes.consumeOrdered(timeOf, failAt(2)), std::runtime_error);
    EXPECT_EQ(lanes.sizeApprox(), 2U);
    EXPECT_THROW(lanes.consume(failAt(3)), std::runtime_error);
    EXPECT_EQ(byTime(), (Seen{{4, 'b'}}));
}

TEST_F(MpscLanesOrderTest, ThrowingKeyConsumesNothing) {
    push('a', {1});
    push('b', {2});
    const auto throwing = [](const Stamped&) -> int { throw std::runtime_error("key"); };
    EXPECT_THROW(lanes.consumeOrdered(throwing, [](Stamped&) {}), std::runtime_error);
    EXPECT_EQ(lanes.sizeApprox(), 2U);
    EXPECT_EQ(byTime(), (Seen{{1, 'a'}, {2, 'b'}}));
}
#endif

}  // namespace
}  // namespace sluice
