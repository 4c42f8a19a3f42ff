#include "support/crew.hpp"
#include "support/interrupting_platform.hpp"
#include "unit/bus/bus_doubles.hpp"

#include <sluice/wait/busy_spin.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using namespace test;

template <class Base = FullBusTraits>
struct LaneTraits : DeepTraits<10, Base> {
    static constexpr std::size_t lanes = 2;
    static constexpr std::size_t laneDepth = 10;
};
using LaneBus = Bus<TestMessages, LaneTraits<>>;

struct Weighted : LaneTraits<> {
    static constexpr Service service = Service::weighted;
    static constexpr std::array<std::size_t, priorityCount> weights{1, 1, 1};
};
struct ManyLanes : DeepTraits<16> {
    using Index = std::uint8_t;
    static constexpr std::size_t lanes = 9;
    static constexpr std::size_t laneDepth = 16;
};
struct DeepLanes : FullBusTraits {
    static constexpr std::size_t lanes = 2;
};
struct Blocking : LaneTraits<> {
    static constexpr std::array<BusOverflow, priorityCount> overflow{
        BusOverflow::block, BusOverflow::block, BusOverflow::block};
};

static_assert(!std::is_copy_constructible_v<LaneBus::Producer>);
static_assert(std::is_nothrow_move_constructible_v<LaneBus::Producer>);

