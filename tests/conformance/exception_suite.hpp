#pragma once

#if defined(__cpp_exceptions)

#include "support/payloads.hpp"
#include "support/queue_shapes.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::test {

/// The state of a message, and of the queue, after user code has thrown. One thread.
template <class Shape>
class QueueExceptions : public testing::Test {
protected:
    Census census;
};
TYPED_TEST_SUITE_P(QueueExceptions);

template <class Queue>
std::vector<int> valuesIn(Queue& queue) {
    std::vector<int> values;
    // The consumer may need a call of its own to pass a place whose constructor threw.
    for (std::size_t quiet = 0; quiet < 2;) {
        quiet =
            queue.consume([&](Fragile& m) { values.push_back(m.value()); }) == 0 ? quiet + 1 : 0;
    }
    return values;
}

/// One push of a message that throws while it is built in its slot.
template <class Shape, class Producer>
void pushBroken(Producer& producer, Census& census, Fault fault) {
    if (fault == Fault::inCopy) {
        const Fragile original(census, -1, fault);
        EXPECT_THROW((void)producer.tryPush(original), Breakage);
    } else if (fault == Fault::inMove) {
        Fragile original(census, -1, fault);
        EXPECT_THROW((void)producer.tryPush(std::move(original)), Breakage);
    } else if constexpr (!Shape::isBlocking) {
        EXPECT_THROW((void)producer.tryEmplace(census, -1, Fault::inConstructor), Breakage);
    }
}

constexpr std::initializer_list<Fault> faults{Fault::inConstructor, Fault::inCopy, Fault::inMove};

TYPED_TEST_P(QueueExceptions, ThrowingConstructorLosesNothingElse) {
    forEachCapacity([&](auto capacity) {
        for (const Fault fault : faults) {
            TestQueue<TypeParam, Fragile, capacity> queue;
            auto producer = queue.producer();
            std::vector<int> accepted;
            for (int value = 0; value < 40; ++value) {
                if (producer.tryPush(Fragile(this->census, value)) == SendResult::ok) {
                    accepted.push_back(value);
                }
                const bool hasRoom = queue.sizeApprox() < capacity();
                if (hasRoom && value % 3 == 0) {
                    pushBroken<TypeParam>(producer, this->census, fault);
                }
                ASSERT_EQ(this->census.alive(), accepted.size());
                if (value % 4 == 3) {
                    ASSERT_EQ(valuesIn(queue), accepted);
                    accepted.clear();
                }
            }
            ASSERT_EQ(valuesIn(queue), accepted);
        }
    });
}

TYPED_TEST_P(QueueExceptions, ThrowingConstructorCostsNoRoomForGood) {
    forEachCapacity([&](auto capacity) {
        TestQueue<TypeParam, Fragile, capacity> queue;
        auto producer = queue.producer();
        for (int round = 0; round < 10; ++round) {
            for (std::size_t i = 0; i < capacity(); ++i) {
                pushBroken<TypeParam>(producer, this->census, Fault::inCopy);
            }
            ASSERT_TRUE(valuesIn(queue).empty());
            for (std::size_t i = 0; i < capacity(); ++i) {
                ASSERT_EQ(producer.tryPush(Fragile(this->census, 1)), SendResult::ok);
            }
            ASSERT_EQ(producer.tryPush(Fragile(this->census, 1)), SendResult::full);
            ASSERT_EQ(valuesIn(queue).size(), capacity());
        }
    });
}

TYPED_TEST_P(QueueExceptions, ThrowingConstructorsCrossTheWrap) {
    using Traits = TestTraits<StdPlatform, std::uint8_t, 256 - 2 * 3>;
    forEachCapacity([&](auto capacity) {
        TestQueue<TypeParam, Fragile, capacity, Traits> queue;
        auto producer = queue.producer();
        for (int round = 0; round < 400; ++round) {
            if (round % 3 != 0) {
                pushBroken<TypeParam>(producer, this->census, Fault::inCopy);
                ASSERT_TRUE(valuesIn(queue).empty()) << "round " << round;
            }
            ASSERT_EQ(producer.tryPush(Fragile(this->census, round)), SendResult::ok);
            ASSERT_EQ(valuesIn(queue), std::vector<int>{round});
        }
    });
}

TYPED_TEST_P(QueueExceptions, IsDrainedAfterAThrowingConstructor) {
    TestQueue<TypeParam, Fragile, 2> queue;
    auto producer = queue.producer();
    pushBroken<TypeParam>(producer, this->census, Fault::inCopy);
    queue.close();
    ASSERT_TRUE(valuesIn(queue).empty());
    EXPECT_TRUE(queue.isDrained());
    EXPECT_EQ(queue.sizeApprox(), 0U);
}

TYPED_TEST_P(QueueExceptions, ThrowingHandlerConsumesExactlyItsMessage) {
    forEachCapacity([&](auto capacity) {
        constexpr int count = static_cast<int>(capacity());
        for (int broken = 0; broken < count; ++broken) {
            TestQueue<TypeParam, Fragile, capacity> queue;
            auto producer = queue.producer();
            for (int value = 0; value < count; ++value) {
                ASSERT_EQ(producer.tryPush(Fragile(this->census, value)), SendResult::ok);
            }
            std::vector<int> seen;
            const auto throwsOnce = [&](Fragile& message) {
                seen.push_back(message.value());
                if (message.value() == broken) {
                    throw Breakage("the handler");
                }
            };
            ASSERT_THROW(queue.consume(throwsOnce), Breakage);
            ASSERT_EQ(static_cast<int>(seen.size()), broken + 1);
            ASSERT_EQ(this->census.alive(), static_cast<std::size_t>(count - broken - 1));
            ASSERT_EQ(queue.sizeApprox(), static_cast<std::size_t>(count - broken - 1));
            ASSERT_EQ(producer.tryPush(Fragile(this->census, count)), SendResult::ok)
                << "its place was given back";
            for (const int value : valuesIn(queue)) {
                seen.push_back(value);
            }
            for (int value = 0; value <= count; ++value) {
                ASSERT_EQ(seen.at(static_cast<std::size_t>(value)), value);
            }
        }
    });
}

// A queue that cannot look at the oldest message first refuses tryPop() of such messages when it is
// compiled: tests/compile_fail/queue_rings.cpp.
TYPED_TEST_P(QueueExceptions, PopThatThrowsKeepsItsMessage) {
    TestQueue<TypeParam, Fragile, 3> queue;
    auto producer = queue.producer();
    const Fragile unmovable(this->census, 1, Fault::inMove);
    ASSERT_EQ(producer.tryPush(unmovable), SendResult::ok);
    ASSERT_EQ(producer.tryPush(Fragile(this->census, 2)), SendResult::ok);
    if constexpr (TypeParam::hasFront) {
        EXPECT_THROW((void)queue.tryPop(), Breakage);
    }
    EXPECT_EQ(this->census.alive(), 3U) << "the original, and both messages";
    EXPECT_EQ(valuesIn(queue), (std::vector<int>{1, 2}));
}

REGISTER_TYPED_TEST_SUITE_P(QueueExceptions, ThrowingConstructorLosesNothingElse,
                            ThrowingConstructorCostsNoRoomForGood, ThrowingConstructorsCrossTheWrap,
                            IsDrainedAfterAThrowingConstructor,
                            ThrowingHandlerConsumesExactlyItsMessage, PopThatThrowsKeepsItsMessage);

}  // namespace sluice::test

#endif
