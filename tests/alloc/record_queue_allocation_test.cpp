#include "support/allocation_count.hpp"
#include "support/record_queue_tools.hpp"

#include <sluice/log/detail/lanes/record_queue.hpp>

#include "support/testing.hpp"
#include <thread>

namespace sluice::test {
namespace {

using log::detail::endOfTime;
using log::detail::RecordQueueOptions;

using RecordQueue = LabelQueue<>;

/// Posts as much as the lane takes, and emits it.
void round(RecordQueue& queue, Overflow policy) {
    for (std::uint32_t i = 0; i < 100; ++i) {
        (void)postBytes(queue, {0, i}, i, policy);
    }
    queue.poll();
    queue.emitBefore(endOfTime, 1000, [](const RecordQueue::Record&) {});
}

TEST(RecordQueueAllocation, PostsAndBatchesAllocateNothing) {
    for (const auto policy : {blocking, rejecting, dropping}) {
        RecordQueueOptions options;
        options.laneMessages = policy == blocking ? 8192 : 50;
        RecordQueue queue(options);
        round(queue, policy);
        const AllocationCount count;
        for (int i = 0; i < 1000; ++i) {
            round(queue, policy);
        }
        EXPECT_EQ(count.allocations(), 0U);
    }
}

TEST(RecordQueueAllocation, ThreadsThatHaveGoneLeaveNoMemoryBehind) {
    RecordQueue queue;
    const auto useThreads = [&queue](int threads) {
        for (int i = 0; i < threads; ++i) {
            std::thread([&queue] {
                ASSERT_EQ(postBytes(queue, {0, 0}, 100), SendResult::ok);
            }).join();
            queue.poll();
            queue.emitBefore(endOfTime, 10, [](const RecordQueue::Record&) {});
        }
    };
    useThreads(10);
    const AllocationCount count;
    useThreads(20'000);
    EXPECT_EQ(count.allocations(), count.deallocations());
}

TEST(RecordQueueAllocation, AQueueGivesItsMemoryBackWhileThreadsStay) {
    struct Idle {
        static void once() {
            RecordQueue queue;
            (void)postBytes(queue, {0, 0}, 100);
        }
    };
    for (int i = 0; i < 100; ++i) {
        Idle::once();
    }
    // A thread remembers some queues that have gone; their lanes have no bytes any more.
    const AllocationCount count;
    for (int i = 0; i < 1000; ++i) {
        Idle::once();
    }
    EXPECT_LE(count.allocations(), count.deallocations() + 64U);
}

}  // namespace
}  // namespace sluice::test
