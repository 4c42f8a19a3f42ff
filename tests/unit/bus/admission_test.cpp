#include "unit/bus/bus_doubles.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <utility>

namespace sluice {
namespace {

using namespace test;

template <class AnyBus>
void expectRooms(std::size_t low, std::size_t medium, std::size_t high) {
    const auto bus = std::make_unique<AnyBus>();
    EXPECT_EQ(AnyBus::roomOf(Priority::low), low);
    EXPECT_EQ(AnyBus::roomOf(Priority::medium), medium);
    EXPECT_EQ(AnyBus::roomOf(Priority::high), high);
    EXPECT_EQ(AnyBus::capacity(), low + medium + high);

    SendResult result = SendResult::ok;
    EXPECT_EQ(fillUp(*bus, Priority::low, result), low);
    EXPECT_EQ(result, SendResult::full);
    EXPECT_EQ(fillUp(*bus, Priority::medium, result), medium);
    EXPECT_EQ(result, SendResult::full);
    EXPECT_EQ(fillUp(*bus, Priority::high, result), high);
    EXPECT_EQ(result, SendResult::full);
    EXPECT_EQ(bus->sizeApprox(), low + medium + high);
}

TEST(BusAdmissionTest, RoomsAreSharesOfTheDepth) {
    expectRooms<TestBus<2>>(1, 1, 1);
    expectRooms<TestBus<3>>(1, 1, 1);
    expectRooms<TestBus<4>>(1, 2, 1);
    expectRooms<TestBus<5>>(1, 3, 1);
    expectRooms<TestBus<10>>(2, 6, 2);
    expectRooms<TestBus<100>>(25, 50, 25);
    expectRooms<TestBus<255>>(63, 129, 63);
    expectRooms<TestBus<256>>(64, 128, 64);
    expectRooms<TestBus<4096>>(1024, 2048, 1024);
    expectRooms<TestBus<70000>>(17500, 35000, 17500);
    expectRooms<TestBus<131072>>(32768, 65536, 32768);
}

struct OwnRooms : DeepTraits<8> {
    static constexpr std::array<std::size_t, priorityCount> rooms{3, 0, 8};
};

TEST(BusAdmissionTest, RoomsMayBeChosenOneByOne) {
    expectRooms<Bus<TestMessages, OwnRooms>>(3, 4, 8);
}

// A flood of one priority leaves the rooms of the others alone.
TEST(BusAdmissionTest, NoPriorityTakesRoomFromAnother) {
    for (const Priority flooding : {Priority::low, Priority::medium, Priority::high}) {
        TestBus<100> bus;
        SendResult result = SendResult::ok;
        EXPECT_EQ(fillUp(bus, flooding, result), bus.roomOf(flooding));
        for (const Priority other : {Priority::low, Priority::medium, Priority::high}) {
            EXPECT_EQ(fillUp(bus, other, result), other == flooding ? 0 : bus.roomOf(other));
        }
    }
}

// All places of the ring are taken, and the consumer has seen all of them.
TEST(BusAdmissionTest, BusMayBeFullToTheLastSlot) {
    Bus<TestMessages, OwnRooms> bus;
    int next = 0;
    int expected = 0;
    for (int lap = 0; lap < 5; ++lap) {
        while (bus.publish(Sample{next}, Priority::high) == SendResult::ok) {
            ++next;
        }
        EXPECT_EQ(bus.sizeApprox(), 8U);
        for (int i = 0; i < 3 + lap; ++i) {
            bus.processWith(partial([&](Sample& sample) { EXPECT_EQ(sample.value, expected++); }),
                            1);
        }
    }
    bus.processWith(partial([&](Sample& sample) { EXPECT_EQ(sample.value, expected++); }));
    EXPECT_EQ(expected, next);
}

struct OddDepth
    : OverflowTraits<Overflow::reject, Overflow::dropOldest, Overflow::reject, 3> {
    static constexpr std::array<std::size_t, priorityCount> rooms{1, 3, 1};
};

// A ring with room for three has more slots. They are empty at first, even if the memory held other
// bytes.
TEST(BusAdmissionTest, PlacesBeyondTheRoomAreEmptyFromTheStart) {
    using OddBus = Bus<TestMessages, OddDepth>;
    alignas(OddBus) static std::array<unsigned char, sizeof(OddBus)> memory;
    memory.fill(1);
    auto* const bus = new (memory.data()) OddBus;
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(bus->publish(Sample{i}), SendResult::ok);
    }
    std::vector<int> seen;
    bus->processWith(partial([&](Sample& sample) {
        if (sample.value == 0) {
            EXPECT_EQ(bus->publish(Sample{100}), SendResult::ok);
        }
        seen.push_back(sample.value);
    }));
    EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 100}));
    EXPECT_EQ(bus->sizeApprox(), 0U);
    bus->~OddBus();
}

