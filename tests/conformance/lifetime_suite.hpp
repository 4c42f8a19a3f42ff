#pragma once

#include "support/payloads.hpp"
#include "support/queue_shapes.hpp"

#include "support/testing.hpp"

namespace sluice::test {

/// When messages are built, moved and destroyed, and where. One thread.
template <class Shape>
class QueueLifetime : public testing::Test {
protected:
    Census census;
};
TYPED_TEST_SUITE_P(QueueLifetime);

template <class Producer>
void pushCounted(Producer& producer, Census& census, int first, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(producer.tryPush(Counted(census, first + static_cast<int>(i))), SendResult::ok);
    }
}

TYPED_TEST_P(QueueLifetime, DestroysWhatIsLeftInIt) {
    forEachCapacity([&](auto capacity) {
        for (std::size_t passed = 0; passed <= 2 * capacity(); ++passed) {
            for (std::size_t left = 0; left <= capacity(); ++left) {
                TestQueue<TypeParam, Counted, capacity> queue;
                auto producer = queue.producer();
                for (std::size_t i = 0; i < passed; ++i) {
                    pushCounted(producer, this->census, 0, 1);
                    ASSERT_TRUE(queue.tryPop().has_value());
                }
                pushCounted(producer, this->census, 0, left);
                ASSERT_EQ(this->census.alive(), left);
            }
            ASSERT_EQ(this->census.alive(), 0U) << "after " << passed << " messages";
        }
    });
}

TYPED_TEST_P(QueueLifetime, DestroysWhatIsLeftAroundTheWrap) {
    using Queue = TestQueue<TypeParam, Counted, 3, TestTraits<StdPlatform, std::uint8_t, 250>>;
    for (int passed = 0; passed < 140; ++passed) {
        Queue queue;
        auto producer = queue.producer();
        for (int i = 0; i < passed; ++i) {
            pushCounted(producer, this->census, i, 1);
            ASSERT_EQ(queue.consume([](Counted&) {}), 1U);
        }
        pushCounted(producer, this->census, 0, 3);
    }
    EXPECT_EQ(this->census.alive(), 0U);
}

/// A message whose destructor calls a function.
struct Parting {
    Parting(Census& census, std::function<void()> function)
        : counted(census, 0), atEnd(std::move(function)) {}
    Parting(Parting&& other) noexcept
        : counted(std::move(other.counted)), atEnd(std::exchange(other.atEnd, nullptr)) {}
    ~Parting() {
        if (atEnd) {
            atEnd();
        }
    }
    Counted counted;
    std::function<void()> atEnd;
};

TYPED_TEST_P(QueueLifetime, AcceptsNoMessageWhileItIsDestroyed) {
    std::size_t accepted = 0;
    auto queue = std::make_unique<TestQueue<TypeParam, Parting, 4>>();
    auto* const address = queue.get();
    std::function<void()> pushOneMore = [&] {
        if (accepted < 100) {  // otherwise a queue that accepts messages would never end
            Parting more(this->census, pushOneMore);
            auto producer = address->producer();
            accepted += producer.tryPush(std::move(more)) == SendResult::ok ? 1 : 0;
            more.atEnd = nullptr;
        }
    };
    {
        auto producer = queue->producer();
        for (int i = 0; i < 4; ++i) {
            ASSERT_EQ(producer.tryPush(Parting(this->census, pushOneMore)), SendResult::ok);
        }
    }
    queue.reset();
    EXPECT_EQ(accepted, 0U);
    EXPECT_EQ(this->census.alive(), 0U);
}

TYPED_TEST_P(QueueLifetime, DestroysAMessageAsSoonAsItsHandlerReturns) {
    forEachCapacity([&](auto capacity) {
        TestQueue<TypeParam, Counted, capacity> queue;
        auto producer = queue.producer();
        for (int round = 0; round < 3; ++round) {
            pushCounted(producer, this->census, 0, capacity());
            const auto countsTheLiving = [&](Counted& message) {
                const auto gone = static_cast<std::size_t>(message.value());
                EXPECT_EQ(this->census.alive(), capacity() - gone);
                EXPECT_EQ(queue.sizeApprox(), capacity() - gone);
            };
            ASSERT_EQ(queue.consume(countsTheLiving), capacity());
            ASSERT_EQ(this->census.alive(), 0U);
        }
    });
}

TYPED_TEST_P(QueueLifetime, PopLeavesNothingBehind) {
    TestQueue<TypeParam, Counted, 3> queue;
    auto producer = queue.producer();
    pushCounted(producer, this->census, 10, 3);
    for (int i = 0; i < 3; ++i) {
        const std::optional<Counted> message = queue.tryPop();
        ASSERT_TRUE(message.has_value());
        EXPECT_EQ(message->value(), 10 + i);
        EXPECT_EQ(this->census.alive(), static_cast<std::size_t>(3 - i)) << "with the popped one";
    }
}