TEST(BusProducerTest, PublishesInEveryWay) {
    LaneBus bus;
    auto producer = bus.producer();
    ASSERT_TRUE(producer);
    const Sample sample{1};
    EXPECT_EQ(producer.publish(sample), PublishResult::ok);
    EXPECT_EQ(producer.publish(Sample{2}, Priority::medium), PublishResult::ok);
    EXPECT_EQ(producer.publish(Sample{3}, PublishOptions{Priority::medium, 7}), PublishResult::ok);
    EXPECT_EQ(producer.emplace<Sample>(4), PublishResult::ok);
    EXPECT_EQ(producer.emplaceWith<Sample>(PublishOptions{}, 5), PublishResult::ok);
    const std::vector<Sample> range{{6}, {7}};
    EXPECT_EQ(producer.publishAll(range.begin(), range.end()), 2U);
    std::vector<int> values;
    std::vector<std::uint64_t> ids;
    bus.processWith(partial([&](Sample& each, const LaneBus::Header& header) {
        values.push_back(each.value);
        ids.push_back(header.id);
        EXPECT_EQ(header.sender, each.value == 3 ? 7U : 0U);
    }));
    EXPECT_EQ(values, (std::vector<int>{1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(ids, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6}));
    EXPECT_TRUE(areBalanced(bus, 7));
}

TEST(BusProducerTest, IsEmptyWhenAllLanesAreTaken) {
    LaneBus bus;
    auto first = bus.producer();
    auto second = bus.producer();
    EXPECT_TRUE(first.isOpen());
    EXPECT_TRUE(second.isOpen());
    EXPECT_FALSE(bus.producer());
    EXPECT_FALSE(LaneBus::Producer());
    first.close();
    first.close();
    EXPECT_FALSE(first);
    second = bus.producer();
    EXPECT_TRUE(second) << "it had the lane that was free, and has let go of its own";
    EXPECT_TRUE(bus.producer());
    const LaneBus::Producer third = std::move(second);
    EXPECT_TRUE(third);
}

TEST(BusProducerTest, LaneGoesOnBehindWhatItsFormerOwnerLeft) {
    LaneBus bus;
    for (int i = 0; i < 5; ++i) {
        auto producer = bus.producer();
        ASSERT_EQ(producer.publish(Sample{i}), PublishResult::ok);
    }
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(BusProducerTest, HighOvertakesWhicheverWayItCame) {
    LaneBus bus;
    auto producer = bus.producer();
    auto other = bus.producer();
    ASSERT_EQ(bus.publish(Sample{30}, Priority::low), PublishResult::ok);
    ASSERT_EQ(producer.publish(Sample{31}, Priority::low), PublishResult::ok);
    ASSERT_EQ(other.publish(Sample{20}, Priority::medium), PublishResult::ok);
    ASSERT_EQ(producer.publish(Sample{10}, Priority::high), PublishResult::ok);
    std::vector<int> order;
    bus.processWith(partial([&](Sample& sample) {
        order.push_back(sample.value / 10);
        if (sample.value == 20) {
            ASSERT_EQ(other.publish(Sample{11}, Priority::high), PublishResult::ok);
            ASSERT_EQ(bus.publish(Sample{12}, Priority::high), PublishResult::ok);
        }
    }));
    EXPECT_EQ(order, (std::vector<int>{1, 2, 1, 1, 3, 3}));
}

// More urgent messages than half the range of the Index type.
TEST(BusProducerTest, HighOvertakesHoweverManyAnnounceThemselves) {
    const auto bus = std::make_unique<Bus<TestMessages, ManyLanes>>();
    for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(bus->publish(Sample{2}, Priority::medium), PublishResult::ok);
    }
    ASSERT_EQ(bus->publish(Sample{1}, Priority::high), PublishResult::ok);
    ASSERT_EQ(bus->process(1), 1U);
    std::vector<Bus<TestMessages, ManyLanes>::Producer> producers;
    std::size_t accepted = 0;
    for (std::size_t i = 0; i < ManyLanes::lanes; ++i) {
        PublishResult result = PublishResult::ok;
        producers.push_back(bus->producer());
        accepted += fillUp(producers.back(), Priority::high, result);
    }
    ASSERT_GT(accepted, 128U);
    const std::vector<int> values = takeSamples(*bus);
    EXPECT_EQ(values.size(), accepted + 2);
    EXPECT_EQ(std::find(values.begin(), values.end(), 2) - values.begin(),
              static_cast<std::ptrdiff_t>(accepted));
}

// A handler fills one gate again after each message, but does not keep the consumer from the other.
TEST(BusProducerTest, FloodThroughOneGateDoesNotStarveAnother) {
    for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
        for (const std::size_t atATime : {std::size_t{1}, std::size_t{5}, unlimited}) {
            const auto bus = std::make_unique<Bus<TestMessages, DeepLanes>>();
            auto flood = bus->producer();
            auto quiet = bus->producer();
            PublishResult result = PublishResult::ok;
            const std::size_t held = fillUp(flood, priority, result);
            ASSERT_EQ(quiet.publish(Sample{1}, priority), PublishResult::ok);
            ASSERT_EQ(bus->publish(Sample{1}, priority), PublishResult::ok);
            std::size_t before = 0;
            int found = 0;
            while (found != 2) {
                bus->processWith(partial([&](Sample& sample) {
                                     found += sample.value;
                                     before += found == 2 ? 0 : 1;
                                     (void)fillUp(flood, priority, result);
                                 }),
                                 atATime);
                ASSERT_LE(before, held + 1) << toString(priority);
            }
        }
    }
}

// The bound that the documentation tells.
TEST(BusProducerTest, ConsumerStaysAtAGateForNineMessagesAnd64More) {
    const auto bus = std::make_unique<Bus<TestMessages, DeepLanes>>();
    auto flood = bus->producer();
    auto quiet = bus->producer();
    PublishResult result = PublishResult::ok;
    ASSERT_GT(fillUp(flood, Priority::medium, result), 73U);
    ASSERT_EQ(quiet.publish(Sample{1}), PublishResult::ok);
    const std::vector<int> values = takeSamples(*bus);
    EXPECT_LE(std::find(values.begin(), values.end(), 1) - values.begin(), 73);
}

TEST(BusProducerTest, WeightsHoldWhicheverWayMessagesCame) {
    Bus<TestMessages, Weighted> bus;
    auto producer = bus.producer();
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(producer.publish(Sample{1}, Priority::low), PublishResult::ok);
        ASSERT_EQ(bus.publish(Sample{2}, Priority::medium), PublishResult::ok);
    }
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{2, 1, 2, 1, 2, 1}));
}

