#include "support/crew.hpp"
#include "support/interrupting_platform.hpp"
#include "unit/bus/bus_doubles.hpp"

#include <sluice/wait/spin_waits.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using namespace test;

TEST(BusStatisticsTest, TellWhatBecameOfEachTypeAndPriority) {
    TestBus<8> bus;
    for (int i = 0; i < 8; ++i) {
        (void)bus.publish(Sample{}, Priority::low);
    }
    for (int i = 0; i < 6; ++i) {
        (void)bus.publish(Alarm{}, Priority::medium);
    }
    for (int i = 0; i < 3; ++i) {
        (void)bus.publish(Counted(1), Priority::high);
    }
    EXPECT_EQ(bus.process(7), 7U);
    bus.close();
    (void)bus.publish(Alarm{}, Priority::high);

    const auto statistics = bus.statistics();
    const MessageCounts low = statistics.of(0, Priority::low);
    EXPECT_EQ(low.published, 1U) << "the other one has not left";
    EXPECT_EQ(low.full, 6U);
    EXPECT_EQ(low.unhandled, 1U);
    EXPECT_EQ(statistics.ofPriority(Priority::low).published, 2U);
    EXPECT_EQ(statistics.ofPriority(Priority::low).queued(), 1U);
    const MessageCounts medium = statistics.of(1, Priority::medium);
    EXPECT_EQ(medium.published, 4U);
    EXPECT_EQ(medium.full, 2U);
    EXPECT_EQ(medium.unhandled, 4U);
    const MessageCounts high = statistics.of(2, Priority::high);
    EXPECT_EQ(high.published, 2U);
    EXPECT_EQ(high.full, 1U);
    EXPECT_EQ(high.unhandled, 2U);
    EXPECT_EQ(statistics.of(1, Priority::high).closed, 1U);
    EXPECT_EQ(statistics.ofType(1).attempted(), 7U);
    EXPECT_EQ(statistics.ofPriority(Priority::high).rejected(), 2U);
    EXPECT_EQ(statistics.highWater, 4U);
    EXPECT_EQ(statistics.times[0].count, 1U);
    EXPECT_EQ(statistics.times[1].count, 4U);
    EXPECT_EQ(statistics.times[2].count, 2U);
    EXPECT_TRUE(areBalanced(bus, 18));
}

struct NoPriorities : DeepTraits<10> {
    static constexpr bool priorities = false;
};

TEST(BusStatisticsTest, WithoutPrioritiesAllIsMedium) {
    Bus<TestMessages, NoPriorities> bus;
    ASSERT_EQ(bus.publish(Sample{}, PublishOptions{Priority::high}), SendResult::ok);
    bus.process();
    const MessageCounts medium = bus.statistics().of(0, Priority::medium);
    EXPECT_EQ(medium.published, 1U);
    EXPECT_EQ(medium.unhandled, 1U);
    EXPECT_EQ(bus.statistics().ofPriority(Priority::high).published, 0U);
}

// For each priority, each batch size of the consumer, and each depth of the bus.
TEST(BusStatisticsTest, HighWaterIsExactAtRest) {
    for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
        for (const std::size_t atATime : {std::size_t{1}, std::size_t{3}, unlimited}) {
            auto bus = std::make_unique<TestBus<4096>>();
            for (const std::size_t count : {1U, 2U, 64U, 65U, 66U, 100U, 1000U, 900U}) {
                for (std::size_t i = 0; i < count; ++i) {
                    ASSERT_EQ(bus->publish(Sample{}, priority), SendResult::ok);
                }
                const std::size_t highest = std::max<std::size_t>(count, count == 900 ? 1000 : 0);
                EXPECT_NE(bus->process(atATime), 0U);
                EXPECT_EQ(bus->statistics().highWater, highest);
                while (bus->process(atATime) != 0) {
                }
                EXPECT_EQ(bus->statistics().highWater, highest);
            }
        }
    }
}

// The consumer does not look again at the messages that its harvest left. Later ones lie behind
// them.
TEST(BusStatisticsTest, HighWaterIsExactAlsoWhenTheConsumerLeavesSomething) {
    for (const Priority first : {Priority::medium, Priority::high}) {
        for (const std::size_t most : {std::size_t{1}, std::size_t{7}, std::size_t{30}}) {
            auto bus = std::make_unique<TestBus<4096>>();
            const auto publish = [&](std::size_t count, Priority priority) {
                for (std::size_t i = 0; i < count; ++i) {
                    ASSERT_EQ(bus->publish(Sample{}, priority), SendResult::ok);
                }
            };
            publish(40, Priority::medium);
            publish(1, first);
            EXPECT_EQ(bus->process(most), most);
            publish(50, Priority::medium);
            EXPECT_EQ(bus->process(most), most);
            EXPECT_EQ(bus->statistics().highWater, 91 - most);
            while (bus->process(most) != 0) {
            }
            EXPECT_EQ(bus->statistics().highWater, 91 - most);
        }
    }
}

