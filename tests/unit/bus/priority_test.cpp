#include "unit/bus/bus_doubles.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <vector>

namespace sluice {
namespace {

using namespace test;

TEST(BusPriorityTest, HigherOvertakesWhatIsQueued) {
    TestBus<20> bus;
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(bus.publish(Sample{i}, Priority::low), SendResult::ok);
        ASSERT_EQ(bus.publish(Sample{10 + i}, Priority::medium), SendResult::ok);
        ASSERT_EQ(bus.publish(Sample{20 + i}, Priority::high), SendResult::ok);
    }
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{20, 21, 22, 10, 11, 12, 0, 1, 2}));
}

TEST(BusPriorityTest, PriorityIsMediumUnlessTold) {
    TestBus<10> bus;
    ASSERT_EQ(bus.publish(Sample{1}, Priority::low), SendResult::ok);
    ASSERT_EQ(bus.publish(Sample{2}), SendResult::ok);
    ASSERT_EQ(bus.emplace<Sample>(3), SendResult::ok);
    ASSERT_EQ(bus.publish(Sample{4}, Priority::high), SendResult::ok);
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{4, 2, 3, 1}));
}

// The bound of a message of high priority: the handler that runs when it comes.
TEST(BusPriorityTest, OptionsThatSayNothingAreMedium) {
    TestBus<8> bus;
    ASSERT_EQ(bus.publish(Sample{}, {}), SendResult::ok);
    ASSERT_EQ(bus.tryPublish(Sample{}, {}), SendResult::ok);
    EXPECT_EQ(bus.statistics().ofPriority(Priority::medium).published, 2U);
}

TEST(BusPriorityTest, HighWaitsForOneHandler) {
    TestBus<4096> bus;
    for (int i = 0; i < 1000; ++i) {
        ASSERT_EQ(bus.publish(Sample{0}, i % 2 == 0 ? Priority::low : Priority::medium),
                  SendResult::ok);
    }
    int handled = 0;
    int published = 0;
    std::vector<int> waits;
    bus.processWith(partial([&](Sample& sample) {
        ++handled;
        if (sample.value != 0) {
            waits.push_back(handled - sample.value);
        } else if (handled % 7 == 0) {
            ASSERT_EQ(bus.publish(Sample{handled}, Priority::high), SendResult::ok);
            ++published;
        }
    }));
    EXPECT_EQ(waits, std::vector<int>(static_cast<std::size_t>(published), 1));
}

TEST(BusPriorityTest, MediumWaitsForFewLowOnes) {
    TestBus<4096> bus;
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(bus.publish(Sample{0}, Priority::low), SendResult::ok);
    }
    int handled = 0;
    int wait = 0;
    bus.processWith(partial([&](Sample& sample) {
        ++handled;
        if (sample.value != 0) {
            wait = handled - sample.value;
        } else if (handled == 20) {
            ASSERT_EQ(bus.publish(Sample{handled}, Priority::medium), SendResult::ok);
        }
    }));
    EXPECT_GE(wait, 1);
    EXPECT_LE(wait, 16);
}

struct Weighted : DeepTraits<1000> {
    static constexpr PriorityOrder service = PriorityOrder::weighted;
    static constexpr std::array<std::size_t, priorityCount> weights{1, 2, 4};
};

TEST(BusPriorityTest, WeightsAreTheSharesOfARound) {
    Bus<TestMessages, Weighted> bus;
    for (int i = 0; i < 70; ++i) {
        ASSERT_EQ(bus.publish(Sample{1}, Priority::low), SendResult::ok);
        ASSERT_EQ(bus.publish(Sample{2}, Priority::medium), SendResult::ok);
        ASSERT_EQ(bus.publish(Sample{4}, Priority::high), SendResult::ok);
    }
    std::vector<int> first;
    bus.processWith(partial([&](Sample& sample) { first.push_back(sample.value); }), 14);
    EXPECT_EQ(first, (std::vector<int>{4, 4, 4, 4, 2, 2, 1, 4, 4, 4, 4, 2, 2, 1}));
}

