#include "unit/bus/bus_doubles.hpp"

#include "support/testing.hpp"

// What each priority loses while nobody consumes, beside MCCC's AsyncBus: one ring for all, which
// admits low below 60 % of its depth, medium below 80 %, and high below 99 %.

namespace sluice {
namespace {

using namespace test;

using Counts = std::array<std::size_t, priorityCount>;  // of low, medium, high

template <std::size_t Depth>
struct OfDepth : FullBusTraits {
    static constexpr std::size_t depth = Depth;
};
template <std::size_t Depth>
using OverloadedBus = Bus<TestMessages, OfDepth<Depth>>;

template <std::size_t Depth>
Counts lostByMccc(const std::vector<Priority>& messages) {
    constexpr Counts thresholds{Depth * 60 / 100, Depth * 80 / 100, Depth * 99 / 100};
    Counts lost{};
    std::size_t used = 0;
    for (const Priority each : messages) {
        const bool isAdmitted = used < thresholds[detail::indexOf(each)];
        ++(isAdmitted ? used : lost[detail::indexOf(each)]);
    }
    return lost;
}

template <class AnyBus>
Counts lostBy(AnyBus& bus, const std::vector<Priority>& messages) {
    Counts lost{};
    for (const Priority each : messages) {
        const bool isAdmitted = bus.publish(Sample{}, each) == SendResult::ok;
        lost[detail::indexOf(each)] += isAdmitted ? 0 : 1;
    }
    return lost;
}

/// `count` messages of this mix in bursts: in each of `bursts` parts, the priorities in this order.
std::vector<Priority> mixed(const Counts& percent, std::size_t count, std::size_t bursts,
                            const std::array<Priority, priorityCount>& order) {
    std::vector<Priority> all;
    Counts sent{};
    for (std::size_t i = 1; i <= bursts; ++i) {
        for (const Priority each : order) {
            const std::size_t level = detail::indexOf(each);
            for (; sent[level] < count * percent[level] / 100 * i / bursts; ++sent[level]) {
                all.push_back(each);
            }
        }
    }
    return all;
}

TEST(BusOverloadTest, NoPriorityLosesMoreThanInASharedRingInAnyMix) {
    constexpr std::size_t depth = 1000;
    const auto bus = std::make_unique<OverloadedBus<depth>>();
    for (std::size_t low = 0; low <= 100; low += 10) {
        for (std::size_t medium = 0; low + medium <= 100; medium += 10) {
            std::array<Priority, priorityCount> order{Priority::low, Priority::medium,
                                                      Priority::high};
            do {
                for (const std::size_t bursts : {1U, 7U, 500U}) {
                    const auto messages =
                        mixed({low, medium, 100 - low - medium}, 1500, bursts, order);
                    const Counts lost = lostBy(*bus, messages);
                    const Counts others = lostByMccc<depth>(messages);
                    for (std::size_t i = 0; i < priorityCount; ++i) {
                        ASSERT_LE(lost[i], others[i]) << low << '/' << medium << ", " << i;
                    }
                    EXPECT_EQ(bus->discard() + lost[0] + lost[1] + lost[2], messages.size());
                }
            } while (std::next_permutation(order.begin(), order.end()));
        }
    }
}

// The published experiment: 150,000 messages, half of them low, 30 % medium, 20 % high.
TEST(BusOverloadTest, ThePublishedMixLosesNothing) {
    constexpr std::size_t depth = 131072;
    const auto bus = std::make_unique<OverloadedBus<depth>>();
    const auto messages =
        mixed({50, 30, 20}, 150000, 15000, {Priority::high, Priority::medium, Priority::low});
    EXPECT_EQ(lostByMccc<depth>(messages), (Counts{35680, 5679, 0}));
    EXPECT_EQ(lostBy(*bus, messages), Counts{});
    EXPECT_EQ(bus->pressure(), Pressure::critical) << "95 % of the room of low";
    EXPECT_TRUE(areBalanced(*bus, 150000));

    Counts delivered{};
    Priority last = Priority::high;
    while (bus->processWith(partial([&](Sample&, const auto& header) {
        ++delivered[detail::indexOf(header.priority)];
        EXPECT_LE(header.priority, last);
        last = header.priority;
    })) != 0) {
    }
    EXPECT_EQ(delivered, (Counts{75000, 45000, 30000}));
}

}  // namespace
}  // namespace sluice