/// Its copy constructor calls `look`, which reads the accounts while the bus copies the message.
struct Observed {
    explicit Observed(std::function<void()> f) : look(std::move(f)) {}
    Observed(const Observed& other) : look(other.look) {
        if (look) {
            look();
        }
    }
    Observed& operator=(const Observed&) = delete;
    std::function<void()> look;
};

// The first message of a range is handled before the second one has been copied.
TEST(BusStatisticsTest, NothingIsDeliveredThatWasNotPublished) {
    Bus<Messages<Observed>, DeepTraits<100>> bus;
    std::vector<Observed> range;
    range.reserve(2);
    bool hasLooked = false;
    range.emplace_back(nullptr);
    range.emplace_back([&] {
        EXPECT_EQ(bus.process(), 1U);
        const MessageCounts total = bus.statistics().total();
        EXPECT_EQ(total.unhandled, 1U);
        EXPECT_EQ(total.published, 2U) << "the second one is being built";
        hasLooked = true;
    });
    EXPECT_EQ(bus.publishAll(range.begin(), range.end()), 2U);
    EXPECT_TRUE(hasLooked);
}

template <Producers Publishers>
struct InterruptedRing : NoPriorities {
    using Platform = InterruptingPlatform;
    using Wait = BasicBusySpin<InterruptingPlatform>;
    static constexpr Producers producers = Publishers;
};

// Messages that pass through while somebody counts were not all there at once.
template <Producers Publishers>
void expectHighWaterWithoutThosePassing() {
    using TheBus = Bus<TestMessages, InterruptedRing<Publishers>>;
    const auto sendOn = [](TheBus& bus) {
        for (int i = 0; i < 2; ++i) {
            EXPECT_EQ(bus.process(1), 1U);
            EXPECT_EQ(bus.publish(Sample{}), SendResult::ok);
        }
    };
    const auto make = [] {
        auto bus = std::make_unique<TheBus>();
        EXPECT_EQ(bus->publish(Sample{}), SendResult::ok);
        EXPECT_EQ(bus->publish(Sample{}), SendResult::ok);
        return bus;
    };
    const auto check = [](const TheBus& bus) { EXPECT_EQ(bus.statistics().highWater, 2U); };
    EXPECT_GT(
        interruptEverywhere(
            make, [](TheBus& bus) { EXPECT_EQ(bus.statistics().highWater, 2U); }, sendOn, check),
        0U);
    if constexpr (Publishers == Producers::many) {
        const auto checkThree = [](const TheBus& bus) {
            EXPECT_EQ(bus.statistics().highWater, 3U);
        };
        EXPECT_GT(interruptEverywhere(
                      make, [](TheBus& bus) { EXPECT_EQ(bus.publish(Sample{}), SendResult::ok); },
                      sendOn, checkThree),
                  0U);
    }
}
TEST(BusStatisticsTest, HighWaterOfARingCountsNoneThatPassThrough) {
    expectHighWaterWithoutThosePassing<Producers::many>();
    expectHighWaterWithoutThosePassing<Producers::one>();
}

TEST(BusStatisticsTest, MessagesThatPassWhileSomebodyCountsAreNotQueued) {
    using TheBus = Bus<TestMessages, InterruptedRing<Producers::many>>;
    const auto passOn = [](TheBus& bus) {
        for (std::size_t i = 0; i < 2 * TheBus::capacity(); ++i) {
            EXPECT_EQ(bus.publish(Sample{}), SendResult::ok);
            EXPECT_EQ(bus.process(1), 1U);
        }
    };
    const auto count = [](TheBus& bus) {
        EXPECT_LE(bus.statistics().total().queued(), TheBus::capacity());
    };
    const auto check = [](const TheBus& bus) { EXPECT_EQ(bus.statistics().total().queued(), 0U); };
    EXPECT_GT(interruptEverywhere([] { return std::make_unique<TheBus>(); }, count, passOn, check),
              0U);
}

#if defined(__cpp_exceptions)
TEST(BusStatisticsTest, VisitorThatThrowsEndsTheHarvestAndNotTheAccounts) {
    TestBus<10> bus;
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(bus.publish(Sample{i}), SendResult::ok);
    }
    const auto visit = partial([](Sample& sample) {
        if (sample.value == 1) {
            throw 1;
        }
    });
    EXPECT_THROW(bus.processWith(visit), int);
    EXPECT_EQ(bus.statistics().of(0, Priority::medium).delivered, 2U);
    EXPECT_EQ(bus.statistics().of(0, Priority::medium).failed, 1U);
    EXPECT_EQ(bus.statistics().times[1].count, 2U);
}
#endif

}  // namespace
}  // namespace sluice
