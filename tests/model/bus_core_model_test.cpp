#include "model/wait_without_fence.hpp"
#include "support/model/expectations.hpp"

#include <sluice/bus.hpp>

#include "support/testing.hpp"

// The bus as shipped, from publish() to drain(), under the model checker: its smallest form, a ring
// of two messages. A lost wake-up shows as a schedule in which nobody can go on.

namespace sluice::model {
namespace {

using namespace std::chrono_literals;

template <class WaitStrategy>
struct SmallTraits : BareBusTraits {
    using Platform = ModelPlatform;
    using Wait = WaitStrategy;
    using Index = std::uint8_t;
    static constexpr std::uint64_t firstPosition = 254;
    static constexpr std::size_t depth = 2;
    static constexpr std::size_t maxHandlers = 1;
};

struct Number {
    Plain<int> value;
};
template <class WaitStrategy>
using SmallBus = Bus<Messages<Number>, SmallTraits<WaitStrategy>>;

constexpr auto always = ModelPlatform::Clock::time_point::max();

/// The consumer: serves until the bus is closed and drained, and counts what it serves.
template <class B>
void serveUntilDrained(B& bus, Plain<int>& served) {
    const auto serve = [&](const Number& number) { served.set(served.get() + number.value.get()); };
    while (!bus.isDrained()) {
        (void)bus.waitFor(1h);
        (void)bus.processWith(serve);
    }
}

/// drain() returns when the message has been served, and sees what the consumer did.
template <class WaitStrategy>
void drainWaitsForTheConsumer() {
    SmallBus<WaitStrategy> bus;
    Plain<int> served;
    parallel([&] { serveUntilDrained(bus, served); },
             [&] {
                 check(bus.publish(Number{Plain<int>(1)}) == SendResult::ok, "there is room");
                 check(bus.drain(always), "no deadline");
                 check(served.get() == 1, "it is served");
             });
}

/// The thread that drains waits for a consumer that does not wait itself.
template <class WaitStrategy>
void drainMeetsTheLastMessage() {
    SmallBus<WaitStrategy> bus;
    int served = 0;
    (void)bus.publish(Number{Plain<int>(1)});
    parallel([&] { (void)bus.processWith([&](const Number&) { ++served; }); },
             [&] { check(bus.drain(always), "no deadline"); });
    check(served == 1, "it is served");
}

/// A publisher that waits for room gets the slot that the consumer frees.
template <class WaitStrategy>
void publisherWaitsForRoom() {
    SmallBus<WaitStrategy> bus;
    int served = 0;
    (void)bus.publish(Number{Plain<int>(1)});
    (void)bus.publish(Number{Plain<int>(2)});
    parallel(
        [&] {
            const auto result = bus.publishFor(1h, Number{Plain<int>(3)});
            check(result == SendResult::ok, "the consumer makes room");
        },
        [&] { (void)bus.processWith([&](const Number&) { ++served; }, 1); });
    check(served == 1 && bus.sizeApprox() == 2, "one for the other");
}

/// close() ends the wait for room.
template <class WaitStrategy>
void closeEndsTheWaitForRoom() {
    SmallBus<WaitStrategy> bus;
    (void)bus.publish(Number{Plain<int>(1)});
    (void)bus.publish(Number{Plain<int>(2)});
    parallel(
        [&] {
            const auto result = bus.publishFor(1h, Number{Plain<int>(3)});
            check(result == SendResult::closed, "nobody makes room");
        },
        [&] { bus.close(); });
}

/// close() wakes a consumer that waits for a message.
template <class WaitStrategy>
void closeEndsTheWaitForMessages() {
    SmallBus<WaitStrategy> bus;
    parallel([&] { check(!bus.waitFor(1h), "there is none"); }, [&] { bus.close(); });
}

/// A publication wakes a consumer that waits for a message.
template <class WaitStrategy>
void messageEndsTheWait() {
    SmallBus<WaitStrategy> bus;
    parallel([&] { check(bus.waitFor(1h), "it arrives"); },
             [&] { (void)bus.publish(Number{Plain<int>(1)}); });
}

template <class WaitStrategy>
struct OneProducerTraits : SmallTraits<WaitStrategy> {
    static constexpr Producers producers = Producers::one;
};

/// The only producer finds the bus closed while others wait for the end.
template <class WaitStrategy>
void theProducerComesTooLate() {
    Bus<Messages<Number>, OneProducerTraits<WaitStrategy>> bus;
    parallel([&] { (void)bus.publish(Number{Plain<int>(1)}); },
             [&] {
                 bus.close();
                 Plain<int> served;
                 serveUntilDrained(bus, served);
             });
}

template <class WaitStrategy>
struct DroppingTraits : SmallTraits<WaitStrategy> {
    static constexpr bool priorities = true;
    static constexpr std::array<std::size_t, priorityCount> rooms{1, 1, 1};
    static constexpr std::array<Overflow, priorityCount> overflow{
        Overflow::dropOldest, Overflow::reject, Overflow::reject};
};

/// A message that does something when it is destroyed.
struct Ending {
    explicit Ending(const std::function<void()>* a) noexcept : act(a) {}
    Ending(Ending&& other) noexcept : act(std::exchange(other.act, nullptr)) {}
    ~Ending() {
        if (act != nullptr) {
            (*act)();
        }
    }
    const std::function<void()>* act;
};

/// A publisher drops a message when all later ones have been handled. No consumer wakes the thread
/// that drains.
template <class WaitStrategy>
void publisherDropsTheLastMessage() {
    Atomic<int> isDropped{0};
    Bus<Messages<Ending>, DroppingTraits<WaitStrategy>> bus;
    const PublishOptions low{Priority::low};
    const std::function<void()> handleTheOthers = [&] {
        (void)bus.discard();
        isDropped.store(1, release);
    };
    (void)bus.template emplaceWith<Ending>(low, &handleTheOthers);
    parallel([&] { (void)bus.template emplaceWith<Ending>(low, nullptr); },
             [&] {
                 await(isDropped);
                 check(bus.drain(always), "no deadline");
             });
}

/// A last value is refused, or handled before the bus is drained.
template <class WaitStrategy>
void acceptedLastValueIsHandled() {
    SmallBus<WaitStrategy> bus;
    Plain<int> served;
    int handled = 0;
    bool isAccepted = false;
    LastValue<Number, SmallBus<WaitStrategy>> last(
        bus, [&](const Number& number) { handled += number.value.get(); });
    parallel([&] { serveUntilDrained(bus, served); },
             [&] { isAccepted = last.publish(Number{Plain<int>(1)}) == SendResult::ok; },
             [&] { bus.close(); });
    check(handled == (isAccepted ? 1 : 0), "it is handled once");
}

template <class WaitStrategy>
void holdInAll() {
    EXPECT_TRUE(holds(acceptedLastValueIsHandled<WaitStrategy>, options({1, 1})));
    EXPECT_TRUE(holds(drainWaitsForTheConsumer<WaitStrategy>, options({1, 1})));
    EXPECT_TRUE(holds(drainMeetsTheLastMessage<WaitStrategy>));
    EXPECT_TRUE(holds(publisherWaitsForRoom<WaitStrategy>));
    EXPECT_TRUE(holds(closeEndsTheWaitForRoom<WaitStrategy>));
    EXPECT_TRUE(holds(closeEndsTheWaitForMessages<WaitStrategy>));
    EXPECT_TRUE(holds(messageEndsTheWait<WaitStrategy>));
    EXPECT_TRUE(holds(publisherDropsTheLastMessage<WaitStrategy>));
    EXPECT_TRUE(holds(theProducerComesTooLate<WaitStrategy>));
}

TEST(BusCoreModelTest, NoWakeUpIsLostByASleeper) {
    holdInAll<SleepAtOnce>();
}

TEST(BusCoreModelTest, NoWakeUpIsLostByAStrategyWithoutAFence) {
    holdInAll<WaitWithoutFence>();
}

}  // namespace
}  // namespace sluice::model
