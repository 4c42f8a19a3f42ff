#include "support/real_time.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"

#include <sluice/queue/segment_queue.hpp>

#include <gtest/gtest.h>

#include <cstdio>

#if defined(__linux__)

namespace sluice {
namespace {

using namespace test;

// A producer may be preempted while it holds the lock.
TEST(SegmentQueueRealTimeTest, PreemptedProducerLetsOneOfHigherPriorityPush) {
    const Watchdog watchdog([](std::FILE*) {});
    SegmentQueue<int> queue(1);
    EXPECT_EQ(queue.tryPush(1), SendResult::ok);
    const bool isAllowed = callAtThreePriorities(
        scaled(2'000), [&] { EXPECT_EQ(queue.tryPush(2), SendResult::full); });
    if (!isAllowed) {
        GTEST_SKIP() << "no real-time priorities here, or a sanitizer";
    }
}

}  // namespace
}  // namespace sluice

#endif
