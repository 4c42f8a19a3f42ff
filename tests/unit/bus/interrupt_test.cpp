#include "support/interrupting_platform.hpp"
#include "unit/bus/bus_doubles.hpp"

#include <sluice/base/single_core_platform.hpp>
#include <sluice/wait/spin_waits.hpp>

#include "support/testing.hpp"

// A bus on one processor: an interrupt comes in front of each access to an atomic variable in turn,
// and publishes.

namespace sluice {
namespace {

using namespace test;

struct InterruptedCore : SingleCorePlatform<ThisProgramRunsOnOneCore> {
    template <class T>
    using Atomic = InterruptedAtomic<T>;
};

template <class Base>
struct OneCore : Base {
    using Platform = InterruptedCore;
    using Wait = BasicBusySpin<InterruptedCore>;
};

template <class Traits>
class BusInterruptTest : public testing::Test {
protected:
    BusInterruptTest() { Interruption::isOnOneProcessor = true; }
    ~BusInterruptTest() override { Interruption::isOnOneProcessor = false; }

    struct Scene {
        Bus<TestMessages, Traits> bus;
        std::vector<int> seen;
        std::uint64_t attempts = 0;

        SendResult publish(int value, Priority priority) {
            ++attempts;
            return bus.publish(Sample{value}, priority);
        }
        void process(std::size_t max) {
            bus.processWith(partial([&](Sample& sample) { seen.push_back(sample.value); }), max);
        }
    };
};

using Policies = testing::Types<
    OneCore<DeepTraits<10>>,
    OneCore<OverflowTraits<Overflow::dropOldest, Overflow::dropOldest, Overflow::reject>>>;
TYPED_TEST_SUITE(BusInterruptTest, Policies);

TYPED_TEST(BusInterruptTest, MayPublishAtAnyPoint) {
    using Played = typename TestFixture::Scene;
    const auto goOn = [](Played& scene) {
        for (int i = 0; i < 10; ++i) {
            (void)scene.publish(i, i % 2 == 0 ? Priority::low : Priority::medium);
        }
        scene.process(3);
        (void)scene.publish(10, Priority::high);
        (void)scene.publish(11, Priority::low);
        scene.process(100);
    };
    const auto interrupt = [](Played& scene) {
        EXPECT_EQ(Interruption::locksHeld, 0);
        (void)scene.publish(100, Priority::low);
        (void)scene.publish(101, Priority::medium);
        (void)scene.publish(102, Priority::high);
    };
    const auto check = [](Played& scene) {
        scene.process(100);
        EXPECT_TRUE(areBalanced(scene.bus, scene.attempts));
        const MessageCounts total = scene.bus.statistics().total();
        EXPECT_EQ(total.delivered, scene.seen.size());
        EXPECT_EQ(total.published, total.delivered + total.dropped);
        EXPECT_EQ(scene.bus.sizeApprox(), 0U);
        std::sort(scene.seen.begin(), scene.seen.end());
        EXPECT_EQ(std::adjacent_find(scene.seen.begin(), scene.seen.end()), scene.seen.end())
            << "each once";
    };
    EXPECT_GT(
        interruptEverywhere([] { return std::make_unique<Played>(); }, goOn, interrupt, check),
        100U);
}

}  // namespace
}  // namespace sluice
