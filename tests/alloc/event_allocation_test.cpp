#include "support/allocation_count.hpp"
#include "unit/event/event_queue_suites.hpp"

#include <sluice/event/event_dispatcher.hpp>
#include <sluice/event/event_queue.hpp>
#include <sluice/wait/park.hpp>

#include "support/testing.hpp"
#include <thread>

namespace sluice::test {
namespace {

/// Queues in which as many events have been as ever will be.
template <class Policies>
class EventAllocationTest : public testing::Test {};
using SlabPolicies = testing::Types<DefaultPolicies, SingleThreadPolicies, StdMutexPolicies>;
TYPED_TEST_SUITE(EventAllocationTest, SlabPolicies, QueuePolicyNames);

constexpr std::size_t most = 1000;

/// Adds and takes out in different ways, so that nodes change their order.
template <class Queue, class Argument>
void passThrough(Queue& queue, const Argument& argument) {
    for (std::size_t i = 0; i < most; ++i) {
        (void)queue.enqueue(1, argument);
    }
    for (std::size_t i = 0; i < most / 2; ++i) {
        (void)queue.processOne();
        (void)queue.enqueue(1, Argument(argument));
    }
    std::size_t asked = 0;
    (void)queue.processIf([&asked] { return ++asked % 3 == 0; });
    (void)queue.processQueueWith([](int, const Argument&) {});
    (void)queue.waitFor(std::chrono::nanoseconds(0));
}

template <class Queue, class Argument>
void expectNoAllocation(Queue& queue, const Argument& argument) {
    std::size_t calls = 0;
    queue.appendListener(1, [&calls](const Argument&) { ++calls; });
    passThrough(queue, argument);
    const std::size_t callsBefore = calls;

    const AllocationCount count;
    passThrough(queue, argument);
    EXPECT_EQ(count.allocations(), 0U);
    EXPECT_EQ(count.deallocations(), 0U);
    EXPECT_EQ(calls, 2 * callsBefore);
}

TYPED_TEST(EventAllocationTest, QueueAllocatesNothingForArgumentsThatDoNot) {
    EventQueue<int, void(const std::string&), TypeParam> queue;
    expectNoAllocation(queue, std::string("short"));
}

TYPED_TEST(EventAllocationTest, BoundedQueueAllocatesNothingWhenEventsMakeRoom) {
    EventQueue<int, void(const std::string&), TypeParam> queue(
        EventQueueOptions{100, Overflow::dropOldest});
    expectNoAllocation(queue, std::string("short"));
    EXPECT_GT(queue.statistics().discarded, 0U);
}

template <class Queue>
void burst(Queue& queue) {
    for (std::size_t i = 0; i < most; ++i) {
        EXPECT_TRUE(queue.enqueue(1));
    }
}

TYPED_TEST(EventAllocationTest, QueueThatIsEmptyAgainKeepsAtMostWhatItsOptionsSay) {
    EventQueueOptions options;
    options.keptBytes = 10000;  // of the more than 16000 that the events take
    EventQueue<int, void(int), TypeParam> queue(options);
    {
        // A thread allocates at its first event. The count leaves this out.
        EventQueue<int, void(int), TypeParam> other;
        EXPECT_TRUE(other.enqueue(1));
        EXPECT_TRUE(other.process());
    }
    const AllocationCount count;
    burst(queue);
    EXPECT_EQ(count.deallocations(), 0U);
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(count.deallocations(), count.allocations());

    burst(queue);
    queue.clearEvents();
    EXPECT_EQ(count.deallocations(), count.allocations());

    EXPECT_TRUE(queue.enqueue(1));
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(count.deallocations() + 1, count.allocations()) << "one block is little enough";
}

TYPED_TEST(EventAllocationTest, TrimFreesWhatNoEventNeeds) {
    EventQueue<int, void(int), TypeParam> queue;
    const AllocationCount count;
    EXPECT_EQ(queue.trim(), 0U);
    burst(queue);
    EXPECT_EQ(queue.trim(), 0U) << "events are queued";
    std::size_t inside = 1;
    queue.appendListener(1, [&](int) { inside += queue.trim(); });
    const std::size_t listener = count.allocations();
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(inside, 1U) << "an event is being processed";
    EXPECT_EQ(count.deallocations(), 0U);
    EXPECT_GT(queue.trim(), most * sizeof(int));
    EXPECT_GT(count.deallocations(), 1U);
    EXPECT_EQ(queue.trim(), 0U);
    burst(queue);
    EXPECT_GT(count.allocations(), listener) << "it goes on";
    EXPECT_TRUE(queue.process());
}

// ---- without memory

#if defined(__cpp_exceptions)

/// The calling thread gets memory for so many allocations, and then none while isShort.
std::atomic<bool> isShort{false};
std::size_t memoryFor = 0;
void startToCount(std::size_t allocations) {
    memoryFor = allocations;
    callBeforeAllocations([]() noexcept { isShort = memoryFor == 0 || --memoryFor == 0; });
    failAllocationsWhile(isShort);
}

constexpr int keys = 40;

template <class Dispatcher>
int callsOfAll(Dispatcher& dispatcher, const int& calls) {
    const int before = calls;
    for (int key = 0; key < keys; ++key) {
        dispatcher.dispatch(key);
    }
    return calls - before;
}

// In a thread of its own, which the settings end with.
template <class Policies>
class DispatcherMemoryTest : public testing::Test {};
TYPED_TEST_SUITE(DispatcherMemoryTest, SlabPolicies, QueuePolicyNames);

TYPED_TEST(DispatcherMemoryTest, CopyWithoutMemoryLeavesTheOriginal) {
    std::thread([] {
        int calls = 0;
        EventDispatcher<int, void(), TypeParam> original;
        for (int key = 0; key < keys; ++key) {
            original.appendListener(key, [&calls] { ++calls; });
        }
        int failures = 0;
        for (std::size_t allocations = 1;; ++allocations) {
            startToCount(allocations);
            try {
                auto copy = original;
                isShort = false;
                EXPECT_EQ(callsOfAll(copy, calls), keys);
                break;
            } catch (const std::bad_alloc&) {
                isShort = false;
                ++failures;
            }
            memoryFor = 1'000'000;
            EXPECT_EQ(callsOfAll(original, calls), keys);
        }
        EXPECT_GE(failures, keys) << "each listener takes memory";
    }).join();
}

/// Counts the wake-ups of all threads.
struct CountingWait : Park {
    void notifyAll() noexcept { ++alls; }
    inline static int alls = 0;
};
struct CountingPolicies {
    struct Threading : MultipleThreading {
        using Wait = CountingWait;
    };
};

TEST(EventQueueMemoryTest, ProducerWithoutMemoryWakesTheNextOne) {
    std::thread([] {
        EventQueue<int, void(int), CountingPolicies> queue(EventQueueOptions{1, Overflow::block});
        isShort = true;
        failAllocationsWhile(isShort);
        EXPECT_THROW((void)queue.enqueue(1), std::bad_alloc);
        isShort = false;
        EXPECT_EQ(CountingWait::alls, 1) << "the room that this one was woken for";
    }).join();
}

TYPED_TEST(DispatcherMemoryTest, DispatchNeedsNone) {
    std::thread([] {
        int calls = 0;
        EventDispatcher<int, void(), TypeParam> dispatcher;
        for (int key = 0; key < keys; ++key) {
            dispatcher.appendListener(key, [&calls] { ++calls; });
        }
        (void)callsOfAll(dispatcher, calls);
        isShort = true;
        failAllocationsWhile(isShort);
        EXPECT_EQ(callsOfAll(dispatcher, calls), keys);
        dispatcher.dispatch(keys);  // nobody listens
        isShort = false;
    }).join();
}

#endif

}  // namespace
}  // namespace sluice::test
