#pragma once

#if defined(__cpp_exceptions)

#include "conformance/concurrent_suite.hpp"
#include "conformance/waiting_suite.hpp"
#include "support/crew.hpp"
#include "support/payloads.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace sluice::test {

/// The state of a wait, on either side, after user code has thrown.
template <class Shape>
class QueueWaitingExceptions : public QueueWaiting<Shape> {};
TYPED_TEST_SUITE_P(QueueWaitingExceptions);

TYPED_TEST_P(QueueWaitingExceptions, ThrowingHandlerStillMakesRoom) {
    typename TestFixture::template Queue<int, 1> queue;
    const Watchdog watchdog(stateOf(queue, this->progress));
    auto producer = queue.producer();
    ASSERT_EQ(producer.push(1), SendResult::ok);
    const std::uint64_t before = this->refusals();
    Crew crew;
    crew.add([&] { EXPECT_EQ(producer.push(2), SendResult::ok); });
    crew.start();
    this->awaitWaiters(before);
    const auto throws = [](int&) { throw Breakage("the handler"); };
    EXPECT_THROW(queue.native().consume(throws), Breakage);
    crew.join();
    EXPECT_EQ(queue.native().pop(), 2);
}

TYPED_TEST_P(QueueWaitingExceptions, ThrowingHandlerEndsTheWaitOfItsOwnThread) {
    typename TestFixture::template Queue<int, 1> queue;
    const Watchdog watchdog(stateOf(queue, this->progress));
    auto producer = queue.producer();
    std::uint64_t before = this->refusals();
    Crew crew;
    crew.add([&] {
        const auto throws = [](int&) { throw Breakage("the handler"); };
        EXPECT_THROW(queue.native().consume(throws), Breakage);
        EXPECT_EQ(queue.native().pop(), 2);
    });
    crew.start();
    this->awaitWaiters(before);
    before = this->refusals();
    ASSERT_EQ(producer.push(1), SendResult::ok);
    this->awaitWaiters(before);
    ASSERT_EQ(producer.push(2), SendResult::ok);
}

TYPED_TEST_P(QueueWaitingExceptions, ThrowingPushLetsAWaitingConsumerSeeTheEnd) {
    typename TestFixture::template Queue<Fragile, 2> queue;
    const Watchdog watchdog(stateOf(queue, this->progress));
    Census census;
    auto producer = queue.producer();
    const Fragile broken(census, 1, Fault::inCopy);
    const std::uint64_t before = this->refusals();
    Crew crew;
    crew.add([&] { EXPECT_EQ(queue.native().consume([](Fragile&) {}), 0U); });
    crew.start();
    this->awaitWaiters(before);
    EXPECT_THROW((void)producer.push(broken), Breakage);
    queue.close();
    crew.join();
    EXPECT_TRUE(queue.isDrained());
}

REGISTER_TYPED_TEST_SUITE_P(QueueWaitingExceptions, ThrowingHandlerStillMakesRoom,
                            ThrowingHandlerEndsTheWaitOfItsOwnThread,
                            ThrowingPushLetsAWaitingConsumerSeeTheEnd);

}  // namespace sluice::test

#endif
