#include "model/queue_scenarios.hpp"
#include "support/sanitizers.hpp"

#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/detail/priority_rings.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>

// The rings of the bus as shipped, and the ring whose publishers drop messages, under the model
// checker. The other rings have model tests of their own.

namespace sluice::model {
namespace {

struct BusTraits : FullBusTraits {
    using Platform = ModelPlatform;
    using Index = std::uint8_t;
    static constexpr std::uint64_t firstPosition = 254;
    static constexpr std::array<std::size_t, priorityCount> rooms{2, 2, 2};
};

/// The content of a slot. It is checked for data races.
struct Content {
    void moveFrom(Content& other) noexcept { number.set(other.number.get()); }
    Plain<int> number;
};

using Rings = detail::PriorityRings<Content, BusTraits>;
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

void insist(Rings& rings, int number, Priority priority) {
    rings.at(priority, [&](auto& ring) { insist(ring, number); });
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

void await(const Atomic<int>& flag) {
    while (flag.load(std::memory_order_acquire) == 0) {
        ModelPlatform::pause();
    }
}

/// Numbers of a first publisher are 0, 1, ..., of a second one 10, 11, ...
struct InOrder {
    std::array<int, 2> next{0, 10};
    void operator()(int number) {
        check(number == next[number < 10 ? 0 : 1]++, "each publisher's order is kept");
    }
};

// ---- The rings

/// The first message to be served must be this one.
void serveFirst(Rings& rings, int number) {
    int first = -1;
    const auto note = [&](Content& content, auto) { first = content.number.get(); };
    check(rings.serve(note, 1, [](auto) {}) == 1, "it is there");
    check(first == number, "and comes first");
}

/// The consumer finds a message of high priority whose publication has returned, although another
/// publisher may be in the middle.
void highIsFound() {
    Rings rings;
    Atomic<int> isPublished{0};
    parallel([&] { insist(rings, 0, Priority::low); }, [&] { insist(rings, 1, Priority::medium); },
             [&] {
                 insist(rings, 10, Priority::high);
                 isPublished.store(1, std::memory_order_release);
             },
             [&] {
                 await(isPublished);
                 serveFirst(rings, 10);
             });
}

/// A message of high priority that is published while a handler runs is the next one.
void highWaitsForOneHandler() {
    Rings rings;
    Atomic<int> isPublished{0};
    insist(rings, 0, Priority::low);
    insist(rings, 1, Priority::low);
    parallel(
        [&] {
            insist(rings, 10, Priority::high);
            isPublished.store(1, std::memory_order_release);
        },
        [&] {
            bool isHighServed = false;
            const auto handle = [&](Content& content, auto) {
                const int number = content.number.get();
                if (number == 0) {
                    await(isPublished);
                }
                check(number != 1 || isHighServed, "it is next");
                isHighServed = isHighServed || number == 10;
            };
            (void)rings.serve(handle, 3, [](auto) {});
        });
}

/// One thread closes the rings while others publish.
void closeTheStoreWhilePublishing() {
    Rings rings;
    Plain<int> handled;
    int accepted = 0;
    int served = 0;
    const auto publishOne = [&](Priority priority) {
        rings.at(priority,
                 [&](auto& ring) { accepted += publish(ring, 0) == SendResult::ok ? 1 : 0; });
    };
    parallel(
        [&] {
            publishOne(Priority::low);
            rings.close();
        },
        [&] {
            publishOne(Priority::high);
            if (rings.isDrained()) {
                check(handled.get() == accepted, "all that happened is visible");
            }
        },
        [&] {
            while (!rings.isDrained()) {
                const auto handle = [&](Content&, auto) { handled.set(++served); };
                if (rings.serve(handle, 2, [](auto) {}) == 0) {
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

/// A thread that sees a message gone sees what its handler wrote.
void sizeTellsThatAHandlerIsDone() {
    Dropping<1> ring;
    Plain<int> handled;
    parallel(
        [&] {
            insist(ring, 0);
            if (ring.sizeExact() == 0) {
                check(handled.get() == 1, "the handler has been here");
            }
        },
        [&] { (void)ring.consumeWhile([&](Content&) { handled.set(1); }, 1, goOn); });
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
    EXPECT_TRUE(holds(closeTheStoreWhilePublishing, options(budgetByEffort({1, 1}, {2, 1}))));
}

TEST(BusModelTest, DropOldestRingReusesSlots) {
    EXPECT_TRUE(holds(slotsAreReused, options(budgetByEffort({1, 1}, {2, 1}))));
    EXPECT_TRUE(holds(sizeTellsThatAHandlerIsDone));
}

TEST(BusModelTest, DropsOrServesEachOnce) {
    EXPECT_TRUE(holds(dropWhileServing, options(budgetByEffort({1, 1}, {2, 1}))));
}

TEST(BusModelTest, DropOldestRingEnds) {
    EXPECT_TRUE(holds(closeWhilePublishing));
    EXPECT_TRUE(holds(closedTellsWhy<Dropping<1>>));
    EXPECT_TRUE(holds(endIsPassedOn));
}

// Not under sanitizers: they end the process for the faults that mutants are meant to have.
#if !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN
TEST(BusModelTest, EveryOrderOfTheDropOldestRingIsNeeded) {
    const Scenarios all{closedTellsWhy<Dropping<1>>,
                        sizeTellsThatAHandlerIsDone,
                        slotsAreReused,
                        dropWhileServing,
                        closeWhilePublishing,
                        endIsPassedOn};
    EXPECT_TRUE(survive({}, surveyOrders("drop_oldest_ring.hpp", options({1, 1}), all)));
}
#endif

}  // namespace
}  // namespace sluice::model
