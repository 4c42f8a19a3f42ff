#include "unit/bus/bus_doubles.hpp"

#include "support/testing.hpp"

namespace sluice {
namespace {

using namespace test;

struct alignas(64) Aligned {
    char byte;
};
using List = Messages<int, std::string, Aligned>;

static_assert(List::count == 3);
static_assert(List::maxSize == 64 && List::maxAlignment == 64);
static_assert(!List::areTriviallyDestructible && Messages<int, Aligned>::areTriviallyDestructible);
static_assert(List::contains<int> && !List::contains<const int> && !List::contains<long>);
static_assert(List::indexOf<int> == 0 && List::indexOf<std::string> == 1 &&
              List::indexOf<Aligned> == 2);

struct NoFields : DeepTraits<10> {
    static constexpr bool ids = false;
    static constexpr TimeStamp timeStamp = TimeStamp::none;
    static constexpr bool senders = false;
};
struct AllFields : DeepTraits<10> {
    static constexpr TimeStamp timeStamp = TimeStamp::exact;
    static constexpr bool origins = true;
    static constexpr bool traces = true;
};

// A field that is off costs no byte.
static_assert(std::is_empty_v<MessageHeader<BareBusTraits>>);
static_assert(sizeof(MessageHeader<NoFields>) == sizeof(Priority));
static_assert(sizeof(MessageHeader<FullBusTraits>) == 24);
static_assert(sizeof(MessageHeader<AllFields>) == 40);
static_assert(sizeof(detail::QueuedMessage<Messages<std::uint64_t>, BareBusTraits>) == 16);
static_assert(sizeof(detail::QueuedMessage<Messages<std::uint64_t>, FullBusTraits>) == 32);
static_assert(MessageHeader<FullBusTraits>::hasId && !MessageHeader<BareBusTraits>::hasId);
static_assert(!MessageHeader<FullBusTraits>::hasTrace && MessageHeader<AllFields>::hasTrace);

TEST(BusHeaderTest, SaysWhatThePublisherSaid) {
    Bus<TestMessages, AllFields> bus;
    const auto before = std::chrono::steady_clock::now();
    ASSERT_EQ(bus.publish(Sample{1}, PublishOptions{Priority::high, 7, 8, 9}), SendResult::ok);
    const auto after = std::chrono::steady_clock::now();
    int seen = 0;
    bus.processWith(partial([&](Sample&, const auto& header) {
        ++seen;
        EXPECT_EQ(header.priority, Priority::high);
        EXPECT_EQ(header.sender, 7U);
        EXPECT_EQ(header.origin, 8U);
        EXPECT_EQ(header.trace, 9U);
        EXPECT_LE(before, header.timeStamp);
        EXPECT_LE(header.timeStamp, after);
    }));
    EXPECT_EQ(seen, 1);
}

/// A clock that a test moves by hand.
struct HandClock {
    using rep = std::int64_t;
    using period = std::nano;
    using duration = std::chrono::nanoseconds;
    using time_point = std::chrono::time_point<HandClock>;
    [[maybe_unused]] static constexpr bool is_steady = true;
    static time_point now() noexcept {
        ++readings;
        if (const auto interrupt = std::exchange(nextInterrupt, nullptr)) {
            interrupt();
        }
        return time_point(duration(time));
    }
    inline static std::function<void()> nextInterrupt;  ///< runs in the middle of a reading
    inline static rep time = 0;
    inline static int readings = 0;
};
struct HandPlatform : StdPlatform {
    using Clock = HandClock;
};
struct HandWait {
    using Clock = HandClock;
    template <class Ready>
    void wait(Ready ready) {
        EXPECT_TRUE(ready());
    }
    template <class Ready>
    bool waitUntil(Ready ready, HandClock::time_point) {
        return ready();
    }
    void notifyAll() noexcept {}
};
template <TimeStamp Stamp>
struct HandTraits : DeepTraits<200> {
    using Platform = HandPlatform;
    using Wait = HandWait;
    using Pacing = NoPacing;
    static constexpr TimeStamp timeStamp = Stamp;
};

template <class AnyBus>
std::vector<HandClock::rep> takeStamps(AnyBus& bus) {
    std::vector<HandClock::rep> stamps;
    bus.processWith(partial([&](Sample&, const auto& header) {
        stamps.push_back(header.timeStamp.time_since_epoch().count());
    }));
    return stamps;
}

TEST(BusHeaderTest, ExactStampIsTheTimeOfThePublication) {
    Bus<TestMessages, HandTraits<TimeStamp::exact>> bus;
    HandClock::time = 100;
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    HandClock::time = 200;
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    HandClock::time = 300;
    EXPECT_EQ(takeStamps(bus), (std::vector<HandClock::rep>{100, 200}));
    const QueueTimes times = bus.statistics().times[1];
    EXPECT_EQ(times.count, 2U);
    EXPECT_EQ(times.sum.count(), 300);
    EXPECT_EQ(times.max.count(), 200);
    EXPECT_EQ(times.mean().count(), 150);
}

TEST(BusHeaderTest, CachedStampIsTheTimeTheConsumerLastLooked) {
    Bus<TestMessages, HandTraits<TimeStamp::cached>> bus;
    HandClock::time = 100;
    publishSamples(bus, 8);  // the consumer has never looked
    HandClock::time = 200;
    EXPECT_EQ(takeStamps(bus), std::vector<HandClock::rep>(8, 100));
    HandClock::time = 300;
    const int readings = HandClock::readings;
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    EXPECT_EQ(HandClock::readings, readings);
    EXPECT_FALSE(bus.waitFor(std::chrono::nanoseconds(0)) && false);
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);  // the consumer may be asleep
    HandClock::time = 400;
    EXPECT_EQ(takeStamps(bus), (std::vector<HandClock::rep>{200, 300}));
    const QueueTimes times = bus.statistics().times[1];
    EXPECT_EQ(times.count, 10U);
    EXPECT_EQ(times.sum.count(), 8 * 100 + 200 + 100);
    EXPECT_EQ(times.max.count(), 200);
}

/// Looks often enough, so many nanoseconds apart, for the bus to be seen as idle.
template <class AnyBus>
void lookInVain(AnyBus& bus, int apart) {
    for (int i = 0; i < 128; ++i) {
        HandClock::time += apart;
        ASSERT_EQ(bus.process(), 0U);
    }
}

// The consumer has polled without finding a message, so the publisher reads the clock itself.
TEST(BusHeaderTest, StampOfALonelyMessageIsTheTimeOfItsPublication) {
    Bus<TestMessages, HandTraits<TimeStamp::cached>> bus;
    HandClock::time = 1000;
    publishSamples(bus, 8);
    EXPECT_EQ(bus.process(), 8U);
    lookInVain(bus, 10);
    HandClock::time += 10;
    const HandClock::rep published = HandClock::time;
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    HandClock::time += 10;
    EXPECT_EQ(takeStamps(bus), std::vector<HandClock::rep>{published});
    EXPECT_EQ(bus.statistics().times[1].max.count(), 10);
}

// The consumer looks at a slow beat, and finds one message each time.
TEST(BusHeaderTest, FewMessagesAfterALongTimeLeaveTheClockToPublishers) {
    Bus<TestMessages, HandTraits<TimeStamp::cached>> bus;
    HandClock::time = 1000;
    publishSamples(bus, 8);
    EXPECT_EQ(bus.process(), 8U);
    HandClock::time += 50'000'000;
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    EXPECT_EQ(bus.process(), 1U);
    HandClock::time += 50'000'000;
    const HandClock::rep published = HandClock::time;
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    HandClock::time += 10;
    EXPECT_EQ(takeStamps(bus), std::vector<HandClock::rep>{published});
}

// A clock may count from a moment centuries ago.
TEST(BusHeaderTest, TimesAddUpHoweverLateItIs) {
    HandClock::time = std::numeric_limits<HandClock::rep>::max() / 2;
    Bus<TestMessages, HandTraits<TimeStamp::cached>> bus;
    publishSamples(bus, 64);
    HandClock::time += 100;
    EXPECT_EQ(bus.process(), 64U);
    EXPECT_EQ(bus.statistics().times[1].sum.count(), 6400);
}

// Published after the consumer has looked, and before it reads the clock.
TEST(BusHeaderTest, StampIsNotLaterThanThePublication) {
    Bus<TestMessages, HandTraits<TimeStamp::cached>> bus;
    HandClock::time = 1000;
    publishSamples(bus, 8);
    ASSERT_EQ(bus.process(), 8U);
    HandClock::rep published = 0;
    HandClock::nextInterrupt = [&] {
        EXPECT_EQ(bus.publish(Sample{}), SendResult::ok);
        published = HandClock::time;
        HandClock::time += 100;
    };
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    ASSERT_EQ(bus.process(), 1U);
    ASSERT_NE(published, 0);
    const std::vector<HandClock::rep> stamps = takeStamps(bus);
    ASSERT_EQ(stamps.size(), 1U);
    EXPECT_LE(stamps[0], published);
}

TEST(BusHeaderTest, ConsumerReadsTheClockOnceForManyMessages) {
    Bus<TestMessages, HandTraits<TimeStamp::cached>> bus;
    bus.process();
    publishSamples(bus, 100);
    const int readings = HandClock::readings;
    bus.process();
    EXPECT_LE(HandClock::readings, readings + 3);
    EXPECT_EQ(bus.statistics().times[1].count, 100U);
}

// ---- Messages that expire

template <class Base = DeepTraits<16>>
struct Mortal : Base {
    using Platform = HandPlatform;
    using Wait = HandWait;
    using Pacing = NoPacing;
    static constexpr bool expiry = true;
};
struct ByShares : DeepTraits<16> {
    static constexpr PriorityOrder service = PriorityOrder::weighted;
};
struct ByOne : DeepTraits<16> {
    [[maybe_unused]] static constexpr Producers producers = Producers::one;
};
using Dropping = OverflowTraits<Overflow::reject, Overflow::dropOldest, Overflow::reject, 32>;
struct NoPriorities : DeepTraits<16> {
    static constexpr bool priorities = false;
};
static_assert(!MessageHeader<FullBusTraits>::hasExpiry && MessageHeader<Mortal<>>::hasExpiry);

template <class Traits>
class BusExpiryTest : public testing::Test {
protected:
    using TheBus = Bus<TestMessages, Mortal<Traits>>;
    using Options = ExpiringOptions<HandClock>;

