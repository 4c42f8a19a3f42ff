#include "support/crew.hpp"
#include "unit/bus/bus_doubles.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <vector>

namespace sluice {
namespace {

using namespace test;

TEST(BusOverflowTest, OldestOfThePriorityMakesRoom) {
    Bus<TestMessages,
        OverflowTraits<BusOverflow::reject, BusOverflow::dropOldest, BusOverflow::reject>>
        bus;
    ASSERT_EQ(bus.publish(Sample{100}, Priority::low), PublishResult::ok);
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(bus.publish(Sample{i}), PublishResult::ok);
    }
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{13, 14, 15, 16, 17, 18, 19, 100}));
    const MessageCounts counts = bus.statistics().of(0, Priority::medium);
    EXPECT_EQ(counts.published, 20U);
    EXPECT_EQ(counts.dropped, 13U);
    EXPECT_EQ(counts.delivered, 7U);
    EXPECT_TRUE(areBalanced(bus, 21));
}

TEST(BusOverflowTest, NothingOlderOfThePriorityMeansNoRoom) {
    Bus<TestMessages,
        OverflowTraits<BusOverflow::reject, BusOverflow::dropOldest, BusOverflow::reject>>
        bus;
    PublishResult result = PublishResult::ok;
    EXPECT_EQ(fillUp(bus, Priority::high, result), 9U);
    EXPECT_EQ(bus.publish(Sample{1}), PublishResult::full);
    EXPECT_EQ(bus.statistics().total().dropped, 0U);
}

TEST(BusOverflowTest, DroppedMessageIsDestroyed) {
    {
        Bus<TestMessages,
            OverflowTraits<BusOverflow::reject, BusOverflow::dropOldest, BusOverflow::reject>>
            bus;
        for (int i = 0; i < 30; ++i) {
            ASSERT_EQ(bus.publish(Counted(i)), PublishResult::ok);
        }
        EXPECT_EQ(Counted::alive, 8);
    }
    EXPECT_EQ(Counted::alive, 0);
}

TEST(BusOverflowTest, LatestOfATypeReplacesAnOlderOne) {
    Bus<TestMessages,
        OverflowTraits<BusOverflow::keepLatest, BusOverflow::reject, BusOverflow::reject>>
        bus;
    ASSERT_EQ(bus.publish(Counted(0), Priority::low), PublishResult::ok);
    for (int i = 0; i < 20; ++i) {
        ASSERT_EQ(bus.publish(Sample{i}, Priority::low), PublishResult::ok);
    }
    EXPECT_EQ(bus.publish(Alarm{"none older"}, Priority::low), PublishResult::refused);
    int counted = 0;
    std::vector<int> samples;
    bus.processWith(partial(overload([&](Counted&) { ++counted; },
                                     [&](Sample& sample) { samples.push_back(sample.value); })));
    EXPECT_EQ(counted, 1) << "another type is left alone";
    EXPECT_EQ(samples, (std::vector<int>{15, 16, 17, 18, 19}));
    EXPECT_TRUE(areBalanced(bus, 22));
}

// A range is let in as its messages would be one by one.
TEST(BusOverflowTest, RangeMakesRoomToo) {
    std::vector<Sample> samples;
    for (int i = 0; i < 20; ++i) {
        samples.push_back(Sample{i});
    }
    const auto check = [&](auto& bus) {
        ASSERT_EQ(bus.publish(Sample{100}, Priority::low), PublishResult::ok);
        EXPECT_EQ(bus.publishAll(samples.begin(), samples.end()), 20U);
        EXPECT_EQ(takeSamples(bus), (std::vector<int>{13, 14, 15, 16, 17, 18, 19, 100}));
        EXPECT_EQ(bus.statistics().total().dropped, 13U);
        EXPECT_TRUE(areBalanced(bus, 21));
    };
    Bus<TestMessages,
        OverflowTraits<BusOverflow::reject, BusOverflow::dropOldest, BusOverflow::reject>>
        dropping;
    check(dropping);
    Bus<TestMessages,
        OverflowTraits<BusOverflow::reject, BusOverflow::keepLatest, BusOverflow::reject>>
        keeping;
    check(keeping);
}