TYPED_TEST_P(QueueLifetime, PushBuildsOneObjectInItsPlace) {
    TestQueue<TypeParam, Counted, 2> queue;
    auto producer = queue.producer();
    const Counted original(this->census, 7);
    Counted moved(this->census, 8);
    ASSERT_EQ(this->census.births(), 2U);
    ASSERT_EQ(producer.tryPush(original), SendResult::ok);
    EXPECT_EQ(this->census.births(), 3U);
    ASSERT_EQ(producer.tryPush(std::move(moved)), SendResult::ok);
    EXPECT_EQ(this->census.births(), 4U);
    EXPECT_EQ(original.value(), 7);
    EXPECT_EQ(moved.value(), Counted::movedFrom);

    int expected = 7;
    ASSERT_EQ(queue.consume([&](Counted& message) { EXPECT_EQ(message.value(), expected++); }), 2U);
    EXPECT_EQ(this->census.births(), TypeParam::handledInPlace ? 4U : 6U);
}

TYPED_TEST_P(QueueLifetime, EmplaceBuildsTheMessageInItsPlace) {
    if constexpr (!TypeParam::isBlocking) {
        TestQueue<TypeParam, Counted, 2> queue;
        auto producer = queue.producer();
        ASSERT_EQ(producer.tryEmplace(this->census, 1), SendResult::ok);
        ASSERT_EQ(producer.tryEmplace(this->census, 2), SendResult::ok);
        ASSERT_EQ(producer.tryEmplace(this->census, 3), SendResult::full);
        EXPECT_EQ(this->census.births(), 2U) << "nothing is built for a refused message";
        queue.close();
        ASSERT_EQ(producer.tryEmplace(this->census, 4), SendResult::closed);
        EXPECT_EQ(this->census.births(), 2U);
    }
}

TYPED_TEST_P(QueueLifetime, RefusedPushKeepsItsArgument) {
    forEachCapacity([](auto capacity) {
        TestQueue<TypeParam, std::unique_ptr<int>, capacity> queue;
        auto producer = queue.producer();
        for (std::size_t i = 0; i < capacity(); ++i) {
            ASSERT_EQ(producer.tryPush(std::make_unique<int>(1)), SendResult::ok);
        }
        auto kept = std::make_unique<int>(2);
        EXPECT_EQ(producer.tryPush(std::move(kept)), SendResult::full);
        ASSERT_NE(kept, nullptr);
        ASSERT_TRUE(queue.tryPop().has_value());
        queue.close();
        EXPECT_EQ(producer.tryPush(std::move(kept)), SendResult::closed);
        ASSERT_NE(kept, nullptr);
        EXPECT_EQ(*kept, 2);
    });
}

TYPED_TEST_P(QueueLifetime, CarriesWhatCanOnlyBeMoved) {
    TestQueue<TypeParam, MoveOnly, 3> queue;
    auto producer = queue.producer();
    for (int round = 0; round < 5; ++round) {
        MoveOnly first(round);
        ASSERT_EQ(producer.tryPush(std::move(first)), SendResult::ok);
        EXPECT_EQ(first.value(), MoveOnly::movedFrom);
        ASSERT_EQ(producer.tryPush(MoveOnly(round + 1)), SendResult::ok);
        const std::optional<MoveOnly> popped = queue.tryPop();
        ASSERT_TRUE(popped.has_value());
        EXPECT_EQ(popped->value(), round);
        int seen = 0;
        queue.consume([&](MoveOnly& message) { seen = MoveOnly(std::move(message)).value(); });
        EXPECT_EQ(seen, round + 1);
    }
}

template <class Shape, std::size_t Alignment>
void carryOverAligned() {
    using Message = OverAligned<Alignment>;
    forEachCapacity([](auto capacity) {
        using Queue = TestQueue<Shape, Message, capacity>;
        // On the heap: there only the type's own alignment helps.
        const auto queue = std::make_unique<Queue>();
        auto producer = queue->producer();
        for (int round = 0; round < 3; ++round) {
            for (std::size_t i = 0; i < capacity(); ++i) {
                ASSERT_EQ(producer.tryPush(Message(static_cast<int>(i))), SendResult::ok);
            }
            int next = 0;
            ASSERT_EQ(queue->consume([&](Message& message) {
                EXPECT_TRUE(message.isAligned());
                EXPECT_EQ(message.value, next++);
            }),
                      capacity());
        }
    });
}

TYPED_TEST_P(QueueLifetime, CarriesWhatIsOverAligned) {
    carryOverAligned<TypeParam, 64>();
    carryOverAligned<TypeParam, 128>();
}

REGISTER_TYPED_TEST_SUITE_P(QueueLifetime, DestroysWhatIsLeftInIt, DestroysWhatIsLeftAroundTheWrap,
                            AcceptsNoMessageWhileItIsDestroyed,
                            DestroysAMessageAsSoonAsItsHandlerReturns, PopLeavesNothingBehind,
                            PushBuildsOneObjectInItsPlace, EmplaceBuildsTheMessageInItsPlace,
                            RefusedPushKeepsItsArgument, CarriesWhatCanOnlyBeMoved,
                            CarriesWhatIsOverAligned);

}  // namespace sluice::test
