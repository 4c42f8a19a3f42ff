#include "support/interrupting_platform.hpp"
#include "unit/bus/bus_doubles.hpp"

#include <sluice/wait/spin_waits.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

using namespace test;

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

}  // namespace
}  // namespace sluice
