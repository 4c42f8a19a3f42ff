#include "unit/queue/queue_doubles.hpp"

#include <sluice/queue/segment_queue.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <iterator>
#include <random>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

// takeAll() and its result.

namespace sluice {
namespace {

using namespace test;

using Queue = SegmentQueue<Tracked, TinyTraits>;
using Batch = Queue::Batch;

static_assert(std::is_nothrow_default_constructible_v<Batch>);
static_assert(std::is_nothrow_move_constructible_v<Batch>);
static_assert(!std::is_copy_constructible_v<Batch>);

template <class Source>
std::vector<int> valuesOf(Source& source, std::size_t max = unlimited) {
    std::vector<int> values;
    const std::size_t count =
        source.consume([&](auto& message) { values.push_back(message.value); }, max);
    EXPECT_EQ(count, values.size());
    return values;
}

class SegmentQueueBatchTest : public testing::Test {
protected:
    void push(int from, int to) {
        for (int i = from; i < to; ++i) {
            ASSERT_EQ(queue.tryEmplace(i), SendResult::ok);
        }
    }
    static std::vector<int> range(int from, int to) {
        std::vector<int> values;
        for (int i = from; i < to; ++i) {
            values.push_back(i);
        }
        return values;
    }

    CountingResource memory;
    Queue queue{unlimited, &memory};
};

TEST_F(SegmentQueueBatchTest, TakesEverythingThatIsQueued) {
    push(0, 10);
    const int allocations = memory.allocations;
    Batch batch = queue.takeAll();
    EXPECT_EQ(batch.size(), 10U);
    EXPECT_EQ(queue.sizeApprox(), 0U);
    queue.close();
    EXPECT_TRUE(queue.isDrained());
    EXPECT_FALSE(queue.tryPop());
    EXPECT_EQ(Tracked::alive, 10) << "nothing is moved or copied";
    EXPECT_EQ(memory.allocations, allocations);
    EXPECT_EQ(valuesOf(batch), range(0, 10));
    EXPECT_EQ(batch.size(), 0U);
    EXPECT_EQ(valuesOf(batch), range(0, 0));
}

TEST_F(SegmentQueueBatchTest, OfAnEmptyQueueIsEmpty) {
    EXPECT_EQ(queue.takeAll().size(), 0U);
    push(0, 1);
    EXPECT_EQ(valuesOf(queue), range(0, 1));
    Batch batch = queue.takeAll();
    EXPECT_EQ(batch.size(), 0U);
    EXPECT_EQ(valuesOf(batch), range(0, 0));
    Batch none;
    EXPECT_EQ(valuesOf(none), range(0, 0));
}

TEST_F(SegmentQueueBatchTest, QueueGoesOnBehindIt) {
    for (int before = 0; before < 7; ++before) {
        push(0, 7);
        EXPECT_EQ(valuesOf(queue, static_cast<std::size_t>(before)), range(0, before));
        Batch batch = queue.takeAll();
        push(7, 14);
        EXPECT_EQ(valuesOf(queue, 3), range(7, 10));
        EXPECT_EQ(valuesOf(batch, 2).size(), static_cast<std::size_t>(std::min(2, 7 - before)));
        EXPECT_EQ(valuesOf(queue), range(10, 14));
        EXPECT_EQ(valuesOf(batch), range(std::min(before + 2, 7), 7));
    }
}

TEST_F(SegmentQueueBatchTest, HandsOutAtMostSoMany) {
    push(0, 5);
    Batch batch = queue.takeAll();
    EXPECT_EQ(valuesOf(batch, 0), range(0, 0));
    EXPECT_EQ(valuesOf(batch, 2), range(0, 2));
    EXPECT_EQ(batch.size(), 3U);
    EXPECT_EQ(Tracked::alive, 3);
    EXPECT_EQ(valuesOf(batch, 9), range(2, 5));
}

TEST_F(SegmentQueueBatchTest, DestroysWhatIsLeft) {
    push(0, 5);
    {
        Batch batch = queue.takeAll();
        EXPECT_EQ(valuesOf(batch, 2), range(0, 2));
    }
    EXPECT_EQ(Tracked::alive, 0);
}

TEST_F(SegmentQueueBatchTest, DoesNotCountForTheLimit) {
    SegmentQueue<int, TinyTraits> limited(4);
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 4; ++i) {
            ASSERT_EQ(limited.tryPush(i), SendResult::ok);
        }
        ASSERT_EQ(limited.tryPush(4), SendResult::full);
        auto batch = limited.takeAll();
        ASSERT_EQ(limited.tryPush(5), SendResult::ok);
        ASSERT_EQ(limited.tryPop(), 5);
    }
}

