#include "unit/bus/bus_doubles.hpp"

#include <sluice/bus/static_component.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>
#if defined(__cpp_exceptions)
#include <stdexcept>
#endif

namespace sluice {
namespace {

using namespace test;
using SmallBus = TestBus<10>;
using Log = std::vector<std::string>;

/// One type with its header, one without, one not at all.
class Recorder : public StaticComponent<Recorder> {
public:
    using Handles = Messages<Alarm, Sample>;

    void handle(const Sample& sample) { log.push_back(std::to_string(sample.value)); }
    void handle(const Alarm& alarm, const SmallBus::Header& header) {
        log.push_back(alarm.text + " " + toString(header.priority));
    }

    Log log;
};

TEST(BusStaticComponentTest, HandlesWhatItDeclaresAndSkipsTheRest) {
    SmallBus bus;
    Recorder recorder;
    ASSERT_EQ(bus.publish(Sample{1}), SendResult::ok);
    ASSERT_EQ(bus.publish(Counted(2)), SendResult::ok);
    ASSERT_EQ(bus.publish(Alarm{"fire"}, Priority::high), SendResult::ok);
    EXPECT_EQ(bus.processWith(recorder.visitor(bus)), 3U);
    EXPECT_EQ(recorder.log, (Log{"fire high", "1"}));
    EXPECT_EQ(bus.statistics().total().delivered, 3U);
    EXPECT_EQ(Counted::alive, 0);
}

TEST(BusStaticComponentTest, VisitorServesManyHarvestsAndRuns) {
    SmallBus bus;
    Recorder recorder;
    const auto visitor = recorder.visitor(bus);
    ASSERT_EQ(bus.publish(Sample{1}), SendResult::ok);
    EXPECT_EQ(bus.processWith(visitor), 1U);
    ASSERT_EQ(bus.publish(Sample{2}), SendResult::ok);
    bus.close();
    bus.runWith(visitor);
    EXPECT_EQ(recorder.log, (Log{"1", "2"}));
}

/// A message whose type is not among Handles is skipped, even if there is a function for it. Of two
/// functions for one type, the one with the header is called. Const and noexcept do not matter.
struct Peculiar : StaticComponent<Peculiar> {
    using Handles = Messages<Sample>;

    void handle(const Sample&) { log.emplace_back("alone"); }
    void handle(const Sample&, const SmallBus::Header&) const noexcept {
        log.emplace_back("with header");
    }
    void handle(const Alarm&) { log.emplace_back("undeclared"); }

    mutable Log log;
};

TEST(BusStaticComponentTest, DeclarationDecidesAndTheHeaderIsPreferred) {
    SmallBus bus;
    Peculiar peculiar;
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    ASSERT_EQ(bus.publish(Alarm{}), SendResult::ok);
    EXPECT_EQ(bus.processWith(peculiar.visitor(bus)), 2U);
    EXPECT_EQ(peculiar.log, (Log{"with header"}));
}

/// `handle` may come from a template or from another base.
struct AnySum {
    template <class T>
    void handle(const T& message) {
        sum += message.value;
    }
    int sum = 0;
};
struct Summing : StaticComponent<Summing>, AnySum {
    using Handles = Messages<Sample, Counted>;
};

TEST(BusStaticComponentTest, HandleMayBeATemplateOfABase) {
    SmallBus bus;
    Summing summing;
    ASSERT_EQ(bus.publish(Sample{1}), SendResult::ok);
    ASSERT_EQ(bus.publish(Alarm{}), SendResult::ok);
    ASSERT_EQ(bus.publish(Counted(10)), SendResult::ok);
    EXPECT_EQ(bus.processWith(summing.visitor(bus)), 3U);
    EXPECT_EQ(summing.sum, 11);
}

TEST(BusStaticComponentTest, WorksOnABareBus) {
    TestBus<10, BareBusTraits> bus;
    Summing summing;
    ASSERT_EQ(bus.publish(Sample{3}), SendResult::ok);
    EXPECT_EQ(bus.processWith(summing.visitor(bus)), 1U);
    EXPECT_EQ(summing.sum, 3);
}

#if defined(__cpp_exceptions)
struct Failing : StaticComponent<Failing> {
    using Handles = Messages<Sample>;
    void handle(const Sample& sample) {
        if (sample.value == 0) {
            throw std::runtime_error("bad sample");
        }
    }
};

TEST(BusStaticComponentTest, ExceptionPassesThroughAndIsCounted) {
    SmallBus bus;
    Failing failing;
    ASSERT_EQ(bus.publish(Sample{0}), SendResult::ok);
    ASSERT_EQ(bus.publish(Sample{1}), SendResult::ok);
    EXPECT_THROW(bus.processWith(failing.visitor(bus)), std::runtime_error);
    EXPECT_EQ(bus.processWith(failing.visitor(bus)), 1U);
    EXPECT_EQ(bus.statistics().total().failed, 1U);
    EXPECT_EQ(bus.statistics().total().delivered, 2U);
}
#endif

}  // namespace
}  // namespace sluice