TEST(BusAdmissionTest, BusWithoutPrioritiesIsFilledToTheBrim) {
    TestBus<5, BareBusTraits> bus;
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(bus.publish(Sample{i}), SendResult::ok);
    }
    EXPECT_EQ(bus.publish(Sample{5}), SendResult::full);
    EXPECT_EQ(bus.sizeApprox(), 5U);
    EXPECT_EQ(bus.capacity(), 5U);
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(BusAdmissionTest, OneSlotThatComesBackIsEnough) {
    TestBus<10> bus;
    SendResult result = SendResult::ok;
    EXPECT_EQ(fillUp(bus, Priority::low, result), 2U);
    EXPECT_EQ(bus.process(1), 1U);
    EXPECT_EQ(bus.publish(Sample{}, Priority::low), SendResult::ok);
    EXPECT_EQ(bus.publish(Sample{}, Priority::low), SendResult::full);
}

TEST(BusAdmissionTest, SlotComesBackWhenItsHandlerReturns) {
    TestBus<2> bus;
    std::vector<SendResult> results;
    ASSERT_EQ(bus.publish(Sample{1}), SendResult::ok);
    bus.processWith(partial([&](Sample&) { results.push_back(bus.publish(Sample{2})); }), 1);
    results.push_back(bus.publish(Sample{3}));
    EXPECT_EQ(results, (std::vector<SendResult>{SendResult::full, SendResult::ok}));
}

TEST(BusAdmissionTest, HandlerMayPublishOneForOneAsLongAsItLikes) {
    TestBus<10> bus;
    ASSERT_EQ(bus.publish(Sample{0}), SendResult::ok);
    for (int i = 0; i < 1000; ++i) {
        ASSERT_EQ(bus.processWith(partial([&](Sample& sample) {
                                      ASSERT_EQ(bus.publish(Sample{sample.value + 1}),
                                                SendResult::ok);
                                  }),
                                  1),
                  1U);
    }
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{1000}));
}

TEST(BusAdmissionTest, MessageThatWasNotAcceptedIsStillThere) {
    TestBus<2> bus;
    ASSERT_EQ(bus.publish(Alarm{"first"}), SendResult::ok);
    Alarm second{"a text that is too long to be kept in the string itself"};
    EXPECT_EQ(bus.publish(std::move(second)), SendResult::full);
    EXPECT_EQ(second.text, "a text that is too long to be kept in the string itself");
    bus.close();
    EXPECT_EQ(bus.publish(std::move(second)), SendResult::closed);
    EXPECT_EQ(second.text, "a text that is too long to be kept in the string itself");
}

TEST(BusAdmissionTest, RangeIsAcceptedAsFarAsThereIsRoom) {
    TestBus<10> bus;
    const std::vector<Sample> samples{{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}};
    EXPECT_EQ(bus.publishAll(samples.begin(), samples.begin() + 3), 3U);
    EXPECT_EQ(bus.publishAll(samples.begin() + 3, samples.end()), 3U);
    EXPECT_EQ(bus.publishAll(samples.begin(), samples.begin()), 0U);
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{1, 2, 3, 4, 5, 6}));
    EXPECT_TRUE(areBalanced(bus, 10));
}

TEST(BusAdmissionTest, LapsAreCounted) {
    TestBus<12> bus;
    int next = 0;
    std::vector<int> high;
    std::vector<int> low;
    for (int round = 0; round < 500; ++round) {
        while (bus.publish(Sample{next}, next % 3 == 0 ? Priority::high : Priority::low) ==
               SendResult::ok) {
            ++next;
        }
        bus.processWith(
            partial([&](Sample& sample, const auto& header) {
                (header.priority == Priority::high ? high : low).push_back(sample.value);
            }),
            1U + static_cast<unsigned>(round) % 4);
    }
    bus.processWith(partial([&](Sample& sample, const auto& header) {
        (header.priority == Priority::high ? high : low).push_back(sample.value);
    }));
    EXPECT_EQ(high.size() + low.size(), static_cast<std::size_t>(next));
    EXPECT_TRUE(std::is_sorted(high.begin(), high.end()));
    EXPECT_TRUE(std::is_sorted(low.begin(), low.end()));
}

#if defined(__cpp_exceptions)
struct Thrower {
    Thrower() { throw 1; }
};

// Its slot is on its way to the consumer, and no message in it.
TEST(BusAdmissionTest, ConstructorThatThrowsIsNotCountedAsAMessage) {
    Bus<Messages<Sample, Thrower>, DeepTraits<10>> bus;
    for (int i = 0; i < 3; ++i) {
        EXPECT_THROW((void)bus.emplace<Thrower>(), int);
    }
    ASSERT_EQ(bus.publish(Sample{1}), SendResult::ok);
    ASSERT_EQ(bus.publish(Sample{2}), SendResult::ok);
    EXPECT_EQ(bus.process(1), 1U);
    EXPECT_EQ(bus.process(1), 1U);
    EXPECT_EQ(bus.process(1), 0U);
    EXPECT_EQ(bus.statistics().total().attempted(), 2U);
}
#endif

}  // namespace
}  // namespace sluice