TEST_F(SegmentQueueBatchTest, HandlerMayUseTheQueue) {
    push(0, 4);
    Batch batch = queue.takeAll();
    std::vector<int> seen;
    batch.consume([&](Tracked& message) {
        ASSERT_EQ(queue.tryEmplace(message.value + 10), SendResult::ok);
        seen.push_back(queue.tryPop()->value);
    });
    EXPECT_EQ(seen, range(10, 14));
}

TEST_F(SegmentQueueBatchTest, MayBeConsumedOnAnotherThread) {
    SegmentQueue<Building, TinyTraits> subject;
    const auto pushAll = [&](const std::vector<int>& values) {
        for (const int value : values) {
            ASSERT_EQ(subject.tryEmplace(value), SendResult::ok);
        }
    };
    for (int round = 0; round < 50; ++round) {
        std::vector<int> seen;
        pushAll(range(0, 20));
        std::thread worker(
            [&seen, batch = subject.takeAll()]() mutable { seen = valuesOf(batch); });
        pushAll(range(20, 40));
        EXPECT_EQ(valuesOf(subject), range(20, 40));
        worker.join();
        EXPECT_EQ(seen, range(0, 20));
    }
}

TEST_F(SegmentQueueBatchTest, GivesItsSegmentsBack) {
    for (int round = 0; round < 100; ++round) {
        push(0, 10);
        Batch first = queue.takeAll();
        push(10, 20);
        Batch second = queue.takeAll();
        push(20, 25);
        Batch destroyed = round % 2 == 0 ? std::move(first) : std::move(second);
    }
    EXPECT_LE(memory.allocations, 2 * (45 / 3) + 4);
    EXPECT_EQ(valuesOf(queue).size(), 5U);
    queue.trim();
    EXPECT_EQ(memory.allocations - memory.deallocations, 1) << "only the last of the chain stays";
}

#if defined(__cpp_exceptions)
TEST_F(SegmentQueueBatchTest, ThrowingHandlerHasConsumedExactlyItsMessage) {
    push(0, 8);
    Batch batch = queue.takeAll();
    for (int i = 0; i < 8; ++i) {
        EXPECT_THROW(batch.consume([&](Tracked& message) {
            EXPECT_EQ(message.value, i);
            throw std::runtime_error("handler");
        }),
                     std::runtime_error);
        EXPECT_EQ(batch.size(), static_cast<std::size_t>(7 - i));
        EXPECT_EQ(Tracked::alive, 7 - i);
    }
}

TEST_F(SegmentQueueBatchTest, CountsSkippedSlotsUntilItPassesThem) {
    SegmentQueue<Building, TinyTraits> subject;
    const auto fail = [] { throw std::runtime_error("constructor"); };
    ASSERT_EQ(subject.tryEmplace(1), SendResult::ok);
    EXPECT_THROW((void)subject.tryEmplace(2, fail), std::runtime_error);
    ASSERT_EQ(subject.tryEmplace(3), SendResult::ok);
    auto batch = subject.takeAll();
    EXPECT_EQ(batch.size(), 3U);
    EXPECT_EQ(valuesOf(batch), (std::vector<int>{1, 3}));
    EXPECT_EQ(batch.size(), 0U);
}
#endif

// ---- batches beside each other, and beside a producer that is not done

template <class Traits>
class SegmentQueueBatchModelTest : public testing::Test {};
using ModelTraits = testing::Types<TinyTraits, TinyByteTraits>;
TYPED_TEST_SUITE(SegmentQueueBatchModelTest, ModelTraits);

