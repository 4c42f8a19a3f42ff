#include "model/wait_without_fence.hpp"
#include "support/model/expectations.hpp"

#include <sluice/bus/bus.hpp>

#include "support/testing.hpp"

// Under the model checker: the changes that the observer of a bus is told add up to the pressure
// that holds.

namespace sluice::model {
namespace {

struct SumOfChanges : BusObserver {
    void pressureChanged(Pressure before, Pressure now) noexcept {
        sum.fetch_add(static_cast<int>(now) - static_cast<int>(before), relaxed);
    }
    Atomic<int> sum{0};
};
struct Watched : BareBusTraits {
    using Platform = ModelPlatform;
    using Wait = WaitWithoutFence;
    using Index = std::uint8_t;
    using Observer = SumOfChanges;
    static constexpr std::size_t depth = 2;
    static constexpr std::size_t maxHandlers = 1;
};
struct Number {
    int value;
};

void roomIsGivenBackAndTaken() {
    SumOfChanges told;
    Bus<Messages<Number>, Watched> bus(told);
    (void)bus.publish(Number{1});
    (void)bus.publish(Number{2});
    parallel([&] { (void)bus.processWith([](const Number&) {}, 1); },
             [&] { (void)bus.publish(Number{3}); });
    check(told.sum.load(relaxed) == static_cast<int>(bus.pressure()),
          "the observer knows the pressure that holds");
}

TEST(PressureNotifierModelTest, ObserverKnowsThePressureThatHolds) {
    EXPECT_TRUE(holds(roomIsGivenBackAndTaken, options({1, 1})));
    EXPECT_TRUE(holds(roomIsGivenBackAndTaken, options({2, 0})));
}

}  // namespace
}  // namespace sluice::model