TEST(BusPriorityTest, CreditOfWhoHasNothingGoesToTheOthers) {
    Bus<TestMessages, Weighted> bus;
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(bus.publish(Sample{i}, Priority::low), SendResult::ok);
    }
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(BusPriorityTest, LowIsServedHoweverManyHighOnesCome) {
    Bus<TestMessages, Weighted> bus;
    ASSERT_EQ(bus.publish(Sample{1}, Priority::low), SendResult::ok);
    int handled = 0;
    int lowCameAfter = 0;
    ASSERT_EQ(bus.publish(Sample{4}, Priority::high), SendResult::ok);
    bus.processWith(partial([&](Sample& sample) {
                        ++handled;
                        if (sample.value == 1) {
                            lowCameAfter = handled;
                        } else {
                            ASSERT_EQ(bus.publish(Sample{4}, Priority::high), SendResult::ok);
                        }
                    }),
                    100);
    EXPECT_EQ(lowCameAfter, 5);
}

// For each queued priority, and for each batch size of the consumer.
TEST(BusPriorityTest, WeightsBoundTheWaitOfEachPriority) {
    constexpr std::array<Priority, priorityCount> all{Priority::low, Priority::medium,
                                                      Priority::high};
    constexpr std::array<int, priorityCount> twiceTheOthers{12, 10, 6};
    for (const std::size_t max : {std::size_t{1}, std::size_t{5}, unlimited}) {
        for (const Priority queued : all) {
            for (const Priority newcomer : all) {
                if (newcomer == queued) {
                    continue;
                }
                Bus<TestMessages, Weighted> bus;
                for (int i = 0; i < 60; ++i) {
                    ASSERT_EQ(bus.publish(Sample{0}, queued), SendResult::ok);
                }
                int handled = 0;
                int wait = 0;
                const auto visit = partial([&](Sample& sample) {
                    if (sample.value != 0) {
                        wait = handled - sample.value;
                    } else if (++handled == 10) {
                        ASSERT_EQ(bus.publish(Sample{handled}, newcomer), SendResult::ok);
                    }
                });
                while (bus.processWith(visit, max) != 0) {
                }
                EXPECT_LE(wait, twiceTheOthers[static_cast<std::size_t>(newcomer)])
                    << toString(newcomer) << " behind " << toString(queued) << ", " << max
                    << " at a time";
            }
        }
    }
}

// A publisher is stopped in the middle, while others go on: only messages of its own priority wait
// for it.
TEST(BusPriorityTest, StoppedPublisherDelaysItsOwnPriorityAlone) {
    using SlowBus = Bus<Messages<Sample, std::vector<int>>, DeepTraits<100>>;
    for (const Priority stopped : {Priority::low, Priority::medium, Priority::high}) {
        SlowBus bus;
        std::vector<Priority> seen;
        const auto look = [&](const auto&, const auto& header) { seen.push_back(header.priority); };
        std::vector<Priority> others;
        const auto stop = [&] {
            for (const Priority each : {Priority::high, Priority::medium, Priority::low}) {
                EXPECT_EQ(bus.publish(Sample{1}, each), SendResult::ok);
                if (each != stopped) {
                    others.push_back(each);
                }
            }
            EXPECT_EQ(bus.processWith(look), 2U);
            EXPECT_FALSE(bus.waitFor(std::chrono::nanoseconds(0))) << "nothing can be handled";
            return std::vector<int>();
        };
        struct Stop {
            const decltype(stop)& run;
            operator std::vector<int>() const { return run(); }
        };
        EXPECT_EQ(bus.emplaceWith<std::vector<int>>({stopped}, Stop{stop}), SendResult::ok);
        EXPECT_EQ(seen, others);
        EXPECT_EQ(bus.processWith(look), 2U);
        EXPECT_EQ(bus.sizeApprox(), 0U);
    }
}

}  // namespace
}  // namespace sluice