// Each lane lets in by its own depth, whatever the other ways into the bus hold.
TEST(BusProducerTest, AdmissionIsExactInEachLane) {
    LaneBus bus;
    auto producer = bus.producer();
    auto other = bus.producer();
    PublishResult result = PublishResult::ok;
    EXPECT_EQ(fillUp(producer, Priority::low, result), 6U);
    EXPECT_EQ(result, PublishResult::refused);
    EXPECT_EQ(producer.pressure(), Pressure::warning);
    EXPECT_EQ(other.pressure(), Pressure::normal);
    EXPECT_EQ(bus.pressure(), Pressure::warning);
    EXPECT_EQ(fillUp(producer, Priority::medium, result), 2U);
    EXPECT_EQ(producer.pressure(), Pressure::critical);
    EXPECT_EQ(fillUp(producer, Priority::high, result), 1U);
    EXPECT_EQ(result, PublishResult::full);
    EXPECT_EQ(bus.pressure(), Pressure::full);
    EXPECT_EQ(fillUp(other, Priority::high, result), 9U);
    EXPECT_EQ(fillUp(bus, Priority::low, result), 6U);
    EXPECT_EQ(fillUp(bus, Priority::high, result), 3U);
    EXPECT_EQ(bus.sizeApprox(), 27U);
    EXPECT_EQ(bus.sizeApprox(), bus.capacity());
    EXPECT_EQ(producer.limitOf(Priority::low), 6U);
    EXPECT_EQ(bus.statistics().highWater, 9U);
    EXPECT_TRUE(areBalanced(bus, 27 + 6));
    EXPECT_EQ(bus.process(1), 1U);
    EXPECT_EQ(bus.pressure(), Pressure::full) << "the other lane";
    while (bus.process() != 0) {
    }
    EXPECT_EQ(bus.pressure(), Pressure::normal);
    EXPECT_EQ(producer.publish(Sample{}, Priority::low), PublishResult::ok);
}

TEST(BusProducerTest, CloseEndsAllLanes) {
    LaneBus bus;
    auto producer = bus.producer();
    ASSERT_EQ(producer.publish(Sample{1}), PublishResult::ok);
    bus.close();
    EXPECT_EQ(producer.publish(Sample{2}), PublishResult::closed);
    EXPECT_TRUE(producer.isOpen());
    auto late = bus.producer();
    EXPECT_EQ(late.publish(Sample{3}), PublishResult::closed);
    EXPECT_FALSE(bus.isDrained());
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{1}));
    EXPECT_TRUE(bus.isDrained());
    EXPECT_EQ(bus.statistics().total().closed, 2U);
    EXPECT_TRUE(areBalanced(bus, 3));
}

TEST(BusProducerTest, WhatIsLeftInALaneIsDestroyedWithTheBus) {
    {
        LaneBus bus;
        auto producer = bus.producer();
        ASSERT_EQ(producer.emplace<Counted>(1), PublishResult::ok);
        ASSERT_EQ(producer.emplaceWith<Counted>({Priority::high}, 2), PublishResult::ok);
        EXPECT_EQ(Counted::alive, 2);
    }
    EXPECT_EQ(Counted::alive, 0);
}

// Each time the consumer finds more at one gate than it looks for at once.
TEST(BusProducerTest, HighWaterIsThatOfTheFullestLane) {
    const auto bus = std::make_unique<Bus<TestMessages, DeepLanes>>();
    auto producer = bus->producer();
    auto other = bus->producer();
    const auto publish = [](auto& to, int count) {
        for (int i = 0; i < count; ++i) {
            ASSERT_EQ(to.publish(Sample{i}), PublishResult::ok);
        }
    };
    publish(*bus, 65);
    publish(producer, 70);
    publish(other, 80);
    EXPECT_EQ(bus->process(), 215U);
    EXPECT_EQ(bus->statistics().highWater, 80U);
    publish(producer, 90);
    EXPECT_EQ(bus->process(1), 1U);
    publish(producer, 10);
    EXPECT_EQ(bus->process(), 99U);
    EXPECT_EQ(bus->statistics().highWater, 99U);
}

