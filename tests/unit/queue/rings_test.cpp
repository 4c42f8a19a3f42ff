#include "support/payloads.hpp"
#include "unit/queue/queue_doubles.hpp"

#include <sluice/queue/latest.hpp>
#include <sluice/queue/mpmc_ring.hpp>
#include <sluice/queue/mpsc_lanes.hpp>
#include <sluice/queue/mpsc_ring.hpp>
#include <sluice/queue/segment_queue.hpp>
#include <sluice/queue/spsc_ring.hpp>

#include "support/testing.hpp"
#include <iterator>
#include <list>
#include <random>

// What the rings have in common, beyond tests/conformance: storage, positions, reservations, the
// front, and which thread writes which lines.

namespace sluice {
namespace {

using namespace test;

struct Spsc {
    template <class T, std::size_t Capacity, class Traits = QueueTraits>
    using Ring = SpscRing<T, Capacity, Traits>;
    static constexpr bool skipsSlots = false;
    static constexpr bool popsAll = false;
    static constexpr std::size_t slotBytes = sizeof(int);
};
struct Mpsc {
    template <class T, std::size_t Capacity, class Traits = QueueTraits>
    using Ring = MpscRing<T, Capacity, Traits>;
    static constexpr bool skipsSlots = true;
    static constexpr bool popsAll = false;
    static constexpr std::size_t slotBytes = 2 * sizeof(std::uint64_t);
};
struct Mpmc {
    template <class T, std::size_t Capacity, class Traits = QueueTraits>
    using Ring = MpmcRing<T, Capacity, Traits>;
    static constexpr bool skipsSlots = true;
    static constexpr bool popsAll = true;
    static constexpr std::size_t slotBytes = 2 * sizeof(std::uint64_t);
};

static_assert(sizeof(SpscRing<std::uint32_t, 4, CompactTraits>) <= 5 * 4 + 3 * 4 + 4 * 4);
static_assert(sizeof(MpscRing<std::uint32_t, 4, CompactTraits>) <= 3 * 4 + 4 + 4 * 8);
static_assert(sizeof(MpmcRing<std::uint32_t, 4, CompactTraits>) <= 3 * 4 + 4 * 8);
static_assert(alignof(SpscRing<std::uint32_t, 4>) == cacheLineSize);
static_assert(alignof(MpscRing<std::uint32_t, 4>) == cacheLineSize);
static_assert(alignof(MpmcRing<std::uint32_t, 4>) == cacheLineSize);

template <class Ring>
std::vector<int> takeAll(Ring& ring) {
    std::vector<int> values;
    ring.consume([&](int value) { values.push_back(value); });
    return values;
}
template <class Ring>
std::vector<int> valuesOf(Ring& ring) {
    std::vector<int> values;
    ring.consume([&](auto& message) { values.push_back(message.value); });
    return values;
}

template <class Kind>
class RingTest : public testing::Test {};
using Kinds = testing::Types<Spsc, Mpsc, Mpmc>;
TYPED_TEST_SUITE(RingTest, Kinds);

// ---- storage

TYPED_TEST(RingTest, AllocatesOnceAndGivesBack) {
    CountingResource memory;
    {
        typename TypeParam::template Ring<int, dynamicCapacity> ring(5, &memory);
        EXPECT_EQ(ring.capacity(), 5U);
        EXPECT_EQ(memory.bytesInUse, 8 * TypeParam::slotBytes) << "a power of two of slots";
        for (int i = 0; i < 100; ++i) {
            ASSERT_EQ(ring.tryPush(i), SendResult::ok);
            ASSERT_EQ(ring.tryPop(), i);
        }
        ring.close();
        EXPECT_EQ(memory.allocations, 1);
    }
    EXPECT_EQ(memory.deallocations, 1);
    EXPECT_EQ(memory.bytesInUse, 0U);
}

#if defined(__cpp_exceptions)
template <class Ring>
std::string refusalOf(std::size_t capacity) {
    CountingResource memory;
    try {
        Ring ring(capacity, &memory);
    } catch (const std::invalid_argument& error) {
        EXPECT_EQ(memory.allocations, 0);
        return error.what();
    }
    return "accepted";
}

TYPED_TEST(RingTest, RefusesACapacityOutOfRange) {
    using Ring = typename TypeParam::template Ring<int, dynamicCapacity>;
    using ByteRing = typename TypeParam::template Ring<int, dynamicCapacity, ByteTraits>;
    EXPECT_EQ(refusalOf<Ring>(0), "capacity of a ring is too small: 0, limit 1");
    EXPECT_EQ(refusalOf<ByteRing>(65), "capacity of a ring is too large: 65, limit 64");
    EXPECT_EQ(refusalOf<ByteRing>(64), "accepted");
    const std::size_t largest = std::numeric_limits<std::size_t>::max();
    EXPECT_EQ(refusalOf<Ring>(largest),
              "capacity of a ring is too large: " + std::to_string(largest) + ", limit " +
                  std::to_string(largest / 4 / TypeParam::slotBytes));
}
#else
TYPED_TEST(RingTest, RefusesACapacityOutOfRange) {
    using Ring = typename TypeParam::template Ring<int, dynamicCapacity>;
    EXPECT_DEATH(Ring(0), "capacity of a ring is too small: 0, limit 1");
}
#endif

// ---- positions

// Every mix of pushes, pushes that are given up, and pops against a model, for many laps.
template <class Kind, class Traits>
void behavesAsItsModel(std::size_t capacity) {
    typename Kind::template Ring<int, dynamicCapacity, Traits> ring(capacity);
    std::deque<int> model;  // a push that is given up may leave a gap until the consumer passes it
    constexpr int gap = -1;
    std::mt19937 random(static_cast<unsigned>(capacity));
    unsigned pushes = 0;
    for (int i = 0; i < 5000; ++i) {
        const auto wanted = model.size() < capacity ? SendResult::ok : SendResult::full;
        const auto step = random() % 5;
        if (step < 2) {
            ASSERT_EQ(ring.tryPush(i), wanted);
            if (wanted == SendResult::ok) {
                model.push_back(i);
                ++pushes;
            }
        } else if (step == 2) {
            const auto dropped = ring.tryReserve();
            ASSERT_EQ(dropped.result(), wanted);
            if (Kind::skipsSlots && wanted == SendResult::ok) {
                model.push_back(gap);
                ++pushes;
            }
        } else if (Kind::popsAll && step == 3) {
            std::array<int, 3> popped{};
            std::vector<int> expected;
            while (expected.empty() && !model.empty()) {
                for (std::size_t slots = 0; slots < popped.size() && !model.empty(); ++slots) {
                    if (model.front() != gap) {
                        expected.push_back(model.front());
                    }
                    model.pop_front();
                }
            }
            std::size_t count = 0;
            if constexpr (Kind::popsAll) {
                count = ring.tryPopAll(popped.begin(), popped.size());
            }
            ASSERT_EQ(std::vector<int>(popped.begin(),
                                       popped.begin() + static_cast<std::ptrdiff_t>(count)),
                      expected);
        } else {
            while (!model.empty() && model.front() == gap) {
                model.pop_front();
            }
            const auto popped = ring.tryPop();
            ASSERT_EQ(popped.has_value(), !model.empty());
            if (popped) {
                ASSERT_EQ(*popped, model.front());
                model.pop_front();
            }
        }
        ASSERT_EQ(ring.sizeApprox(), model.size());
        ASSERT_EQ(ring.sizeExact(), model.size());
        ASSERT_EQ(ring.pushCount() % 128, pushes % 128);
    }
}

TYPED_TEST(RingTest, BehavesAsItsModelAcrossTheWrap) {
    for (const std::size_t capacity : {1U, 2U, 3U, 4U, 5U, 33U, 64U}) {
        behavesAsItsModel<TypeParam, ByteTraits>(capacity);
        behavesAsItsModel<TypeParam, NearWrapTraits>(capacity);
    }
}

// ---- pushes

/// A refused push leaves an argument of another type whole.
template <class Queue, class Producer>
void keepsARefusedArgument(Queue& queue, Producer& producer) {
    auto first = std::make_unique<int>(1);
    ASSERT_EQ(producer.tryPush(std::move(first)), SendResult::ok);
    EXPECT_EQ(first, nullptr);
    auto refused = std::make_unique<int>(2);
    EXPECT_EQ(producer.tryPush(std::move(refused)), SendResult::full);
    queue.close();
    EXPECT_EQ(producer.tryPush(std::move(refused)), SendResult::closed);
    EXPECT_NE(refused, nullptr);
}

TYPED_TEST(RingTest, KeepsARefusedArgumentOfAnotherType) {
    typename TypeParam::template Ring<std::shared_ptr<const int>, 1> ring;
    keepsARefusedArgument(ring, ring);
}

TEST(OtherQueuesTest, KeepARefusedArgumentOfAnotherType) {
    MpscLanes<std::shared_ptr<const int>> lanes(1);
    auto producer = lanes.producer();
    keepsARefusedArgument(lanes, producer);
    SegmentQueue<std::shared_ptr<const int>> segments(1);
    keepsARefusedArgument(segments, segments);
    struct Setting {  // a writer in the middle of a set(): there is no slot for another one
        Setting(std::unique_ptr<int> number, Latest<Setting, 1>* latest)
            : value(std::move(number)) {
            auto second = std::make_unique<int>(2);
            EXPECT_FALSE(latest == nullptr || latest->set(std::move(second)));
            EXPECT_NE(second, nullptr);
        }
        Setting(std::unique_ptr<int> number) : Setting(std::move(number), nullptr) {}
        std::unique_ptr<int> value;
    };
    Latest<Setting, 1> latest;
    EXPECT_TRUE(latest.emplace(std::make_unique<int>(1), &latest));
}

TYPED_TEST(RingTest, PushesBitFieldsBracesAndNullPointers) {
    struct Flags {
        unsigned low : 3;
    };
    typename TypeParam::template Ring<unsigned, 2> numbers;
    Flags flags{5};
    EXPECT_EQ(numbers.tryPush(flags.low), SendResult::ok);
    EXPECT_EQ(numbers.tryPush({}), SendResult::ok);
    EXPECT_EQ(numbers.tryPop(), 5U);
    typename TypeParam::template Ring<int*, 1> pointers;
    EXPECT_EQ(pointers.tryPush(0), SendResult::ok);
    EXPECT_EQ(pointers.tryPop(), nullptr);
}

TYPED_TEST(RingTest, TakesNoAddressWithTheOperatorOfAMessage) {
    typename TypeParam::template Ring<Disguised, 4> ring;
    auto reservation = ring.tryReserve();
    reservation.emplace(1);
    EXPECT_EQ(reservation->value, 1);
    reservation.commit();
    EXPECT_EQ(valuesOf(ring), std::vector<int>{1});
}

TYPED_TEST(RingTest, ReservationIsPublishedByItsCommit) {
    typename TypeParam::template Ring<std::string, 2> ring;
    auto reservation = ring.tryReserve();
    ASSERT_TRUE(reservation);
    EXPECT_EQ(reservation.number(), 0U);
    std::string& message = reservation.emplace("ab");
    EXPECT_EQ(&*reservation, &message);
    reservation->push_back('c');
    EXPECT_FALSE(ring.tryPop());
    reservation.commit();
    EXPECT_FALSE(reservation);
    EXPECT_EQ(reservation.result(), SendResult::ok);
    ASSERT_EQ(ring.tryPush("d"), SendResult::ok) << "although the reservation still lives";
    EXPECT_EQ(ring.tryPop(), "abc");
    EXPECT_EQ(ring.tryPop(), "d");
    ring.close();
    EXPECT_EQ(ring.tryReserve().result(), SendResult::closed);
    EXPECT_TRUE(ring.isDrained());
}

TYPED_TEST(RingTest, QueueIsNotDrainedWhileAReservationIsOpen) {
    typename TypeParam::template Ring<Tracked, 2> ring;
    {
        auto reservation = ring.tryReserve();
        ring.close();
        EXPECT_FALSE(ring.isDrained());
        reservation.emplace(1);
        EXPECT_EQ(Tracked::alive, 1);
    }
    EXPECT_EQ(Tracked::alive, 0);
    EXPECT_FALSE(ring.tryPop()) << "it was not committed";
    EXPECT_TRUE(ring.isDrained());
}

template <class Kind>
using RingDeathTest = RingTest<Kind>;
TYPED_TEST_SUITE(RingDeathTest, Kinds);

TYPED_TEST(RingDeathTest, MisusedReservation) {
    typename TypeParam::template Ring<int, 2> ring;
    auto reservation = ring.tryReserve();
    EXPECT_DEATH(reservation.commit(), "call emplace first");
    reservation.emplace(1);
    EXPECT_DEATH(reservation.emplace(2), "holds no message yet");
    reservation.commit();
    EXPECT_DEATH(reservation.commit(), "commit once");
    ring.close();
    auto refused = ring.tryReserve();
    EXPECT_DEATH(refused.emplace(3), "a reservation that succeeded");
}

// ---- the ends, of rings of one consumer

template <class Kind>
class RingFrontTest : public testing::Test {};
using FrontKinds = testing::Types<Spsc, Mpsc>;
TYPED_TEST_SUITE(RingFrontTest, FrontKinds);

TEST(SpscFrontTest, IsTheOldestUntilItIsPopped) {
    SpscRing<Tracked, 2> ring;
    EXPECT_EQ(ring.front(), nullptr);
    ASSERT_EQ(ring.tryEmplace(1), SendResult::ok);
    ASSERT_EQ(ring.tryEmplace(2), SendResult::ok);
    EXPECT_EQ(ring.front()->value, 1);
    EXPECT_EQ(ring.tryEmplace(3), SendResult::full);
    ring.popFront();
    EXPECT_EQ(Tracked::alive, 1);
    EXPECT_EQ(ring.consume([](Tracked&) {}, 1), 1U);
    EXPECT_EQ(ring.front(), nullptr);
    SpscRing<Disguised, 4> disguised;
    ASSERT_EQ(disguised.tryEmplace(1), SendResult::ok);
    EXPECT_EQ(disguised.front()->value, 1);
}

TYPED_TEST(RingFrontTest, ASecondMessageIsOneBehindTheOldest) {
    typename TypeParam::template Ring<int, 2> ring;
    EXPECT_FALSE(ring.hasSecond()) << "empty";
    for (int round = 0; round < 3; ++round) {
        EXPECT_FALSE(ring.hasArrival());
        ASSERT_EQ(ring.tryPush(1), SendResult::ok);
        EXPECT_TRUE(ring.hasArrival());
        EXPECT_FALSE(ring.hasSecond());
        ASSERT_EQ(ring.tryPush(2), SendResult::ok);
        EXPECT_TRUE(ring.hasSecond());
        ring.consume([&](int) { EXPECT_TRUE(ring.hasSecond()) << "its slot is still in use"; }, 1);
        EXPECT_FALSE(ring.hasSecond());
        ASSERT_EQ(ring.tryPop(), 2);
    }
}

TYPED_TEST(RingFrontTest, TheSidesWriteDifferentLines) {
    typename TypeParam::template Ring<int, 16, TracingTraits> ring;
    WriteTrace::take();
    for (int i = 0; i < 17; ++i) {
        (void)ring.tryPush(i);
    }
    const WriteTrace::Lines producers = WriteTrace::take();
    EXPECT_EQ(ring.consume([](int) {}, 15), 15U);
    EXPECT_EQ(ring.tryPop(), 15);
    EXPECT_EQ(ring.tryPop(), std::nullopt);
    const WriteTrace::Lines consumers = WriteTrace::take();
    EXPECT_EQ(consumers.size(), 1U);
    EXPECT_FALSE(producers.empty());
    EXPECT_TRUE(areDisjoint(producers, consumers));
}

#ifndef NDEBUG
template <class Kind>
using RingFrontDeathTest = RingFrontTest<Kind>;
TYPED_TEST_SUITE(RingFrontDeathTest, FrontKinds);

TYPED_TEST(RingFrontDeathTest, HandlerThatConsumesFromItsOwnQueue) {
    typename TypeParam::template Ring<int, 4> ring;
    ASSERT_EQ(ring.tryPush(1), SendResult::ok);
    const char* const advice = "let one thread at a time consume";
    EXPECT_DEATH(ring.consume([&](int) { ring.consume([](int) {}); }), advice);
    EXPECT_DEATH(ring.consume([&](int) { (void)ring.tryPop(); }), advice);
}

TEST(SpscRingDeathTest, PopFrontOfAnEmptyRing) {
    SpscRing<int, 4> ring;
    EXPECT_DEATH(ring.popFront(), "only after front\\(\\) returned one");
}
#else
TEST(SpscRingTest, PopFrontOfAnEmptyRingDoesNothingInReleaseBuilds) {
    SpscRing<int, 4> ring;
    ring.popFront();
    ASSERT_EQ(ring.tryPush(1), SendResult::ok);
    EXPECT_EQ(ring.tryPop(), 1);
}
#endif

// ---- several producers

template <class Kind>
class ManyProducersTest : public testing::Test {};
using ManyKinds = testing::Types<Mpsc, Mpmc>;
TYPED_TEST_SUITE(ManyProducersTest, ManyKinds);

TYPED_TEST(ManyProducersTest, ConsumeEndsAlthoughItsHandlerKeepsPushing) {
    typename TypeParam::template Ring<Building, 4> ring;
    ASSERT_EQ(ring.tryEmplace(0), SendResult::ok);
    const std::size_t count = ring.consume(
        [&](Building& message) { EXPECT_EQ(ring.tryEmplace(message.value + 1), SendResult::ok); });
    EXPECT_EQ(count, ring.capacity());
    EXPECT_EQ(valuesOf(ring), (std::vector<int>{4}));
}

TYPED_TEST(RingTest, RangeIsPushedAsFarAsItFits) {
    const std::list<int> range{0, 1, 2, 3, 4, 5, 6};
    for (std::size_t before = 0; before <= 5; ++before) {
        typename TypeParam::template Ring<int, 5, ByteTraits> ring;
        for (std::size_t lap = 0; lap < 200; ++lap) {
            std::vector<int> expected(before, -1);
            for (std::size_t i = 0; i < before; ++i) {
                ASSERT_EQ(ring.tryPush(-1), SendResult::ok);
            }
            ASSERT_EQ(ring.tryPushAll(range.begin(), range.begin()), 0U);
            ASSERT_EQ(ring.tryPushAll(range.begin(), range.end()), 5 - before);
            ASSERT_EQ(ring.tryPush(9), SendResult::full);
            expected.insert(expected.end(), range.begin(),
                            std::next(range.begin(), static_cast<std::ptrdiff_t>(5 - before)));
            ASSERT_EQ(takeAll(ring), expected);
        }
    }
}

TYPED_TEST(RingTest, RefusedPartOfARangeIsNotMoved) {
    typename TypeParam::template Ring<Tracked, 2> ring;
    std::array<Tracked, 3> range{Tracked(0), Tracked(1), Tracked(2)};
    const auto begin = std::make_move_iterator(range.begin());
    const auto end = std::make_move_iterator(range.end());
    EXPECT_EQ(ring.tryPushAll(begin, end), 2U);
    EXPECT_EQ(range[0].value, Tracked::movedFrom);
    EXPECT_EQ(range[2].value, 2);
    ring.close();
    EXPECT_EQ(ring.tryPushAll(begin + 2, end), 0U);
    EXPECT_EQ(range[2].value, 2);
}

TYPED_TEST(ManyProducersTest, APushOrARangeIsOneCompareExchange) {
    typename TypeParam::template Ring<int, 64, TracingTraits> ring;
    constexpr int perPop = std::is_same_v<TypeParam, Mpmc> ? 2 : 0;
    for (int i = 0; i < 20; ++i) {
        WriteTrace::readModifyWrites = 0;
        ASSERT_EQ(ring.tryPush(i), SendResult::ok);
        EXPECT_EQ(WriteTrace::readModifyWrites, 1);
        ASSERT_EQ(ring.tryPop(), i);
        EXPECT_EQ(WriteTrace::readModifyWrites, 1 + perPop);
        ASSERT_EQ(ring.tryPop(), std::nullopt);
        EXPECT_EQ(WriteTrace::readModifyWrites, 1 + perPop) << "an empty poll takes none";
    }
    const std::vector<int> range(50, 7);
    WriteTrace::readModifyWrites = 0;
    EXPECT_EQ(ring.tryPushAll(range.begin(), range.end()), 50U);
    EXPECT_EQ(WriteTrace::readModifyWrites, 1);
}

TYPED_TEST(ManyProducersTest, SlotsOfAReservationAreCommittedOneByOne) {
    typename TypeParam::template Ring<Tracked, 4> ring;
    {
        auto slots = ring.tryReserve(3);
        ASSERT_EQ(slots.size(), 3U);
        ASSERT_EQ(ring.tryEmplace(9), SendResult::ok) << "behind all three";
        slots.emplace(0);
        EXPECT_FALSE(ring.tryPop());
        slots.commit();
        EXPECT_EQ(ring.tryPop()->value, 0);
        EXPECT_EQ(slots.number(), 1U);
        EXPECT_EQ(slots.size(), 2U);
        slots.emplace(1);
    }
    EXPECT_EQ(ring.tryPop()->value, 9) << "what was not committed is skipped";
    EXPECT_EQ(Tracked::alive, 0);
    EXPECT_EQ(ring.sizeApprox(), 0U);
}

TYPED_TEST(ManyProducersTest, ReservationOfNothingHoldsNothing) {
    typename TypeParam::template Ring<int, 2> ring;
    const auto nothing = ring.tryReserve(0);
    EXPECT_FALSE(nothing);
    EXPECT_EQ(nothing.result(), SendResult::ok);
    EXPECT_EQ(ring.tryReserve(unlimited).size(), 2U);
    EXPECT_EQ(ring.consume([](int) {}), 0U) << "both are skipped";
    ring.close();
    EXPECT_EQ(ring.tryReserve(2).result(), SendResult::closed);
}

#if defined(__cpp_exceptions)
struct Refusing {
    explicit Refusing(int number) : value(number) {
        if (number == 2) {
            throw std::runtime_error("constructor");
        }
    }
    int value;
};

TYPED_TEST(RingTest, RangeEndsAtAConstructorThatThrows) {
    typename TypeParam::template Ring<Refusing, 8> ring;
    const std::array<int, 4> range{0, 1, 2, 3};
    EXPECT_THROW((void)ring.tryPushAll(range.begin(), range.end()), std::runtime_error);
    ASSERT_EQ(ring.tryEmplace(9), SendResult::ok);
    EXPECT_EQ(valuesOf(ring), (std::vector<int>{0, 1, 9}));
    EXPECT_EQ(ring.sizeApprox(), 0U);
}
#endif

// ---- several consumers

TEST(MpmcRingTest, HandlerThatConsumesGetsTheNextMessage) {
    MpmcRing<int, 4> ring;
    for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(ring.tryPush(i), SendResult::ok);
    }
    std::vector<int> seen;
    const std::size_t count = ring.consume([&](int message) {
        EXPECT_FALSE(ring.isDrained());
        EXPECT_EQ(ring.tryPop(), message + 1);
        seen.push_back(message);
    });
    EXPECT_EQ(count, 2U);
    EXPECT_EQ(seen, (std::vector<int>{0, 2}));
    EXPECT_EQ(ring.sizeApprox(), 0U);
}

// The first message is handled while all others come and go: its slot is in use until then.
TEST(MpmcRingTest, PopAllMovesMessagesAndFreesTheirSlots) {
    MpmcRing<std::unique_ptr<int>, 4> ring;
    for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(ring.tryPush(std::make_unique<int>(i)), SendResult::ok);
    }
    std::array<std::unique_ptr<int>, 4> messages;
    EXPECT_EQ(ring.tryPopAll(messages.begin(), 0), 0U);
    EXPECT_EQ(ring.sizeApprox(), 4U);
    EXPECT_EQ(ring.tryPopAll(messages.begin(), 3), 3U);
    EXPECT_EQ(*messages[2], 2);
    EXPECT_EQ(ring.tryPush(std::make_unique<int>(4)), SendResult::ok);
    ring.close();
    EXPECT_FALSE(ring.isDrained());
    EXPECT_EQ(ring.tryPopAll(messages.begin(), unlimited), 2U);
    EXPECT_EQ(*messages[1], 4);
    EXPECT_TRUE(ring.isDrained());
    EXPECT_EQ(ring.tryPopAll(messages.begin(), unlimited), 0U);
}

