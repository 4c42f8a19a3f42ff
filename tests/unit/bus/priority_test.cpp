#include "support/crew.hpp"
#include "unit/bus/bus_doubles.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <vector>

namespace sluice {
namespace {

using namespace test;

TEST(BusPriorityTest, HigherOvertakesWhatIsQueued) {
    TestBus<20> bus;
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(bus.publish(Sample{i}, Priority::low), PublishResult::ok);
        ASSERT_EQ(bus.publish(Sample{10 + i}, Priority::medium), PublishResult::ok);
        ASSERT_EQ(bus.publish(Sample{20 + i}, Priority::high), PublishResult::ok);
    }
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{20, 21, 22, 10, 11, 12, 0, 1, 2}));
}

TEST(BusPriorityTest, PriorityIsMediumUnlessTold) {
    TestBus<10> bus;
    ASSERT_EQ(bus.publish(Sample{1}, Priority::low), PublishResult::ok);
    ASSERT_EQ(bus.publish(Sample{2}), PublishResult::ok);
    ASSERT_EQ(bus.emplace<Sample>(3), PublishResult::ok);
    ASSERT_EQ(bus.publish(Sample{4}, Priority::high), PublishResult::ok);
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{4, 2, 3, 1}));
}

// The bound of a message of high priority: the handler that runs when it comes.
TEST(BusPriorityTest, HighWaitsForOneHandler) {
    TestBus<4096> bus;
    for (int i = 0; i < 1000; ++i) {
        ASSERT_EQ(bus.publish(Sample{0}, i % 2 == 0 ? Priority::low : Priority::medium),
                  PublishResult::ok);
    }
    int handled = 0;
    int published = 0;
    std::vector<int> waits;
    bus.processWith(partial([&](Sample& sample) {
        ++handled;
        if (sample.value != 0) {
            waits.push_back(handled - sample.value);
        } else if (handled % 7 == 0) {
            ASSERT_EQ(bus.publish(Sample{handled}, Priority::high), PublishResult::ok);
            ++published;
        }
    }));
    EXPECT_EQ(waits, std::vector<int>(static_cast<std::size_t>(published), 1));
}

TEST(BusPriorityTest, MediumWaitsForFewLowOnes) {
    TestBus<4096> bus;
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(bus.publish(Sample{0}, Priority::low), PublishResult::ok);
    }
    int handled = 0;
    int wait = 0;
    bus.processWith(partial([&](Sample& sample) {
        ++handled;
        if (sample.value != 0) {
            wait = handled - sample.value;
        } else if (handled == 20) {
            ASSERT_EQ(bus.publish(Sample{handled}, Priority::medium), PublishResult::ok);
        }
    }));
    EXPECT_GE(wait, 1);
    EXPECT_LE(wait, 16);
}

struct Weighted : DeepTraits<1000> {
    static constexpr Service service = Service::weighted;
    static constexpr std::array<std::size_t, priorityCount> weights{1, 2, 4};
};

TEST(BusPriorityTest, WeightsAreTheSharesOfARound) {
    Bus<TestMessages, Weighted> bus;
    for (int i = 0; i < 70; ++i) {
        ASSERT_EQ(bus.publish(Sample{1}, Priority::low), PublishResult::ok);
        ASSERT_EQ(bus.publish(Sample{2}, Priority::medium), PublishResult::ok);
        ASSERT_EQ(bus.publish(Sample{4}, Priority::high), PublishResult::ok);
    }
    std::vector<int> first;
    bus.processWith(partial([&](Sample& sample) { first.push_back(sample.value); }), 14);
    EXPECT_EQ(first, (std::vector<int>{4, 4, 4, 4, 2, 2, 1, 4, 4, 4, 4, 2, 2, 1}));
}