// Together the lanes hold more than the depth of the bus.
TEST(BusProducerTest, OneHarvestTakesWhatIsInAllLanes) {
    LaneBus bus;
    auto producer = bus.producer();
    auto other = bus.producer();
    const auto fillAll = [&] {
        PublishResult result = PublishResult::ok;
        return fillUp(producer, Priority::high, result) + fillUp(other, Priority::high, result) +
               fillUp(bus, Priority::high, result);
    };
    EXPECT_EQ(fillAll(), 27U);
    EXPECT_EQ(bus.process(), 27U);
    EXPECT_EQ(fillAll(), 27U);
    EXPECT_EQ(bus.discard(), 27U);
    EXPECT_EQ(bus.sizeApprox(), 0U);
    EXPECT_TRUE(areBalanced(bus, 54 + 6));
}

TEST(BusProducerTest, BlocksForRoomInItsLane) {
    Bus<TestMessages, Blocking> bus;
    Crew crew;
    crew.add([&] {
        auto producer = bus.producer();
        for (int i = 0; i < 100; ++i) {
            EXPECT_EQ(producer.publish(Sample{i}), PublishResult::ok);
        }
        bus.close();
    });
    std::vector<int> values;
    crew.add([&] { bus.runWith(partial([&](Sample& each) { values.push_back(each.value); })); });
    crew.start();
    crew.join();
    ASSERT_EQ(values.size(), 100U);
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
}

#if !defined(NDEBUG) && defined(GTEST_HAS_DEATH_TEST)
struct Sole : DeepTraits<8> {
    using Platform = InterruptingPlatform;
    using Wait = BasicBusySpin<InterruptingPlatform>;
    static constexpr Producers producers = Producers::one;
};

TEST(BusProducerDeathTest, SecondPublisherIsNoticedWhereThereIsToBeOne) {
    const auto publish = [](auto& bus) { (void)bus.publish(Sample{}); };
    const auto publishDuringPublication = [&] {
        (void)interruptEverywhere([] { return std::make_unique<Bus<TestMessages, Sole>>(); },
                                  publish, publish, [](const auto&) {});
    };
    EXPECT_DEATH(publishDuringPublication(), "a second publisher on a bus or a lane for one");
}

TEST(BusProducerDeathTest, ProducerWithoutALaneIsNoticed) {
    LaneBus::Producer none;
    EXPECT_DEATH((void)none.publish(Sample{}), "a producer without a lane publishes");
}
#endif

// Two producers and the bus itself, all priorities, against what each has sent: its order within a
// priority, and all of it.
template <class Traits>
class BusLanesTest : public testing::Test {};
struct SoleLanes : LaneTraits<> {
    static constexpr Producers producers = Producers::one;
};
struct WrappingLanes : LaneTraits<> {
    using Index = std::uint16_t;
    static constexpr std::uint64_t firstPosition = 65534 - 100;
};
using Shapes =
    testing::Types<LaneTraits<>, LaneTraits<NoStatsBusTraits>, Weighted, SoleLanes, WrappingLanes>;
TYPED_TEST_SUITE(BusLanesTest, Shapes);