std::vector<int> firstOf(const std::vector<int>& values, std::size_t count) {
    return {values.begin(),
            std::next(values.begin(), static_cast<std::ptrdiff_t>(std::min(count, values.size())))};
}
std::vector<int> restOf(const std::vector<int>& values, std::size_t count) {
    return {std::next(values.begin(), static_cast<std::ptrdiff_t>(std::min(count, values.size()))),
            values.end()};
}

// Up to three batches beside the queue, each with a model of its own, in every order of their ends.
TYPED_TEST(SegmentQueueBatchModelTest, BehavesAsItsModel) {
    CountingResource memory;
    {
        using Subject = SegmentQueue<Building, TypeParam>;
        struct Taken {
            typename Subject::Batch batch;
            std::vector<int> model;
        };
        Subject queue(20, &memory);
        std::vector<int> model;
        std::deque<Taken> taken;
        std::mt19937 random(7);
        for (int i = 0; i < 20000; ++i) {
            switch (random() % 8) {
            case 0:
                if (taken.size() < 3) {
                    taken.push_back({queue.takeAll(), std::exchange(model, {})});
                    ASSERT_EQ(taken.back().batch.size(), taken.back().model.size());
                }
                break;
            case 1:
                if (!taken.empty()) {
                    Taken ended = std::move(taken[random() % taken.size()]);
                    const std::size_t read = random() % (ended.model.size() + 1);
                    ASSERT_EQ(valuesOf(ended.batch, read), firstOf(ended.model, read));
                    taken.erase(std::remove_if(taken.begin(), taken.end(),
                                               [](const Taken& t) { return t.batch.size() == 0; }),
                                taken.end());
                }
                break;
            case 2:
                ASSERT_EQ(valuesOf(queue, 2), firstOf(model, 2));
                model = restOf(model, 2);
                break;
            default:
                if (model.size() < 20) {
                    ASSERT_EQ(queue.tryEmplace(i), SendResult::ok);
                    model.push_back(i);
                } else {
                    ASSERT_EQ(queue.tryEmplace(i), SendResult::full);
                }
            }
        }
    }
    EXPECT_EQ(memory.bytesInUse, 0U);
}

// A batch waits for a producer that claimed its slot before takeAll() and is still constructing:
// here until the waiting itself lets it go on.
struct ReleasingPlatform : StdPlatform {
    static void pause() noexcept { isReleased.store(true, std::memory_order_relaxed); }
    inline static std::atomic<bool> isReleased{false};
};
struct ReleasingTraits : SegmentQueueTraits {
    using Platform = ReleasingPlatform;
};

TEST(SegmentQueueWaitingBatchTest, WaitsForAProducerThatIsStillConstructing) {
    SegmentQueue<Building, ReleasingTraits> queue;
    std::atomic<bool> isClaimed{false};
    ReleasingPlatform::isReleased.store(false, std::memory_order_relaxed);
    std::thread producer([&] {
        (void)queue.tryEmplace(1, [&] {
            isClaimed.store(true, std::memory_order_release);
            while (!ReleasingPlatform::isReleased.load(std::memory_order_relaxed)) {
                std::this_thread::yield();
            }
        });
    });
    while (!isClaimed.load(std::memory_order_acquire)) {
        std::this_thread::yield();
    }
    ASSERT_EQ(queue.tryEmplace(2), SendResult::ok);
    auto batch = queue.takeAll();
    EXPECT_EQ(batch.size(), 2U);
    EXPECT_EQ(valuesOf(batch), (std::vector<int>{1, 2}));
    producer.join();
}

#ifndef NDEBUG
TEST(SegmentQueueDeathTest, BatchThatOutlivesItsQueue) {
    EXPECT_DEATH(
        {
            Batch batch;
            Queue queue;
            (void)queue.tryEmplace(1);
            const Batch outlives = queue.takeAll();
            queue.~Queue();
        },
        "destroy or consume it before the queue");
}
#endif

}  // namespace
}  // namespace sluice
