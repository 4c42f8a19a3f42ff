#include "unit/bus/bus_doubles.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <utility>

namespace sluice {
namespace {

using namespace test;

template <class AnyBus>
void expectLimits(std::size_t low, std::size_t medium, std::size_t high) {
    const auto bus = std::make_unique<AnyBus>();
    EXPECT_EQ(AnyBus::limitOf(Priority::low), low);
    EXPECT_EQ(AnyBus::limitOf(Priority::medium), medium);
    EXPECT_EQ(AnyBus::limitOf(Priority::high), high);
    EXPECT_EQ(AnyBus::capacity(), high);

    PublishResult result = PublishResult::ok;
    EXPECT_EQ(fillUp(*bus, Priority::low, result), low);
    EXPECT_EQ(result, low == high ? PublishResult::full : PublishResult::refused);
    EXPECT_EQ(fillUp(*bus, Priority::medium, result), medium - low);
    EXPECT_EQ(result, medium == high ? PublishResult::full : PublishResult::refused);
    EXPECT_EQ(fillUp(*bus, Priority::high, result), high - medium);
    EXPECT_EQ(result, PublishResult::full);
    EXPECT_EQ(bus->sizeApprox(), high);
}

TEST(BusAdmissionTest, LimitsAreExactAtEveryDepth) {
    expectLimits<TestBus<2>>(1, 1, 1);
    expectLimits<TestBus<3>>(1, 2, 2);
    expectLimits<TestBus<4>>(2, 3, 3);
    expectLimits<TestBus<5>>(3, 4, 4);
    expectLimits<TestBus<7>>(4, 5, 6);
    expectLimits<TestBus<10>>(6, 8, 9);
    expectLimits<TestBus<100>>(60, 80, 99);
    expectLimits<TestBus<255>>(153, 204, 252);
    expectLimits<TestBus<256>>(153, 204, 253);
    expectLimits<TestBus<257>>(154, 205, 254);
    expectLimits<TestBus<4096>>(2457, 3276, 4055);
    expectLimits<TestBus<70000>>(42000, 56000, 69300);
    expectLimits<TestBus<131072>>(78643, 104857, 129761);
}

struct OwnLimits : DeepTraits<8> {
    static constexpr std::array<std::size_t, priorityCount> limits{25, 50, 100};
};

TEST(BusAdmissionTest, LimitsAreThoseOfTheTraits) {
    expectLimits<Bus<TestMessages, OwnLimits>>(2, 4, 8);
}

// All places of the ring are taken, and the consumer has seen all of them.
TEST(BusAdmissionTest, BusMayBeFullToTheLastSlot) {
    Bus<TestMessages, OwnLimits> bus;
    int next = 0;
    int expected = 0;
    for (int lap = 0; lap < 5; ++lap) {
        while (bus.publish(Sample{next}, Priority::high) == PublishResult::ok) {
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
    : OverflowTraits<BusOverflow::reject, BusOverflow::dropOldest, BusOverflow::reject, 3> {
    static constexpr std::array<std::size_t, priorityCount> limits{100, 100, 100};
};

// The ring has a place more than there are slots. Nothing has come to it yet, whatever lay in
// memory.
TEST(BusAdmissionTest, PlaceBeyondTheDepthIsEmptyFromTheStart) {
    using OddBus = Bus<TestMessages, OddDepth>;
    alignas(OddBus) static std::array<unsigned char, sizeof(OddBus)> memory;
    memory.fill(1);
    auto* const bus = new (memory.data()) OddBus;
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(bus->publish(Sample{i}), PublishResult::ok);
    }
    std::vector<int> seen;
    bus->processWith(partial([&](Sample& sample) {
        if (sample.value == 0) {
            EXPECT_EQ(bus->publish(Sample{100}), PublishResult::ok);
        }
        seen.push_back(sample.value);
    }));
    EXPECT_EQ(seen, (std::vector<int>{0, 2, 100}));
    EXPECT_EQ(bus->sizeApprox(), 0U);
    bus->~OddBus();
}

TEST(BusAdmissionTest, BusWithoutPrioritiesIsFilledToTheBrim) {
    TestBus<5, BareBusTraits> bus;
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(bus.publish(Sample{i}), PublishResult::ok);
    }
    EXPECT_EQ(bus.publish(Sample{5}), PublishResult::full);
    EXPECT_EQ(bus.sizeApprox(), 5U);
    EXPECT_EQ(bus.capacity(), 5U);
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(BusAdmissionTest, OneSlotThatComesBackIsEnough) {
    TestBus<10> bus;
    PublishResult result = PublishResult::ok;
    EXPECT_EQ(fillUp(bus, Priority::low, result), 6U);
    EXPECT_EQ(bus.process(1), 1U);
    EXPECT_EQ(bus.publish(Sample{}, Priority::low), PublishResult::ok);
    EXPECT_EQ(bus.publish(Sample{}, Priority::low), PublishResult::refused);
}

TEST(BusAdmissionTest, SlotComesBackWhenItsHandlerReturns) {
    TestBus<2> bus;
    std::vector<PublishResult> results;
    ASSERT_EQ(bus.publish(Sample{1}), PublishResult::ok);
    bus.processWith(partial([&](Sample&) { results.push_back(bus.publish(Sample{2})); }), 1);
    results.push_back(bus.publish(Sample{3}));
    EXPECT_EQ(results, (std::vector<PublishResult>{PublishResult::full, PublishResult::ok}));
}

TEST(BusAdmissionTest, HandlerMayPublishOneForOneAsLongAsItLikes) {
    TestBus<10> bus;
    ASSERT_EQ(bus.publish(Sample{0}), PublishResult::ok);
    for (int i = 0; i < 1000; ++i) {
        ASSERT_EQ(bus.processWith(partial([&](Sample& sample) {
                                      ASSERT_EQ(bus.publish(Sample{sample.value + 1}),
                                                PublishResult::ok);
                                  }),
                                  1),
                  1U);
    }
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{1000}));
}

TEST(BusAdmissionTest, MessageThatWasNotAcceptedIsStillThere) {
    TestBus<2> bus;
    ASSERT_EQ(bus.publish(Alarm{"first"}), PublishResult::ok);
    Alarm second{"a text that is too long to be kept in the string itself"};
    EXPECT_EQ(bus.publish(std::move(second)), PublishResult::full);
    EXPECT_EQ(second.text, "a text that is too long to be kept in the string itself");
    bus.close();
    EXPECT_EQ(bus.publish(std::move(second)), PublishResult::closed);
    EXPECT_EQ(second.text, "a text that is too long to be kept in the string itself");
}

TEST(BusAdmissionTest, RangeIsAcceptedAsFarAsThereIsRoom) {
    TestBus<10> bus;
    const std::vector<Sample> samples{{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}};
    EXPECT_EQ(bus.publishAll(samples.begin(), samples.begin() + 3, {Priority::low}), 3U);
    EXPECT_EQ(bus.publishAll(samples.begin() + 3, samples.end(), {Priority::low}), 3U);
    EXPECT_EQ(bus.publishAll(samples.begin(), samples.begin()), 0U);
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{1, 2, 3, 4, 5, 6}));
    EXPECT_TRUE(areBalanced(bus, 10));
}

// The ring of places comes round many times, with slots in ever changing order.
TEST(BusAdmissionTest, LapsAreCounted) {
    TestBus<6> bus;
    int next = 0;
    std::vector<int> high;
    std::vector<int> low;
    for (int round = 0; round < 500; ++round) {
        while (bus.publish(Sample{next}, next % 3 == 0 ? Priority::high : Priority::low) ==
               PublishResult::ok) {
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
    ASSERT_EQ(bus.publish(Sample{1}), PublishResult::ok);
    ASSERT_EQ(bus.publish(Sample{2}), PublishResult::ok);
    EXPECT_EQ(bus.process(1), 1U);
    EXPECT_EQ(bus.process(1), 1U);
    EXPECT_EQ(bus.process(1), 0U);
    EXPECT_EQ(bus.statistics().total().attempted(), 2U);
}
#endif

}  // namespace
}  // namespace sluice
