#include "unit/bus/bus_doubles.hpp"

#include "support/testing.hpp"

namespace sluice {
namespace {

using namespace test;

struct Weighted : DeepTraits<1000> {
    static constexpr PriorityOrder service = PriorityOrder::weighted;
    static constexpr std::array<std::size_t, priorityCount> weights{1, 2, 4};
};

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
                EXPECT_EQ(handled, 60);
                EXPECT_LE(wait, twiceTheOthers[static_cast<std::size_t>(newcomer)])
                    << toString(newcomer) << " behind " << toString(queued) << ", " << max
                    << " at a time";
            }
        }
    }
}

struct WeightedExpiring : Weighted {
    static constexpr bool expiry = true;
};

// Each expired message costs credit, or a low message would wait for all 100.
TEST(BusPriorityTest, WeightsBoundTheWaitBehindExpiredMessages) {
    Bus<TestMessages, WeightedExpiring> bus;
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(bus.publish(Sample{}, ExpiringOptions<>{{Priority::high}, {}}), SendResult::ok);
    }
    ASSERT_EQ(bus.publish(Sample{}, Priority::low), SendResult::ok);
    std::uint64_t wait = 0;
    EXPECT_EQ(bus.processWith(partial([&](Sample&) { wait = bus.statistics().total().expired; })),
              101U);
    EXPECT_EQ(wait, 4U);
}

}  // namespace
}  // namespace sluice
