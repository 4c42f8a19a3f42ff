#include "support/allocation_count.hpp"

#include <sluice/bus.hpp>
#include <sluice/inspect/flight_recorder.hpp>

#include <gtest/gtest.h>

namespace sluice::test {
namespace {

struct Sample {
    int value;
};
struct TracedTraits : FullBusTraits {
    using Trace = FlightTrace;
};

TEST(TraceAllocation, OnlyTheFirstEventOfAThreadAllocates) {
    static Bus<Messages<Sample>, TracedTraits> bus;
    FlightRecorder recorder(8);
    recorder.start(bus, "samples");
    const auto play = [] {
        const AllocationCount count;
        for (int i = 0; i < 100; ++i) {
            (void)bus.publish(Sample{i});
            bus.process();
        }
        return count.allocations();
    };
    EXPECT_GT(play(), 0U);
    EXPECT_EQ(play(), 0U);
    FlightRecorder::stop(bus);
}

}  // namespace
}  // namespace sluice::test