    static HandClock::time_point at(HandClock::rep time) {
        return HandClock::time_point(HandClock::duration(time));
    }
    /// Two that expire at 100 and 200, and one that does not.
    void publishThree() {
        HandClock::time = 50;
        ASSERT_EQ(bus.publish(Sample{1}, Options{{}, at(100)}), SendResult::ok);
        ASSERT_EQ(bus.publish(Sample{2}, Options{{Priority::medium, 7}, at(200)}), SendResult::ok);
        ASSERT_EQ(bus.publish(Sample{3}), SendResult::ok);
    }

    TheBus bus;
};
using ExpiryTraits = testing::Types<DeepTraits<16>, ByShares, ByOne, Dropping, NoPriorities>;
TYPED_TEST_SUITE(BusExpiryTest, ExpiryTraits, );

TYPED_TEST(BusExpiryTest, NoHandlerSeesAMessageAfterItsTime) {
    for (const bool byVisitor : {false, true}) {
        this->publishThree();
        const MessageCounts before = this->bus.statistics().total();
        HandClock::time = 100;
        std::vector<int> seen;
        const auto handler = [&](const Sample& sample, const auto& header) {
            EXPECT_EQ(header.expires,
                      sample.value == 2 ? this->at(200) : HandClock::time_point::max());
            EXPECT_EQ(header.sender, sample.value == 2 ? 7U : 0U);
            seen.push_back(sample.value);
        };
        const auto subscription = this->bus.template subscribe<Sample>(handler);
        EXPECT_EQ(byVisitor ? this->bus.processWith(partial(handler)) : this->bus.process(), 3U);
        EXPECT_EQ(seen, (std::vector<int>{2, 3}));
        const MessageCounts total = this->bus.statistics().total();
        EXPECT_EQ(total.expired - before.expired, 1U);
        EXPECT_EQ(total.delivered - before.delivered, 2U);
        EXPECT_EQ(total.published, total.delivered + total.expired);
        EXPECT_EQ(this->bus.statistics().ofType(0).expired, total.expired);
        EXPECT_EQ(total.queued(), 0U);
        EXPECT_EQ(this->bus.statistics().times[1].count, total.delivered);
    }
}

TYPED_TEST(BusExpiryTest, HandlerThatTakesLongMakesTheNextMessageExpire) {
    this->publishThree();
    std::vector<int> seen;
    EXPECT_EQ(this->bus.processWith(partial([&](const Sample& sample) {
        seen.push_back(sample.value);
        HandClock::time = 200;
    })),
              3U);
    EXPECT_EQ(seen, (std::vector<int>{1, 3}));
    EXPECT_EQ(this->bus.statistics().total().expired, 1U);
}

TYPED_TEST(BusExpiryTest, QueuedAndDiscardedMessagesHaveNotExpired) {
    this->publishThree();
    HandClock::time = 1000;
    EXPECT_EQ(this->bus.statistics().total().queued(), 3U);
    EXPECT_EQ(this->bus.discard(), 3U);
    const MessageCounts total = this->bus.statistics().total();
    EXPECT_EQ(total.expired, 0U);
    EXPECT_EQ(total.discarded, 3U);
}

}  // namespace
}  // namespace sluice
