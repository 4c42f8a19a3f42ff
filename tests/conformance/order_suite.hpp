#pragma once

#include "support/queue_shapes.hpp"

#include "support/testing.hpp"

namespace sluice::test {

/// Which messages come out, in which order, and when a queue is full or empty. One thread.
template <class Shape>
class QueueOrder : public testing::Test {};
TYPED_TEST_SUITE_P(QueueOrder);

/// Positions of 8 bits that wrap after three messages and then every 128. With one thread that is
/// safe for every queue; see WrapAcrossThreads for several.
using ByteTraits = TestTraits<StdPlatform, std::uint8_t, 256 - 2 * 3>;

/// Pushes first, first + 1, ... and returns how many went in before the queue was full.
template <class Producer>
int fill(Producer& producer, int first = 0) {
    int next = first;
    for (;;) {
        const SendResult result = producer.tryPush(next);
        if (result != SendResult::ok) {
            EXPECT_EQ(result, SendResult::full);
            return next - first;
        }
        ++next;
    }
}

/// Everything that consume hands out in one call.
template <class Queue>
std::vector<int> poll(Queue& queue, std::size_t max = unlimited) {
    std::vector<int> values;
    const std::size_t count = queue.consume([&](int& value) { values.push_back(value); }, max);
    EXPECT_EQ(count, values.size());
    return values;
}

inline std::vector<int> numbers(int first, int count) {
    std::vector<int> values;
    for (int i = 0; i < count; ++i) {
        values.push_back(first + i);
    }
    return values;
}

TYPED_TEST_P(QueueOrder, AnswersEmptyWheneverAllIsConsumed) {
    forEachCapacity([](auto capacity) {
        TestQueue<TypeParam, int, capacity> queue;
        EXPECT_EQ(queue.tryPop(), std::nullopt) << "without any producer";
        EXPECT_TRUE(poll(queue).empty());
        auto producer = queue.producer();
        for (int count = 0; count <= static_cast<int>(capacity()); ++count) {
            EXPECT_EQ(queue.tryPop(), std::nullopt);
            EXPECT_TRUE(poll(queue).empty());
            for (int value = 0; value < count; ++value) {
                ASSERT_EQ(producer.tryPush(value), SendResult::ok);
            }
            for (int value = 0; value < count; ++value) {
                ASSERT_EQ(queue.tryPop(), value);
            }
        }
    });
}

TYPED_TEST_P(QueueOrder, ConsumesAtMostWhatIsAskedAndNoLess) {
    forEachCapacity([](auto capacity) {
        TestQueue<TypeParam, int, capacity> queue;
        auto producer = queue.producer();
        for (std::size_t max = 0; max <= capacity() + 1; ++max) {
            const int count = fill(producer);
            const int some = static_cast<int>(std::min<std::size_t>(max, capacity()));
            ASSERT_EQ(poll(queue, max), numbers(0, some)) << "max " << max;
            ASSERT_EQ(poll(queue), numbers(some, count - some)) << "max " << max;
        }
    });
}

TYPED_TEST_P(QueueOrder, SizeIsExactInAQuietQueue) {
    forEachCapacity([](auto capacity) {
        TestQueue<TypeParam, int, capacity> queue;
        auto producer = queue.producer();
        for (int round = 0; round < 3; ++round) {
            for (std::size_t size = 0; size < capacity(); ++size) {
                ASSERT_EQ(queue.sizeApprox(), size);
                ASSERT_EQ(producer.tryPush(0), SendResult::ok);
            }
            ASSERT_EQ(producer.tryPush(0), SendResult::full);
            for (std::size_t size = capacity(); size > 0; --size) {
                ASSERT_EQ(queue.sizeApprox(), size);
                ASSERT_TRUE(queue.tryPop().has_value());
            }
        }
    });
}

template <class Shape, std::size_t Capacity>
void crossTheWrap() {
    TestQueue<Shape, int, Capacity, ByteTraits> queue;
    auto producer = queue.producer();
    constexpr int capacity = static_cast<int>(Capacity);
    int next = 0;
    int oldest = 0;
    while (oldest < 600) {
        next += fill(producer, next);
        ASSERT_EQ(next - oldest, capacity) << "full at " << next;
        ASSERT_EQ(queue.sizeApprox(), Capacity);
        const int some = 1 + oldest % capacity;
        ASSERT_EQ(poll(queue, static_cast<std::size_t>(some)), numbers(oldest, some));
        oldest += some;
    }
    ASSERT_EQ(poll(queue), numbers(oldest, next - oldest));
    ASSERT_EQ(queue.tryPop(), std::nullopt);
    ASSERT_EQ(queue.sizeApprox(), 0U);
}

TYPED_TEST_P(QueueOrder, CrossesTheWrapOf8BitPositions) {
    forEachCapacity([](auto capacity) { crossTheWrap<TypeParam, capacity>(); });
    crossTheWrap<TypeParam, TypeParam::largestInAByte / 2 + 1>();
    crossTheWrap<TypeParam, TypeParam::largestInAByte>();
}

TYPED_TEST_P(QueueOrder, HandlerFindsItsMessageStillInItsPlace) {
    forEachCapacity([](auto capacity) {
        TestQueue<TypeParam, int, capacity> queue;
        auto producer = queue.producer();
        const int count = fill(producer);
        const auto pushes = [&](int&) { EXPECT_EQ(producer.tryPush(-1), SendResult::full); };
        ASSERT_EQ(queue.consume(pushes, 1), 1U);
        ASSERT_EQ(fill(producer, count), 1) << "its place is free once it has returned";
        ASSERT_EQ(poll(queue), numbers(1, count));
    });
}

TYPED_TEST_P(QueueOrder, HandlerMayPublish) {
    constexpr int last = 30;
    TestQueue<TypeParam, int, 3> queue;
    auto producer = queue.producer();
    std::vector<int> delivered;
    const auto pushesTheNext = [&](int& value) {
        delivered.push_back(value);
        if (value < last) {
            EXPECT_EQ(producer.tryPush(value + 1), SendResult::ok);
        }
    };
    ASSERT_EQ(producer.tryPush(0), SendResult::ok);
    while (queue.consume(pushesTheNext) != 0) {
    }
    EXPECT_EQ(delivered, numbers(0, last + 1));
}

REGISTER_TYPED_TEST_SUITE_P(QueueOrder, AnswersEmptyWheneverAllIsConsumed,
                            ConsumesAtMostWhatIsAskedAndNoLess, SizeIsExactInAQuietQueue,
                            CrossesTheWrapOf8BitPositions, HandlerFindsItsMessageStillInItsPlace,
                            HandlerMayPublish);

}  // namespace sluice::test
