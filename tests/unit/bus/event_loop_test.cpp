#include "support/crew.hpp"
#include "unit/bus/bus_doubles.hpp"

#include <sluice/wait/event_fd_wait.hpp>

#include <gtest/gtest.h>

#if defined(__linux__)

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace sluice {
namespace {

using namespace test;
using namespace std::chrono_literals;

template <class Base>
struct LoopTraits : DeepTraits<64, Base> {
    using Wait = EventFdWait;
};

/// A bus whose consumer lives in an event loop.
template <class Base>
class BusEventLoopTest : public testing::Test {
protected:
    using LoopBus = Bus<TestMessages, LoopTraits<Base>>;

    /// Such a consumer calls it when the descriptor can be read, and before the loop begins.
    std::size_t takeAll() {
        std::size_t count = 0;
        do {
            count += bus.processWith([](auto&) {});
        } while (bus.waitFor(0s));
        return count;
    }
    bool isReadable() {
        pollfd wanted{descriptor, POLLIN, 0};
        return ::poll(&wanted, 1, 0) == 1;
    }

    LoopBus bus;
    int descriptor = bus.waiting().descriptor();
};

using Modes = testing::Types<FullBusTraits, NoStatsBusTraits, BareBusTraits>;
TYPED_TEST_SUITE(BusEventLoopTest, Modes);

TYPED_TEST(BusEventLoopTest, DescriptorTellsOfMessagesAndOfTheEnd) {
    ASSERT_GE(this->descriptor, 0);
    EXPECT_EQ(this->takeAll(), 0U);
    EXPECT_FALSE(this->isReadable());
    ASSERT_EQ(this->bus.publish(Sample{1}), SendResult::ok);
    EXPECT_TRUE(this->isReadable());
    ASSERT_EQ(this->bus.publish(Sample{2}), SendResult::ok);
    EXPECT_EQ(this->takeAll(), 2U);
    EXPECT_FALSE(this->isReadable());
    this->bus.close();
    EXPECT_TRUE(this->isReadable());
    EXPECT_EQ(this->takeAll(), 0U);
    EXPECT_TRUE(this->bus.isDrained());
}

TYPED_TEST(BusEventLoopTest, PublishersLeaveTheKernelAloneWhileTheConsumerIsAwake) {
    EXPECT_EQ(this->takeAll(), 0U);
    publishSamples(this->bus, 30);
    std::uint64_t writes = 0;
    ASSERT_EQ(::read(this->descriptor, &writes, sizeof writes),
              static_cast<ssize_t>(sizeof writes));
    EXPECT_EQ(writes, 1U);
    EXPECT_EQ(this->bus.processWith([](auto&) {}), 30U);
    publishSamples(this->bus, 30);
    EXPECT_FALSE(this->isReadable()) << "the consumer has not said that it sleeps";
    EXPECT_EQ(this->takeAll(), 30U);
}

/// Lets something happen when a wait has found a message and has not yet said so.
struct InterruptedWait : EventFdWait {
    template <class Ready>
    [[nodiscard]] bool waitUntil(Ready&& ready, Clock::time_point deadline) {
        const bool isReady = EventFdWait::waitUntil(ready, deadline);
        if (isReady && interruption) {
            std::exchange(interruption, nullptr)();
        }
        return isReady;
    }
    std::function<void()> interruption;
};
struct OneSlot
    : OverflowTraits<Overflow::dropOldest, Overflow::dropOldest, Overflow::dropOldest, 2> {
    using Wait = InterruptedWait;
};

/// Takes its time to come into being.
struct Reluctant {
    struct Signals {
        std::atomic<bool> isBegun{false};
        std::atomic<bool> mayEnd{false};
    };
    Reluctant() = default;
    explicit Reluctant(Signals& signals) {
        signals.isBegun = true;
        awaitThat([&] { return signals.mayEnd.load(); });
    }
};

// Between the look of the consumer and its answer a publisher drops the message that was seen, and
// its own is not there yet.
TEST(BusEventLoopDropTest, WaitThatSaysNoHasArmedTheDescriptor) {
    Bus<Messages<Reluctant>, OneSlot> bus;
    const int descriptor = bus.waiting().descriptor();
    ASSERT_EQ(bus.publish(Reluctant()), SendResult::ok);
    Reluctant::Signals signals;
    Crew crew;
    crew.add([&] { EXPECT_EQ(bus.emplace<Reluctant>(signals), SendResult::ok); });
    bus.waiting().interruption = [&] {
        crew.start();
        awaitThat([&] { return signals.isBegun.load(); });
    };
    std::size_t taken = 0;
    const bool isAwake = bus.waitFor(0s);
    signals.mayEnd = true;
    crew.join();
    pollfd wanted{descriptor, POLLIN, 0};
    EXPECT_TRUE(isAwake || ::poll(&wanted, 1, 0) == 1) << "nothing would wake the loop";
    while (bus.waitFor(0s)) {
        taken += bus.processWith([](auto&) {});
    }
    EXPECT_EQ(taken, 1U);
    EXPECT_EQ(bus.statistics().total().dropped, 1U);
}

}  // namespace
}  // namespace sluice

#endif