TEST(BusOverflowTest, RangeWaitsForRoomUntilTheBusIsClosed) {
    Bus<TestMessages, OverflowTraits<BusOverflow::reject, BusOverflow::block, BusOverflow::reject>>
        bus;
    const std::vector<Sample> samples(100);
    std::size_t accepted = 0;
    Crew crew;
    crew.add([&] {
        EXPECT_EQ(bus.publishAll(samples.begin(), samples.end()), 100U);
        accepted = bus.publishAll(samples.begin(), samples.end());
    });
    crew.start();
    std::size_t taken = 0;
    while (taken < 150) {
        taken += bus.process(1);
    }
    bus.close();
    crew.join();
    EXPECT_GE(accepted, 50U);
    EXPECT_LE(accepted, 58U) << "there is room for eight more than were taken";
    EXPECT_EQ(bus.statistics().total().published, 100 + accepted);
    EXPECT_EQ(bus.statistics().total().closed, 100 - accepted);
    EXPECT_TRUE(areBalanced(bus, 200));
}

// Others keep the bus above the limit of low: whatever low gives up, it does not get in.
TEST(BusOverflowTest, NothingIsDroppedInVain) {
    const auto check = [](auto& bus) {
        for (int i = 0; i < 10; ++i) {
            ASSERT_EQ(bus.publish(Sample{i}, Priority::low), PublishResult::ok);
        }
        for (int i = 0; i < 65; ++i) {
            ASSERT_EQ(bus.publish(Sample{i}, Priority::high), PublishResult::ok);
        }
        EXPECT_EQ(bus.publish(Sample{}, Priority::low), PublishResult::refused);
        EXPECT_EQ(bus.statistics().total().dropped, 0U);
    };
    Bus<TestMessages,
        OverflowTraits<BusOverflow::dropOldest, BusOverflow::reject, BusOverflow::reject, 100>>
        dropping;
    check(dropping);
    Bus<TestMessages,
        OverflowTraits<BusOverflow::keepLatest, BusOverflow::reject, BusOverflow::reject, 100>>
        keeping;
    check(keeping);
}

struct DropHigh
    : OverflowTraits<BusOverflow::reject, BusOverflow::reject, BusOverflow::dropOldest, 16> {
    static constexpr std::array<std::size_t, priorityCount> limits{100, 100, 100};
};

// While a publisher is stopped, slots that were taken out of turn cannot come back.
TEST(BusOverflowTest, NothingIsDroppedWhileNoSlotCanComeBack) {
    using SlowBus = Bus<Messages<Sample, std::vector<int>>, DropHigh>;
    SlowBus bus;
    struct Stop {
        SlowBus& bus;
        operator std::vector<int>() const {
            for (int i = 0; i < 15; ++i) {
                EXPECT_EQ(bus.publish(Sample{i}, Priority::high), PublishResult::ok);
            }
            for (int i = 0; i < 16; ++i) {
                EXPECT_EQ(bus.process(1), 1U);
                EXPECT_EQ(bus.publish(Sample{i}, Priority::high), PublishResult::ok);
            }
            EXPECT_EQ(bus.publish(Sample{}, Priority::high), PublishResult::full);
            EXPECT_EQ(bus.statistics().total().dropped, 0U);
            EXPECT_EQ(bus.process(1), 1U);
            EXPECT_EQ(bus.publish(Sample{}, Priority::high), PublishResult::full);
            EXPECT_EQ(bus.statistics().total().dropped, 0U);
            return {};
        }
    };
    EXPECT_EQ(bus.emplaceWith<std::vector<int>>({Priority::low}, Stop{bus}), PublishResult::ok);
}

