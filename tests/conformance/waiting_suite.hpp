#pragma once

#include "conformance/concurrent_suite.hpp"
#include "support/crew.hpp"
#include "support/observed_wait.hpp"
#include "support/queue_shapes.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"

#include "support/testing.hpp"

namespace sluice::test {

/// Events that end a wait in a BlockingQueue. Real threads wait.
template <class Shape>
class QueueWaiting : public testing::Test {
protected:
    template <class T, std::size_t Capacity>
    using Queue = TestQueue<Shape, T, Capacity>;

    /// Returns when `threads` threads have been refused so often since `before` that those with
    /// Park are asleep or about to be.
    void awaitWaiters(std::uint64_t before, std::uint64_t threads = 1) {
        awaitThat([&] { return Shape::ObservedWait::refusals() >= before + threads * manyPolls; });
    }
    std::uint64_t refusals() const { return Shape::ObservedWait::refusals(); }

    static constexpr std::uint64_t manyPolls = 64 + 8 + 1;

    std::atomic<std::uint64_t> progress{0};
};
TYPED_TEST_SUITE_P(QueueWaiting);

using namespace std::chrono_literals;

TYPED_TEST_P(QueueWaiting, PopWaitsForAMessage) {
    typename TestFixture::template Queue<int, 2> queue;
    const Watchdog watchdog(stateOf(queue, this->progress));
    auto producer = queue.producer();
    std::array<std::optional<int>, 3> popped;
    std::uint64_t before = this->refusals();
    Crew crew;
    crew.add([&] {
        for (std::optional<int>& value : popped) {
            value = queue.native().pop();
        }
    });
    crew.start();
    this->awaitWaiters(before);
    before = this->refusals();
    ASSERT_EQ(producer.push(1), SendResult::ok);
    this->awaitWaiters(before);
    before = this->refusals();
    ASSERT_EQ(producer.tryPush(2), SendResult::ok);
    this->awaitWaiters(before);
    ASSERT_EQ(producer.pushFor(3, 1h), SendResult::ok);
    crew.join();
    EXPECT_EQ(popped, (std::array<std::optional<int>, 3>{1, 2, 3}));
}

TYPED_TEST_P(QueueWaiting, PushWaitsForRoom) {
    forEachCapacity([&](auto capacity) {
        typename TestFixture::template Queue<int, capacity> queue;
        const Watchdog watchdog(stateOf(queue, this->progress));
        auto producer = queue.producer();
        for (std::size_t i = 0; i < capacity(); ++i) {
            ASSERT_EQ(producer.push(static_cast<int>(i)), SendResult::ok);
        }
        std::uint64_t before = this->refusals();
        Crew crew;
        crew.add([&] {
            EXPECT_EQ(producer.push(100), SendResult::ok);
            EXPECT_EQ(producer.pushFor(101, 1h), SendResult::ok);
        });
        crew.start();
        this->awaitWaiters(before);
        before = this->refusals();
        ASSERT_EQ(queue.native().pop(), 0);
        this->awaitWaiters(before);
        ASSERT_EQ(queue.native().consume([](int&) {}, 1), 1U);
        crew.join();
        EXPECT_EQ(queue.sizeApprox(), capacity());
    });
}

TYPED_TEST_P(QueueWaiting, CloseEndsThePushesThatWait) {
    typename TestFixture::template Queue<std::unique_ptr<int>, 1> queue;
    const Watchdog watchdog(stateOf(queue, this->progress));
    constexpr std::size_t most = TypeParam::manyProducers ? 3 : 1;
    std::array<std::unique_ptr<int>, most> kept;
    const std::uint64_t before = this->refusals();
    Crew crew;
    for (std::unique_ptr<int>& message : kept) {
        message = std::make_unique<int>(7);
        crew.add([&, producer = queue.producer()]() mutable {
            // With lanes each producer fills one of its own.
            while (producer.tryPush(std::make_unique<int>(1)) == SendResult::ok) {
            }
            EXPECT_EQ(producer.push(std::move(message)), SendResult::closed);
        });
    }
    crew.start();
    this->awaitWaiters(before, most);
    queue.close();
    crew.join();
    for (const std::unique_ptr<int>& message : kept) {
        ASSERT_NE(message, nullptr) << "a refused push keeps its argument";
        EXPECT_EQ(*message, 7);
    }
}

TYPED_TEST_P(QueueWaiting, CloseEndsThePopThatWaits) {
    for (int form = 0; form < 4; ++form) {
        typename TestFixture::template Queue<int, 1> queue;
        const Watchdog watchdog(stateOf(queue, this->progress));
        const std::uint64_t before = this->refusals();
        Crew crew;
        crew.add([&] {
            auto& native = queue.native();
            switch (form) {
            case 0:
                EXPECT_EQ(native.pop(), std::nullopt);
                break;
            case 1:
                EXPECT_EQ(native.popFor(1h), std::nullopt);
                break;
            case 2:
                EXPECT_EQ(native.consume([](int&) {}), 0U);
                break;
            default:
                EXPECT_EQ(native.consumeFor(1h, [](int&) {}), 0U);
            }
            EXPECT_TRUE(queue.isDrained());
        });
        crew.start();
        this->awaitWaiters(before);
        queue.close();
    }
}

TYPED_TEST_P(QueueWaiting, TimedWaitsLastAsLongAsAsked) {
    using Clock = std::chrono::steady_clock;
    typename TestFixture::template Queue<std::unique_ptr<int>, 1> queue;
    auto producer = queue.producer();
    auto begin = Clock::now();
    EXPECT_EQ(queue.native().popFor(2ms), std::nullopt);
    EXPECT_GE(Clock::now() - begin, 2ms);

    begin = Clock::now();
    EXPECT_EQ(queue.native().consumeFor(2ms, [](std::unique_ptr<int>&) {}), 0U);
    EXPECT_GE(Clock::now() - begin, 2ms);

    ASSERT_EQ(producer.pushFor(std::make_unique<int>(1), 2ms), SendResult::ok);
    auto kept = std::make_unique<int>(2);
    begin = Clock::now();
    EXPECT_EQ(producer.pushFor(std::move(kept), 2ms), SendResult::full);
    EXPECT_GE(Clock::now() - begin, 2ms);
    ASSERT_NE(kept, nullptr);

    begin = Clock::now();
    EXPECT_FALSE(queue.native().drainFor(2ms));
    EXPECT_GE(Clock::now() - begin, 2ms);
}

TYPED_TEST_P(QueueWaiting, NoWakeUpIsLost) {
    // Two queues with room for one: each message waits for the answer to the one before.
    typename TestFixture::template Queue<std::uint64_t, 1> questions;
    typename TestFixture::template Queue<std::uint64_t, 1> answers;
    const Watchdog watchdog(stateOf(questions, this->progress));
    const std::uint64_t rounds = TypeParam::sleeps ? scaled(4000) : scaled(400);
    Crew crew;
    crew.add([&, producer = answers.producer()]() mutable {
        while (const auto question = questions.native().pop()) {
            EXPECT_EQ(producer.push(*question + 1), SendResult::ok);
        }
        answers.close();
    });
    crew.start();
    auto producer = questions.producer();
    for (std::uint64_t i = 0; i < rounds; ++i) {
        ASSERT_EQ(producer.push(2 * i), SendResult::ok);
        std::uint64_t answer = 0;
        ASSERT_EQ(answers.native().consume([&](std::uint64_t& value) { answer = value; }), 1U);
        ASSERT_EQ(answer, 2 * i + 1);
        this->progress.store(i, std::memory_order_relaxed);
    }
    questions.close();
    EXPECT_EQ(answers.native().pop(), std::nullopt);
}

// Threads that must not wait call the timed forms with no time.
TYPED_TEST_P(QueueWaiting, WithoutTimeNoCallWaits) {
    for (const auto noTime : {0ns, -1ns, std::chrono::nanoseconds::min()}) {
        typename TestFixture::template Queue<int, 1> queue;
        auto producer = queue.producer();
        const std::uint64_t before = this->refusals();
        EXPECT_FALSE(queue.native().popFor(noTime));
        EXPECT_EQ(queue.native().consumeFor(noTime, [](int&) {}), 0U);
        ASSERT_EQ(producer.pushFor(1, noTime), SendResult::ok);
        EXPECT_EQ(producer.pushFor(2, noTime), SendResult::full);
        EXPECT_FALSE(queue.native().drainFor(noTime));
        EXPECT_LE(this->refusals(), before + 4) << "each of the four that are refused checks once";
        EXPECT_EQ(queue.native().popFor(noTime), 1);
        EXPECT_TRUE(queue.native().drainFor(noTime));
    }
}

REGISTER_TYPED_TEST_SUITE_P(QueueWaiting, PopWaitsForAMessage, PushWaitsForRoom,
                            CloseEndsThePushesThatWait, CloseEndsThePopThatWaits,
                            TimedWaitsLastAsLongAsAsked, NoWakeUpIsLost, WithoutTimeNoCallWaits);

}  // namespace sluice::test