TEST(MpmcRingTest, SlowHandlerHoldsUpItsOwnSlotOnly) {
    for (const std::size_t capacity : {1U, 2U, 3U, 4U, 5U, 64U}) {
        MpmcRing<int, dynamicCapacity, ByteTraits> ring(capacity);
        ASSERT_EQ(ring.tryPush(0), SendResult::ok);
        ring.consume(
            [&](int) {
                EXPECT_FALSE(ring.hasArrival()) << "it is taken";
                for (std::size_t i = 1; i < capacity; ++i) {
                    ASSERT_EQ(ring.tryPush(static_cast<int>(i)), SendResult::ok);
                    ASSERT_EQ(ring.tryPop(), static_cast<int>(i));
                    ASSERT_EQ(ring.sizeApprox(), 1U) << "the message that is being handled";
                }
                EXPECT_EQ(ring.tryPush(9), SendResult::full) << "here the ring reaches its slot";
                EXPECT_EQ(ring.tryPop(), std::nullopt);
            },
            1);
        EXPECT_EQ(ring.sizeApprox(), 0U);
        for (std::size_t i = 0; i < capacity; ++i) {
            ASSERT_EQ(ring.tryPush(1), SendResult::ok) << "slot " << i << " of " << capacity;
        }
        EXPECT_EQ(ring.tryPush(1), SendResult::full);
    }
}

// No member may ask for less alignment than its type has, even if distance does not pay: clang
// refuses that.
struct CompactSegmentTraits : SegmentQueueTraits {
    static constexpr std::size_t cacheLineSize = 4;
};

}  // namespace

template class SpscRing<int, 4, test::CompactTraits>;
template class SpscRing<double, dynamicCapacity, test::CompactTraits>;
template class MpscRing<double, 4, test::CompactTraits>;
template class MpmcRing<double, 4, test::CompactTraits>;
template class MpscLanes<double, test::CompactTraits>;
template class SegmentQueue<double, CompactSegmentTraits>;

}  // namespace sluice