#if defined(__cpp_exceptions)
TEST(BusOverflowTest, HandlerThatThrowsMakesRoomToo) {
    Bus<TestMessages, OverflowTraits<BusOverflow::reject, BusOverflow::block, BusOverflow::reject>>
        bus;
    constexpr int count = 500;
    Crew crew;
    crew.add([&] {
        for (int i = 0; i < count; ++i) {
            EXPECT_EQ(bus.publish(Sample{i}), PublishResult::ok);
        }
        bus.close();
    });
    crew.start();
    int handled = 0;
    while (!bus.isDrained()) {
        try {
            bus.runWith(partial([&](Sample&) {
                ++handled;
                throw std::runtime_error("a handler's own");
            }));
        } catch (const std::runtime_error&) {
        }
    }
    EXPECT_EQ(handled, count);
}
#endif

// The consumer may be in the middle of a message when others are dropped.
TEST(BusOverflowTest, MessageInTheHandsOfAHandlerIsNotDropped) {
    Bus<TestMessages,
        OverflowTraits<BusOverflow::reject, BusOverflow::dropOldest, BusOverflow::reject>>
        bus;
    for (int i = 0; i < 8; ++i) {
        ASSERT_EQ(bus.publish(Sample{i}), PublishResult::ok);
    }
    std::vector<int> seen;
    bus.processWith(partial([&](Sample& sample) {
                        for (int i = 0; i < 20; ++i) {
                            ASSERT_EQ(bus.publish(Sample{100 + i}), PublishResult::ok);
                        }
                        seen.push_back(sample.value);
                    }),
                    1);
    EXPECT_EQ(seen, (std::vector<int>{0}));
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{113, 114, 115, 116, 117, 118, 119}));
}

TEST(BusOverflowTest, PublisherWaitsForRoom) {
    Bus<TestMessages, OverflowTraits<BusOverflow::reject, BusOverflow::block, BusOverflow::reject>>
        bus;
    Crew crew;
    crew.add([&] {
        for (int i = 0; i < 1000; ++i) {
            ASSERT_EQ(bus.publish(Sample{i}), PublishResult::ok);
        }
        bus.close();
    });
    crew.start();
    int expected = 0;
    bus.runWith(partial([&](Sample& sample) { EXPECT_EQ(sample.value, expected++); }));
    EXPECT_EQ(expected, 1000);
    crew.join();
    EXPECT_TRUE(areBalanced(bus, 1000));
}

TEST(BusOverflowTest, WaitEndsWithItsLimit) {
    Bus<TestMessages,
        OverflowTraits<BusOverflow::blockFor, BusOverflow::reject, BusOverflow::reject>>
        bus;
    PublishResult result = PublishResult::ok;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(fillUp(bus, Priority::low, result), 6U);
    EXPECT_EQ(result, PublishResult::refused);
    EXPECT_GE(std::chrono::steady_clock::now() - start,
              decltype(bus)::Clock::duration(FullBusTraits::blockLimit));
}

TEST(BusOverflowTest, CloseEndsTheWaitForRoom) {
    Bus<TestMessages, OverflowTraits<BusOverflow::reject, BusOverflow::block, BusOverflow::reject>>
        bus;
    std::atomic<int> accepted{0};
    Crew crew;
    crew.add([&] {
        PublishResult result = PublishResult::ok;
        while ((result = bus.publish(Sample{})) == PublishResult::ok) {
            ++accepted;
        }
        EXPECT_EQ(result, PublishResult::closed);
    });
    crew.start();
    awaitThat([&] { return accepted == 8; });
    bus.close();
    crew.join();
    EXPECT_EQ(accepted, 8);
    EXPECT_TRUE(areBalanced(bus, 9));
}

TEST(BusOverflowTest, HandlerIsNotMadeToWaitForItself) {
    Bus<TestMessages, OverflowTraits<BusOverflow::block, BusOverflow::block, BusOverflow::block>>
        bus;
    PublishResult inside = PublishResult::ok;
    for (int i = 0; i < 9; ++i) {
        ASSERT_EQ(bus.publish(Sample{}, Priority::high), PublishResult::ok);
    }
    bus.processWith(partial([&](Sample&) { inside = bus.publish(Sample{}, Priority::high); }), 1);
    EXPECT_EQ(inside, PublishResult::full);
}

}  // namespace
}  // namespace sluice
