#include "model/queue_scenarios.hpp"
#include "model/wait_without_fence.hpp"

#include <sluice/bus/drop_oldest.hpp>

#include "support/testing.hpp"

// The order of the priorities in the bus as shipped, and the ring whose publishers drop messages,
// under the model checker. The other rings have model tests of their own.

namespace sluice::model {
namespace {

struct BusTraits : FullBusTraits {
    using Platform = ModelPlatform;
    using Index = std::uint8_t;
    static constexpr std::uint64_t firstPosition = 254;
};

/// The content of a slot. It is checked for data races.
struct Content {
    void moveFrom(Content& other) noexcept { number.set(other.number.get()); }
    Plain<int> number;
};

template <std::size_t Room>
using Dropping = detail::DropOldestRing<Content, Room, BusTraits>;

constexpr auto goOn = [] { return true; };

template <class Ring>
SendResult publish(Ring& ring, int number) {
    auto claim = ring.tryReserve();
    if (claim) {
        claim.emplace().number.set(number);
        claim.commit();
        return SendResult::ok;
    }
    return claim.result();
}

template <class Ring>
void insist(Ring& ring, int number) {
    while (publish(ring, number) != SendResult::ok) {
        ModelPlatform::pause();
    }
}

template <class Ring, class Handle>
void serve(Ring& ring, std::size_t count, Handle handle) {
    while (count != 0) {
        const std::size_t served =
            ring.consumeWhile([&](Content& content) { handle(content.number.get()); }, count, goOn);
        if (served == 0) {
            ModelPlatform::pause();
        }
        count -= served;
    }
}

/// Numbers of a first publisher are 0, 1, ..., of a second one 10, 11, ...
struct InOrder {
    std::array<int, 2> next{0, 10};
    void operator()(int number) {
        check(number == next[number < 10 ? 0 : 1]++, "each publisher's order is kept");
    }
};

// ---- The order of the priorities

struct OrderTraits : BareBusTraits {
    using Platform = ModelPlatform;
    using Wait = WaitWithoutFence;
    using Index = std::uint8_t;
    static constexpr std::uint64_t firstPosition = 254;
    static constexpr bool priorities = true;
    static constexpr std::array<std::size_t, priorityCount> rooms{2, 2, 2};
    static constexpr std::size_t maxHandlers = 1;
};
struct Number {
    Plain<int> value;
};
using OrderedBus = Bus<Messages<Number>, OrderTraits>;

void mustPublish(OrderedBus& bus, int number, Priority priority) {
    check(bus.publish(Number{Plain<int>(number)}, priority) == SendResult::ok, "there is room");
}

/// The consumer finds a message of high priority whose publication has returned, although another
/// publisher may be in the middle.
void highIsFound() {
    OrderedBus bus;
    Atomic<int> isPublished{0};
    parallel([&] { mustPublish(bus, 0, Priority::low); },
             [&] {
                 mustPublish(bus, 10, Priority::high);
                 isPublished.store(1, release);
             },
             [&] {
                 await(isPublished);
                 int first = -1;
                 const auto note = [&](const Number& number) { first = number.value.get(); };
                 check(bus.processWith(note, 1) == 1, "it is there");
                 check(first == 10, "and comes first");
             });
}

/// A message of high priority that is published while a handler runs is the next one.
void highWaitsForOneHandler() {
    OrderedBus bus;
    Atomic<int> isPublished{0};
    mustPublish(bus, 0, Priority::low);
    mustPublish(bus, 1, Priority::low);
    parallel(
        [&] {
            mustPublish(bus, 10, Priority::high);
            isPublished.store(1, release);
        },
        [&] {
            bool isHighServed = false;
            (void)bus.processWith(
                [&](const Number& message) {
                    const int number = message.value.get();
                    if (number == 0) {
                        await(isPublished);
                    }
                    check(number != 1 || isHighServed, "it is next");
                    isHighServed = isHighServed || number == 10;
                },
                3);
        });
}

/// One thread closes the bus while others publish.
void closeWhileOthersPublish() {
    OrderedBus bus;
    Plain<int> handled;
    int accepted = 0;
    int served = 0;
    const auto publishOne = [&](Priority priority) {
        accepted += bus.publish(Number{Plain<int>(0)}, priority) == SendResult::ok ? 1 : 0;
    };
    parallel(
        [&] {
            publishOne(Priority::low);
            bus.close();
        },
        [&] {
            publishOne(Priority::high);
            if (bus.isDrained()) {
                check(handled.get() == accepted, "all that happened is visible");
            }
        },
        [&] {
            while (!bus.isDrained()) {
                if (bus.processWith([&](const Number&) { handled.set(++served); }, 2) == 0) {
                    ModelPlatform::pause();
                }
            }
        });
    check(accepted == served, "what was accepted was served");
}

// ---- The ring whose publishers drop messages

/// Two slots for three messages, and positions that wrap.
void slotsAreReused() {
    Dropping<2> ring;
    parallel([&] { insist(ring, 0), insist(ring, 1); }, [&] { insist(ring, 10); },
             [&] { serve(ring, 3, InOrder()); });
    check(ring.sizeExact() == 0, "all slots are free");
}

/// Publishers drop messages that the consumer would take.
void dropWhileServing() {
    Dropping<2> ring;
    int dropped = 0;
    int served = 0;
    insist(ring, 0);
    insist(ring, 1);
    const auto drop = [&](Content& content) { dropped += content.number.get() >= 0 ? 1 : 0; };
    const auto publishOne = [&](int number) {
        while (publish(ring, number) != SendResult::ok) {
            if (ring.dropExcess(drop) == 0) {
                ModelPlatform::pause();
            }
        }
        (void)ring.dropExcess(drop);
    };
    parallel([&] { publishOne(2); }, [&] { publishOne(3); },
             [&] {
                 const auto note = [&](Content& content) { served += content.number.get() >= 0; };
                 (void)ring.consumeWhile(note, 2, goOn);
             });
    const auto note = [&](Content& content) { served += content.number.get() >= 0; };
    (void)ring.consumeWhile(note, 2, goOn);
    check(dropped + served == 4, "each is dropped or served");
    check(ring.sizeExact() == 0, "all slots are free");
}

/// A publisher closes the ring while others publish.
void closeWhilePublishing() {
    Dropping<2> ring;
    Plain<int> handled;
    int accepted = 0;
    int served = 0;
    parallel([&] { ring.close(); },
             [&] {
                 accepted += publish(ring, 10) == SendResult::ok ? 1 : 0;
                 if (ring.isDrained()) {
                     check(handled.get() == accepted, "all that happened is visible");
                 }
             },
             [&] {
                 while (!ring.isDrained()) {
                     const auto handle = [&](Content&) { handled.set(++served); };
                     if (ring.consumeWhile(handle, 2, goOn) == 0) {
                         ModelPlatform::pause();
                     }
                 }
                 check(ring.isDrained(), "for good");
             });
    check(accepted == served, "what was accepted was served");
}

/// A thread that is told of the end by another thread's look sees all that happened.
void endIsPassedOn() {
    Dropping<1> ring;
    Plain<int> handled;
    insist(ring, 0);
    ring.close();
    const auto look = [&] {
        if (ring.isDrained()) {
            check(handled.get() == 1, "the handler has been here");
        }
    };
    parallel(look, look, [&] { serve(ring, 1, [&](int) { handled.set(1); }); });
}

TEST(BusModelTest, HighIsServedFirst) {
    EXPECT_TRUE(holds(highIsFound, options(budgetByEffort({1, 1}, {2, 1}))));
    EXPECT_TRUE(holds(highWaitsForOneHandler));
}

TEST(BusModelTest, ServesWhatWasAcceptedBeforeTheEnd) {
    EXPECT_TRUE(holds(closeWhileOthersPublish, options(budgetByEffort({1, 1}, {2, 1}))));
}

TEST(BusModelTest, DropOldestRingReusesSlots) {
    EXPECT_TRUE(holds(slotsAreReused, options(budgetByEffort({1, 1}, {2, 1}))));
}

TEST(BusModelTest, DropsOrServesEachOnce) {
    EXPECT_TRUE(holds(dropWhileServing, options(budgetByEffort({1, 1}, {2, 1}))));
}

TEST(BusModelTest, DropOldestRingEnds) {
    EXPECT_TRUE(holds(closeWhilePublishing));
    EXPECT_TRUE(holds(closedTellsWhy<Dropping<1>>));
    EXPECT_TRUE(holds(endIsPassedOn));
}

TEST(BusModelTest, EveryOrderOfTheDropOldestRingIsNeeded) {
    const Scenarios all{closedTellsWhy<Dropping<1>>, slotsAreReused, dropWhileServing,
                        closeWhilePublishing, endIsPassedOn};
    EXPECT_TRUE(survive({}, ordersOf("drop_oldest.hpp", options({1, 1}), all)));
}

}  // namespace
}  // namespace sluice::model
