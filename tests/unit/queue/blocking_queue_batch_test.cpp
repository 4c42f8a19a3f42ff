#include "support/crew.hpp"
#include "support/watchdog.hpp"
#include "unit/bus/counted_sleep.hpp"

#include <sluice/queue.hpp>
#include <sluice/wait.hpp>

#include "support/testing.hpp"
#include <thread>

// BlockingQueue::consumeBatch().

namespace sluice {
namespace {

using namespace std::chrono_literals;
using test::awaitThat;
using test::CountedSleep;
using test::CountingParker;
using Clock = std::chrono::steady_clock;
constexpr auto endless = std::chrono::hours::max();

template <class Queue>
class BatchTest : public testing::Test {
protected:
    template <class Limit>
    std::size_t consume(std::size_t minimum, Limit atMost, std::size_t max = unlimited) {
        taken.clear();
        return queue.consumeBatch(
            minimum, atMost, [this](int number) { taken.push_back(number); }, max);
    }
    void push(int number) { ASSERT_EQ(queue.push(number), SendResult::ok); }

    const test::Watchdog watchdog{[](std::FILE* out) { std::fputs("no batch\n", out); }};
    BlockingQueue<Queue, CountedSleep> queue{8};
    std::vector<int> taken;
};
using Queues = testing::Types<SpscRing<int, dynamicCapacity>, MpscRing<int, dynamicCapacity>,
                              SegmentQueue<int>>;
TYPED_TEST_SUITE(BatchTest, Queues);

TYPED_TEST(BatchTest, OnlyTheFirstAndTheLastMessageOfAMinimumWakeTheConsumer) {
    CountingParker::sleeps = CountingParker::wakesOfOne = CountingParker::wakesOfAll = 0;
    std::atomic<bool> isOver{false};
    std::thread consumer([&] {
        EXPECT_EQ(this->consume(5, endless), 5U);
        isOver = true;
    });
    awaitThat([] { return CountingParker::sleeps == 1; });
    this->push(0);
    EXPECT_EQ(CountingParker::wakesOfOne, 1);
    awaitThat([] { return CountingParker::sleeps == 2; });
    for (int number = 1; number < 4; ++number) {
        this->push(number);
    }
    EXPECT_EQ(CountingParker::wakesOfOne, 1) << "none for the messages in between";
    EXPECT_FALSE(isOver);
    this->push(4);
    consumer.join();
    EXPECT_EQ(CountingParker::wakesOfOne, 2);
    EXPECT_EQ(CountingParker::wakesOfAll, 0);
    EXPECT_EQ(this->taken, (std::vector<int>{0, 1, 2, 3, 4}));
}

TYPED_TEST(BatchTest, TakesWhatIsThereWhenTheTimeHasPassedSinceTheFirst) {
    this->push(7);
    const auto begin = Clock::now();
    EXPECT_EQ(this->consume(2, 5ms), 1U);
    EXPECT_GE(Clock::now(), begin + 5ms);
    this->push(8);
    EXPECT_EQ(this->consume(2, 0ms), 1U);
}

TYPED_TEST(BatchTest, TakesAllThatIsThereUpToAMaximum) {
    for (int number = 0; number < 6; ++number) {
        this->push(number);
    }
    EXPECT_EQ(this->consume(1, endless, 2), 2U);
    EXPECT_EQ(this->consume(2, endless), 4U);
    EXPECT_EQ(this->taken.front(), 2);
}

TYPED_TEST(BatchTest, AFullQueueIsABatch) {
    std::thread producer([this] {
        for (int number = 0; number < 24; ++number) {
            this->push(number);
        }
    });
    for (int batch = 0; batch < 3; ++batch) {
        EXPECT_EQ(this->consume(8, endless), 8U);
    }
    producer.join();
}

TYPED_TEST(BatchTest, CloseEndsTheWaitForMore) {
    this->push(1);
    std::thread closer([this] {
        awaitThat([] { return CountingParker::asleep == 1; });
        this->queue.close();
    });
    EXPECT_EQ(this->consume(3, endless), 1U);
    EXPECT_EQ(this->consume(3, endless), 0U) << "drained";
    closer.join();
}

TYPED_TEST(BatchTest, OrdinaryWaitsAreWokenByEachMessageAfterwards) {
    this->push(1);
    EXPECT_EQ(this->consume(8, 1ms), 1U);
    std::thread producer([this] {
        awaitThat([] { return CountingParker::asleep == 1; });
        this->push(2);
    });
    EXPECT_EQ(this->queue.pop(), 2);
    producer.join();
}

#if defined(__cpp_exceptions)
TYPED_TEST(BatchTest, NonsenseIsRefused) {
    const auto refusal = [this](std::size_t minimum, auto atMost, std::size_t max = unlimited) {
        try {
            this->consume(minimum, atMost, max);
        } catch (const std::invalid_argument& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(refusal(0, 1s), "BlockingQueue: minimum of a batch: 0, limit 1");
    EXPECT_EQ(refusal(9, 1s), "BlockingQueue: minimum of a batch: 9, limit 8");
    EXPECT_EQ(refusal(4, 1s, 3), "BlockingQueue: minimum of a batch: 4, limit 3");
    EXPECT_EQ(refusal(1, -2us), "BlockingQueue: nanoseconds below zero of a batch: 2000, limit 0");
    EXPECT_NE(refusal(1, std::chrono::hours::min()), "");
    this->push(1);
    const std::chrono::duration<double> noTime(std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(this->consume(1, noTime), 1U);  // UBSan reports a conversion
}

#endif

// With any wait strategy: one that cannot ask wakes for each message, or never sleeps.
template <class Wait>
class BatchWaitTest : public testing::Test {};
#if defined(__linux__)
using Waits = testing::Types<Park, BusySpin, SpinThenYield, WaitSet::Member, EventFdWait>;
#else
using Waits = testing::Types<Park, BusySpin, SpinThenYield, WaitSet::Member>;
#endif
TYPED_TEST_SUITE(BatchWaitTest, Waits);

TYPED_TEST(BatchWaitTest, ConsumesBatches) {
    BlockingQueue<MpscRing<int, 8>, TypeParam> queue;
    std::thread producer([&] {
        for (int number = 0; number < 60; ++number) {
            ASSERT_EQ(queue.push(number), SendResult::ok);
        }
    });
    int next = 0;
    while (next < 60) {
        const auto take = [&](int number) { EXPECT_EQ(number, next++); };
        EXPECT_EQ(queue.consumeBatch(3, endless, take, 3), 3U);
    }
    producer.join();
}

}  // namespace
}  // namespace sluice
