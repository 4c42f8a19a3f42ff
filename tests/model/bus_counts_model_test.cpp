#include "model/wait_without_fence.hpp"
#include "support/model/expectations.hpp"

#include <sluice/base/counter.hpp>
#include <sluice/bus/drop_oldest.hpp>

#include "support/testing.hpp"

// The counts of the bus as shipped, under the model checker: a thread reads them while others
// publish, consume, drop and throw.

namespace sluice::model {
namespace {

/// A reader that finds the second count also finds the first one, which came before it.
void laterCountCarriesTheEarlierOne() {
    SingleWriterCounter<ModelPlatform> first;
    SingleWriterCounter<ModelPlatform> second;
    parallel(
        [&] {
            const std::uint64_t later = second.get();
            check(first.get() >= later, "the first count comes before the second");
        },
        [&] { first.add(1); },
        [&] {
            if (first.get() == 1) {
                second.add(1);
            }
        });
}

/// One stripe of counters instead of four, for fewer variables.
struct OneStripe : ModelPlatform {
    static constexpr bool hasThreads = false;
};
struct CountedTraits : BareBusTraits {
    using Platform = OneStripe;
    using Wait = WaitWithoutFence;
    using Index = std::uint8_t;
    static constexpr std::uint64_t firstPosition = 254;
    static constexpr bool statistics = true;
    static constexpr std::size_t depth = 2;
    static constexpr std::size_t maxHandlers = 1;
};
struct Number {
    int value;
};

/// The counts of a moment: no more messages are published than the scenario publishes. If a message
/// left before it was published, `queued` would be the room.
template <class AnyBus>
void checkCounts(const AnyBus& bus, std::uint64_t published) {
    check(bus.statistics().total().published <= published,
          "no message left before it was published");
}

void deliveredWasPublished() {
    Bus<Messages<Number>, CountedTraits> bus;
    parallel([&] { (void)bus.publish(Number{1}); },
             [&] { (void)bus.processWith([](const Number&) {}); }, [&] { checkCounts(bus, 1); });
    check(bus.statistics().total().published == 1, "it is counted");
}

struct DroppingTraits : CountedTraits {
    static constexpr bool priorities = true;
    static constexpr std::array<std::size_t, priorityCount> rooms{1, 1, 1};
    static constexpr std::array<Overflow, priorityCount> overflow{
        Overflow::reject, Overflow::dropOldest, Overflow::reject};
};

void droppedWasPublished() {
    Bus<Messages<Number>, DroppingTraits> bus;
    parallel([&] { (void)bus.publish(Number{0}), (void)bus.publish(Number{1}); },
             [&] { checkCounts(bus, 2); });
    const MessageCounts total = bus.statistics().total();
    check(total.published == 2 && total.dropped == 1 && total.queued() == 1, "all is counted");
}

#if defined(__cpp_exceptions)
struct Thrower {
    Thrower() { throw std::runtime_error("not made"); }
};

void thrownIsNotPublished() {
    Bus<Messages<Thrower>, CountedTraits> bus;
    parallel(
        [&] {
            try {
                (void)bus.emplace<Thrower>();
            } catch (const std::runtime_error&) {
            }
        },
        [&] { checkCounts(bus, 1); });
    check(bus.statistics().total().attempted() == 0, "it was no attempt");
}
#endif

Scenarios all() {
    return {
        {deliveredWasPublished, {1, 1}}, {droppedWasPublished, {1, 1}},
#if defined(__cpp_exceptions)
        {
            thrownIsNotPublished, {
                1, 1
            }
        }
#endif
    };
}

TEST(BusCountsModelTest, NoMessageLeavesBeforeItIsPublished) {
    EXPECT_TRUE(holds(laterCountCarriesTheEarlierOne));
    EXPECT_TRUE(holds(deliveredWasPublished, options({1, 1})));
    EXPECT_TRUE(holds(droppedWasPublished, options({1, 1})));
#if defined(__cpp_exceptions)
    EXPECT_TRUE(holds(thrownIsNotPublished, options({1, 1})));
#endif
}

TEST(BusCountsModelTest, EveryOrderIsNeeded) {
    EXPECT_TRUE(survive({}, ordersOf("counter.hpp", {}, {laterCountCarriesTheEarlierOne})));
    EXPECT_TRUE(survive({}, ordersOf("bus_counts.hpp", options({1, 1}), all())));
}

}  // namespace
}  // namespace sluice::model