TYPED_TEST(BusLanesTest, KeepTheOrderOfEachProducerAndPriority) {
    constexpr std::uint32_t messages = 20000;
    Bus<Messages<std::uint32_t>, TypeParam> bus;
    auto first = bus.producer();
    auto second = bus.producer();
    const auto produce = [](auto& to, std::uint32_t sender) {
        std::minstd_rand random(sender + 1);
        for (std::uint32_t i = 0; i < messages; ++i) {
            const auto priority = static_cast<Priority>(random() % priorityCount);
            while (to.publish(i, PublishOptions{priority, sender}) != PublishResult::ok) {
                std::this_thread::yield();
            }
        }
    };
    std::array<std::array<std::int64_t, priorityCount>, 3> last{};
    for (auto& each : last) {
        each.fill(-1);
    }
    Crew crew;
    crew.add([&] { produce(first, 0); });
    crew.add([&] { produce(second, 1); });
    crew.add([&] { produce(bus, 2); });
    crew.add([&] {
        const auto check = [&](std::uint32_t number, const auto& header) {
            auto& before = last[header.sender][static_cast<std::size_t>(header.priority)];
            EXPECT_LT(before, std::int64_t{number});
            before = number;
        };
        for (std::size_t delivered = 0; delivered != 3 * std::size_t{messages};) {
            const std::size_t harvested = bus.processWith(check);
            delivered += harvested;
            if (harvested == 0) {
                std::this_thread::yield();
            }
        }
    });
    crew.start();
    crew.join();
    EXPECT_EQ(bus.sizeApprox(), 0U);
}

// More threads than lanes, which go from one to the next while they are served.
TYPED_TEST(BusLanesTest, ChangeHandsAndEnd) {
    constexpr std::uint32_t threads = 3;
    constexpr std::uint32_t turns = 300;
    Bus<Messages<std::uint32_t>, TypeParam> bus;
    std::atomic<std::uint64_t> accepted{0};
    std::atomic<std::uint32_t> ended{0};
    Crew crew;
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
        crew.add([&, thread] {
            std::uint32_t number = 0;
            for (std::uint32_t turn = 0; turn < turns;) {
                auto producer = bus.producer();
                if (!producer) {
                    std::this_thread::yield();
                    continue;
                }
                const std::uint32_t sender = thread * turns + turn++;
                for (std::uint32_t i = 0; i < sender % 7; ++i) {
                    const auto priority = static_cast<Priority>(++number % priorityCount);
                    accepted +=
                        producer.publish(i, PublishOptions{priority, sender}) == PublishResult::ok
                            ? 1
                            : 0;
                }
            }
            if (++ended == threads) {
                bus.close();
            }
        });
    }
    std::uint64_t delivered = 0;
    crew.add([&] {
        std::vector<std::array<std::int64_t, priorityCount>> last(std::size_t{threads} * turns,
                                                                  {-1, -1, -1});
        bus.runWith([&](std::uint32_t number, const auto& header) {
            auto& before = last.at(header.sender)[static_cast<std::size_t>(header.priority)];
            EXPECT_LT(before, std::int64_t{number});
            before = number;
            ++delivered;
        });
    });
    crew.start();
    crew.join();
    EXPECT_EQ(delivered, accepted);
    EXPECT_TRUE(bus.isDrained());
}

// Producers go on until they hear that the bus is closed; drain() waits for what they got in.
TYPED_TEST(BusLanesTest, AcceptNothingOnceDrained) {
    for (int round = 0; round < 30; ++round) {
        Bus<Messages<std::uint32_t>, TypeParam> bus;
        std::atomic<std::uint64_t> accepted{0};
        std::atomic<std::uint64_t> delivered{0};
        std::atomic<bool> isDrained{false};
        const auto produce = [&](auto& to) {
            for (PublishResult result{}; result != PublishResult::closed;) {
                const bool isLate = isDrained;
                result = to.publish(1U, Priority::low);
                if (result == PublishResult::ok) {
                    EXPECT_FALSE(isLate);
                    ++accepted;
                } else {
                    std::this_thread::yield();
                }
            }
        };
        Crew crew;
        for (int i = 0; i < 2; ++i) {
            crew.add([&] {
                auto producer = bus.producer();
                produce(producer);
            });
        }
        crew.add([&] { produce(bus); });
        crew.add([&] { bus.runWith([&](std::uint32_t count) { delivered += count; }); });
        crew.start();
        EXPECT_TRUE(bus.drain(std::chrono::steady_clock::now() + std::chrono::minutes(1)));
        isDrained = true;
        const std::uint64_t before = delivered;
        crew.join();
        EXPECT_EQ(delivered, before);
        EXPECT_EQ(delivered, accepted);
    }
}

}  // namespace
}  // namespace sluice
