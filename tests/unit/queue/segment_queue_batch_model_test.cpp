#include "unit/queue/queue_doubles.hpp"

#include <sluice/queue/segment_queue.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <iterator>
#include <random>
#include <thread>
#include <utility>
#include <vector>

// Batches of a SegmentQueue beside each other, and beside a producer that is not done.

namespace sluice {
namespace {

using namespace test;

template <class Source>
std::vector<int> valuesOf(Source& source, std::size_t max = unlimited) {
    std::vector<int> values;
    const std::size_t count =
        source.consume([&](auto& message) { values.push_back(message.value); }, max);
    EXPECT_EQ(count, values.size());
    return values;
}

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

}  // namespace
}  // namespace sluice