TEST(BusPriorityTest, CreditOfWhoHasNothingGoesToTheOthers) {
    Bus<TestMessages, Weighted> bus;
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(bus.publish(Sample{i}, Priority::low), PublishResult::ok);
    }
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(BusPriorityTest, LowIsServedHoweverManyHighOnesCome) {
    Bus<TestMessages, Weighted> bus;
    ASSERT_EQ(bus.publish(Sample{1}, Priority::low), PublishResult::ok);
    int handled = 0;
    int lowCameAfter = 0;
    ASSERT_EQ(bus.publish(Sample{4}, Priority::high), PublishResult::ok);
    bus.processWith(partial([&](Sample& sample) {
                        ++handled;
                        if (sample.value == 1) {
                            lowCameAfter = handled;
                        } else {
                            ASSERT_EQ(bus.publish(Sample{4}, Priority::high), PublishResult::ok);
                        }
                    }),
                    100);
    EXPECT_EQ(lowCameAfter, 5);
}

// Whatever is queued, and however the consumer asks for it.
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
                    ASSERT_EQ(bus.publish(Sample{0}, queued), PublishResult::ok);
                }
                int handled = 0;
                int wait = 0;
                const auto visit = partial([&](Sample& sample) {
                    if (sample.value != 0) {
                        wait = handled - sample.value;
                    } else if (++handled == 10) {
                        ASSERT_EQ(bus.publish(Sample{handled}, newcomer), PublishResult::ok);
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

// A publisher that is stopped in the middle, while others go on.
TEST(BusPriorityTest, HighDoesNotWaitForAStoppedPublisher) {
    struct Slow {
        explicit Slow(TestBus<10>&) {}
    };
    using SlowBus = Bus<Messages<Sample, std::vector<int>>, DeepTraits<10>>;
    SlowBus bus;
    std::vector<int> seen;
    const auto look = overload([&](Sample& sample) { seen.push_back(sample.value); },
                               [&](std::vector<int>&) { seen.push_back(0); });
    struct Stop {
        SlowBus& bus;
        decltype(look)& visit;
        operator std::vector<int>() const {
            EXPECT_EQ(bus.publish(Sample{1}, Priority::medium), PublishResult::ok);
            EXPECT_EQ(bus.publish(Sample{2}, Priority::high), PublishResult::ok);
            EXPECT_EQ(bus.publish(Sample{3}, Priority::high), PublishResult::ok);
            EXPECT_EQ(bus.processWith(visit), 2U) << "only what is urgent gets past";
            return {};
        }
    };
    EXPECT_EQ(bus.emplaceWith<std::vector<int>>({Priority::low}, Stop{bus, look}),
              PublishResult::ok);
    EXPECT_EQ(seen, (std::vector<int>{2, 3}));
    EXPECT_EQ(bus.processWith(look), 2U);
    EXPECT_EQ(seen, (std::vector<int>{2, 3, 1, 0}));
    EXPECT_EQ(bus.sizeApprox(), 0U);
}

// What was taken out of turn cannot come back beyond the stopped publisher's place: the others run
// out of places when the ring, which has two for each slot, has come round to it, and go on
// afterwards.
TEST(BusPriorityTest, StoppedPublisherHoldsUpOthersWhenTheRingHasComeRound) {
    using SlowBus = Bus<Messages<Sample, std::vector<int>>, DeepTraits<8>>;
    SlowBus bus;
    int delivered = 0;
    const auto count =
        overload([&](Sample&) { ++delivered; }, [&](std::vector<int>&) { ++delivered; });
    struct Stop {
        SlowBus& bus;
        decltype(count)& visit;
        int& published;
        operator std::vector<int>() const {
            while (published < 100 && bus.publish(Sample{}, Priority::high) == PublishResult::ok) {
                ++published;
                bus.processWith(visit);
            }
            return {};
        }
    };
    int published = 0;
    EXPECT_EQ(bus.emplace<std::vector<int>>(Stop{bus, count, published}), PublishResult::ok);
    EXPECT_GE(published, 14);
    EXPECT_LE(published, 16);
    EXPECT_EQ(delivered, published);
    EXPECT_EQ(bus.processWith(count), 1U);
    EXPECT_EQ(bus.sizeApprox(), 0U);
    PublishResult result = PublishResult::ok;
    EXPECT_EQ(fillUp(bus, Priority::high, result), bus.capacity());
}

// Their slots come back with it, also when it comes while a handler runs, and nobody consumes
// later.
TEST(BusPriorityTest, SlotsHeldForAStoppedPublisherComeBackWithIt) {
    using SlowBus = Bus<Messages<Sample, std::vector<int>>, DeepTraits<8>>;
    SlowBus bus;
    std::atomic<bool> isStopped{false};
    std::atomic<bool> mayGoOn{false};
    std::atomic<bool> isOver{false};
    struct Stop {
        std::atomic<bool>& isStopped;
        std::atomic<bool>& mayGoOn;
        operator std::vector<int>() const {
            isStopped = true;
            awaitThat([&] { return mayGoOn.load(); });
            return {};
        }
    };
    Crew crew;
    crew.add([&] {
        EXPECT_EQ(bus.emplace<std::vector<int>>(Stop{isStopped, mayGoOn}), PublishResult::ok);
        isOver = true;
    });
    crew.start();
    awaitThat([&] { return isStopped.load(); });
    std::size_t held = 0;
    const auto pass = partial([](Sample&) {});
    while (held < 4) {
        ASSERT_EQ(bus.publish(Sample{}, Priority::high), PublishResult::ok);
        ASSERT_EQ(bus.processWith(pass, 1), 1U);
        held = bus.sizeApprox() - 1;
    }
    ASSERT_EQ(bus.publish(Sample{}, Priority::high), PublishResult::ok);
    const auto goOn = overload(
        [&](Sample&) {
            mayGoOn = true;
            awaitThat([&] { return isOver.load(); });
        },
        [](std::vector<int>&) {});
    EXPECT_EQ(bus.processWith(goOn, 2), 2U);
    EXPECT_FALSE(bus.waitFor(std::chrono::nanoseconds(1)));
    EXPECT_EQ(bus.sizeApprox(), 0U);
    bus.close();
    EXPECT_TRUE(bus.isDrained());
    crew.join();
}

// The place of a message that was taken out of turn comes first, and another message behind it.
TEST(BusPriorityTest, WhatWasTakenOutOfTurnHidesNothing) {
    using SlowBus = Bus<Messages<Sample, std::vector<int>, Counted>, DeepTraits<10>>;
    struct Stop {
        SlowBus& bus;
        operator std::vector<int>() const {
            EXPECT_EQ(bus.publish(Sample{}, Priority::high), PublishResult::ok);
            EXPECT_EQ(bus.process(), 1U);
            EXPECT_EQ(bus.publish(Counted(1)), PublishResult::ok);
            return {};
        }
    };
    {
        SlowBus bus;
        EXPECT_EQ(bus.emplace<std::vector<int>>(Stop{bus}), PublishResult::ok);
        EXPECT_EQ(bus.process(1), 1U);
        EXPECT_EQ(bus.process(), 1U);
        EXPECT_EQ(bus.emplace<std::vector<int>>(Stop{bus}), PublishResult::ok);
        EXPECT_EQ(bus.process(1), 1U);
        EXPECT_EQ(Counted::alive, 1);
    }
    EXPECT_EQ(Counted::alive, 0) << "the destructor finds it, too";
}

// Nor is its place taken for a message when nothing is behind it.
TEST(BusPriorityTest, WhatWasTakenOutOfTurnIsNotWaitedFor) {
    using SlowBus = Bus<Messages<Sample, std::vector<int>>, DeepTraits<10>>;
    struct Stop {
        SlowBus& bus;
        operator std::vector<int>() const {
            EXPECT_EQ(bus.publish(Sample{}, Priority::high), PublishResult::ok);
            EXPECT_EQ(bus.process(), 1U);
            return {};
        }
    };
    for (const std::size_t max : {std::size_t{1}, unlimited}) {
        SlowBus bus;
        EXPECT_EQ(bus.emplace<std::vector<int>>(Stop{bus}), PublishResult::ok);
        EXPECT_EQ(bus.process(max), 1U);
        EXPECT_FALSE(bus.waitFor(std::chrono::nanoseconds(1)));
        EXPECT_EQ(bus.publish(Sample{}), PublishResult::ok);
        EXPECT_TRUE(bus.waitFor(std::chrono::hours(1)));
        EXPECT_EQ(bus.process(max), 1U);
    }
}

}  // namespace
}  // namespace sluice
