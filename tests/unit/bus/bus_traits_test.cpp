#include "unit/bus/bus_doubles.hpp"

#include <sluice/base/single_core_platform.hpp>
#include <sluice/wait/spin_waits.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

using namespace test;

struct OneProducer : FullBusTraits {
    [[maybe_unused]] static constexpr Producers producers = Producers::one;
};
struct Weighted : FullBusTraits {
    static constexpr PriorityOrder service = PriorityOrder::weighted;
};

struct Small : FullBusTraits {
    using Index = std::uint32_t;
    static constexpr std::size_t cacheLineSize = 4;
};

using OneCore = SingleCorePlatform<ThisProgramRunsOnOneCore>;
struct SingleCore : FullBusTraits {
    using Platform = OneCore;
    using Wait = BasicBusySpin<OneCore>;
};

/// Every message arrives, with any features switched off.
template <class Traits>
class BusModeTest : public testing::Test {};
using Modes = testing::Types<FullBusTraits, NoStatsBusTraits, BareBusTraits, OneProducer, Weighted,
                             Small, SingleCore>;
TYPED_TEST_SUITE(BusModeTest, Modes);

TYPED_TEST(BusModeTest, CarriesEveryTypeByEitherWay) {
    const auto bus = std::make_unique<TestBus<37, TypeParam>>();
    std::vector<int> seen;
    auto samples = bus->template subscribe<Sample>(
        [&](const Sample& sample) { seen.push_back(sample.value); });
    auto counted =
        bus->template subscribe<Counted>([&](const Counted& each) { seen.push_back(each.value); });
    std::vector<int> expected;
    for (int i = 0; i < 200; i += 2) {
        ASSERT_EQ(bus->publish(Sample{i}), SendResult::ok);
        ASSERT_EQ(bus->template emplace<Counted>(i + 1), SendResult::ok);
        expected.insert(expected.end(), {i, i + 1});
        if (i % 3 == 0) {
            EXPECT_NE(bus->process(), 0U);
        } else if (i % 3 == 1) {
            EXPECT_NE(bus->processWith(overload(
                          [&](Sample& sample) { seen.push_back(sample.value); },
                          [&](Counted& each) { seen.push_back(each.value); }, [](Alarm&) {})),
                      0U);
        }
    }
    bus->process();
    EXPECT_EQ(seen, expected);
    EXPECT_EQ(Counted::alive, 0);
}

// A feature that a mode leaves out takes no room.
static_assert(sizeof(TestBus<256, BareBusTraits>) < sizeof(TestBus<256, NoStatsBusTraits>));
static_assert(sizeof(TestBus<256, NoStatsBusTraits>) < sizeof(TestBus<256, FullBusTraits>));

}  // namespace
}  // namespace sluice
