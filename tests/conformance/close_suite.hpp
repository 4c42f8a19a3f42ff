#pragma once

#include "support/queue_shapes.hpp"

#include "support/testing.hpp"

namespace sluice::test {

/// The effects of close(), and the moment at which a queue says that it is drained. One thread.
template <class Shape>
class QueueClose : public testing::Test {};
TYPED_TEST_SUITE_P(QueueClose);

TYPED_TEST_P(QueueClose, RefusesNewWorkAndDeliversTheRest) {
    forEachCapacity([](auto capacity) {
        for (std::size_t left = 0; left <= capacity(); ++left) {
            TestQueue<TypeParam, int, capacity> queue;
            auto producer = queue.producer();
            for (std::size_t i = 0; i < left; ++i) {
                ASSERT_EQ(producer.tryPush(static_cast<int>(i)), SendResult::ok);
            }
            ASSERT_FALSE(queue.isClosed());
            queue.close();
            ASSERT_TRUE(queue.isClosed());
            ASSERT_EQ(producer.tryPush(-1), SendResult::closed) << "also when it is full: " << left;
            ASSERT_EQ(queue.sizeApprox(), left);
            for (std::size_t i = 0; i < left; ++i) {
                ASSERT_EQ(queue.tryPop(), static_cast<int>(i));
                ASSERT_EQ(producer.tryPush(-1), SendResult::closed);
            }
            ASSERT_EQ(queue.tryPop(), std::nullopt);
        }
    });
}

TYPED_TEST_P(QueueClose, IsDrainedOnlyWhenClosedAndEmpty) {
    TestQueue<TypeParam, int, 2> queue;
    EXPECT_FALSE(queue.isDrained()) << "empty, but open";
    auto producer = queue.producer();
    ASSERT_EQ(producer.tryPush(1), SendResult::ok);
    ASSERT_EQ(producer.tryPush(2), SendResult::ok);
    EXPECT_FALSE(queue.isDrained());
    queue.close();
    EXPECT_FALSE(queue.isDrained()) << "closed, but two are left";
    ASSERT_TRUE(queue.tryPop().has_value());
    EXPECT_FALSE(queue.isDrained()) << "closed, but one is left";
    const auto isNotDrainedYet = [&](int&) { EXPECT_FALSE(queue.isDrained()) << "in its handler"; };
    ASSERT_EQ(queue.consume(isNotDrainedYet), 1U);
    EXPECT_TRUE(queue.isDrained());
    EXPECT_EQ(producer.tryPush(3), SendResult::closed);
    EXPECT_TRUE(queue.isDrained()) << "a refused push changes nothing";
}

TYPED_TEST_P(QueueClose, MayBeRepeated) {
    TestQueue<TypeParam, int, 2> queue;
    auto producer = queue.producer();
    ASSERT_EQ(producer.tryPush(1), SendResult::ok);
    for (int i = 0; i < 3; ++i) {
        queue.close();
        EXPECT_TRUE(queue.isClosed());
        EXPECT_EQ(producer.tryPush(2), SendResult::closed);
        EXPECT_EQ(queue.sizeApprox(), 1U);
    }
    EXPECT_EQ(queue.tryPop(), 1);
    queue.close();
    EXPECT_TRUE(queue.isDrained());
    EXPECT_EQ(queue.tryPop(), std::nullopt);
}

TYPED_TEST_P(QueueClose, HandlerMayClose) {
    TestQueue<TypeParam, int, 3> queue;
    auto producer = queue.producer();
    ASSERT_EQ(producer.tryPush(1), SendResult::ok);
    ASSERT_EQ(producer.tryPush(2), SendResult::ok);
    int sum = 0;
    const auto closes = [&](int& value) {
        queue.close();
        EXPECT_EQ(producer.tryPush(3), SendResult::closed);
        sum += value;
    };
    EXPECT_EQ(queue.consume(closes), 2U) << "what was accepted is delivered";
    EXPECT_EQ(sum, 3);
    EXPECT_TRUE(queue.isDrained());
}

TYPED_TEST_P(QueueClose, StaysClosedAcrossTheWrap) {
    forEachCapacity([](auto capacity) {
        for (int passed = 0; passed < 140; ++passed) {
            TestQueue<TypeParam, int, capacity, TestTraits<StdPlatform, std::uint8_t, 250>> queue;
            auto producer = queue.producer();
            for (int i = 0; i < passed; ++i) {
                ASSERT_EQ(producer.tryPush(i), SendResult::ok);
                ASSERT_EQ(queue.tryPop(), i);
            }
            ASSERT_EQ(producer.tryPush(7), SendResult::ok);
            queue.close();
            ASSERT_EQ(producer.tryPush(8), SendResult::closed);
            ASSERT_FALSE(queue.isDrained());
            ASSERT_EQ(queue.tryPop(), 7);
            ASSERT_TRUE(queue.isDrained()) << "after " << passed;
        }
    });
}

/// Runs a function in the middle of a push, when the message is built in its slot.
class Hooked {
public:
    explicit Hooked(std::function<void()> hook) : hook_(std::move(hook)) {}
    Hooked(const Hooked& other) : hook_(other.hook_) {
        if (hook_) {
            hook_();
        }
    }
    Hooked(Hooked&& other) noexcept : hook_(std::move(other.hook_)) {}
    Hooked& operator=(const Hooked&) = delete;
    Hooked& operator=(Hooked&&) = delete;
    ~Hooked() = default;

private:
    std::function<void()> hook_;
};

TYPED_TEST_P(QueueClose, PushUnderWayIsAcceptedAndKeepsTheQueueFromBeingDrained) {
    forEachCapacity([](auto capacity) {
        TestQueue<TypeParam, Hooked, capacity> queue;
        auto producer = queue.producer();
        bool wasClosed = false;
        const Hooked message([&] {
            queue.close();
            wasClosed = queue.isClosed();
            EXPECT_FALSE(queue.isDrained()) << "a push is under way";
            EXPECT_EQ(queue.consume([](Hooked&) {}), 0U) << "it is not there yet";
            EXPECT_FALSE(queue.isDrained());
        });
        ASSERT_EQ(producer.tryPush(message), SendResult::ok) << "it began before the close";
        EXPECT_TRUE(wasClosed);
        EXPECT_FALSE(queue.isDrained());
        EXPECT_EQ(producer.tryPush(message), SendResult::closed);
        EXPECT_EQ(queue.consume([](Hooked&) {}), 1U);
        EXPECT_TRUE(queue.isDrained());
    });
}

REGISTER_TYPED_TEST_SUITE_P(QueueClose, RefusesNewWorkAndDeliversTheRest,
                            IsDrainedOnlyWhenClosedAndEmpty, MayBeRepeated, HandlerMayClose,
                            StaysClosedAcrossTheWrap,
                            PushUnderWayIsAcceptedAndKeepsTheQueueFromBeingDrained);

}  // namespace sluice::test
