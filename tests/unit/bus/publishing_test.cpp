#include "support/crew.hpp"
#include "unit/bus/bus_doubles.hpp"
#include "unit/bus/counted_sleep.hpp"

#include "support/testing.hpp"
#include <iterator>

namespace sluice {
namespace {

using namespace test;

TEST(BusPublishingTest, CopiesOrMovesOnce) {
    struct Noted {
        Noted() = default;
        Noted(const Noted& other) : copies(other.copies + 1), moves(other.moves) {}
        Noted(Noted&& other) noexcept : copies(other.copies), moves(other.moves + 1) {}
        Noted& operator=(const Noted&) = delete;
        ~Noted() = default;
        int copies = 0;
        int moves = 0;
    };
    Bus<Messages<Noted>, DeepTraits<8>> bus;
    const Noted noted;
    ASSERT_EQ(bus.publish(noted), SendResult::ok);
    ASSERT_EQ(bus.publish(Noted()), SendResult::ok);
    ASSERT_EQ(bus.emplace<Noted>(), SendResult::ok);
    std::vector<std::pair<int, int>> seen;
    auto subscription = bus.subscribe<Noted>(
        [&](const Noted& message) { seen.emplace_back(message.copies, message.moves); });
    bus.process();
    EXPECT_EQ(seen, (std::vector<std::pair<int, int>>{{1, 0}, {0, 1}, {0, 0}}));
}

#if defined(__cpp_exceptions)
/// Steps that its copies share; the last one throws.
struct Faltering {
    using iterator_category = std::forward_iterator_tag;
    using value_type = Counted;
    using difference_type = std::ptrdiff_t;
    using pointer = const Counted*;
    using reference = const Counted&;

    reference operator*() const { return *at; }
    Faltering& operator++() {
        if (--*stepsLeft == 0) {
            throw std::runtime_error("no next one");
        }
        ++at;
        return *this;
    }
    friend bool operator==(const Faltering& a, const Faltering& b) { return a.at == b.at; }
    friend bool operator!=(const Faltering& a, const Faltering& b) { return !(a == b); }

    const Counted* at = nullptr;
    int* stepsLeft = nullptr;
};

TEST(BusPublishingTest, StepThatThrowsEndsTheRangeAndLosesNoMessage) {
    {
        const std::array<Counted, 3> range{Counted(1), Counted(2), Counted(3)};
        Bus<Messages<Counted>, DeepTraits<16>> bus;
        int stepsLeft = 6;  // three count the range
        const Faltering first{range.data(), &stepsLeft};
        const Faltering last{range.data() + range.size(), &stepsLeft};
        EXPECT_THROW((void)bus.publishAll(first, last), std::runtime_error);
        EXPECT_EQ(bus.statistics().total().published, 2U);
    }
    EXPECT_EQ(Counted::alive, 0);
}
#endif

/// Its second copy waits until the first one has been handled, for some seconds.
struct Slow {
    explicit Slow(const std::atomic<int>& count) : handled(count) {}
    Slow(const Slow& other) : handled(other.handled) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        if (copies++ == 1) {
            awaitThat([&] { return handled == 1 || std::chrono::steady_clock::now() > end; });
            EXPECT_EQ(handled, 1);
        }
    }
    const std::atomic<int>& handled;
    inline static int copies = 0;
};
struct SleepyTraits : DeepTraits<16> {
    using Wait = CountedSleep;
};

TEST(BusPublishingTest, RangeWakesTheConsumerForItsFirstMessage) {
    Bus<Messages<Slow>, SleepyTraits> bus;
    std::atomic<int> handled{0};
    const std::array<Slow, 2> range{Slow(handled), Slow(handled)};
    Slow::copies = 0;
    Crew crew;
    crew.add([&] { bus.runWith([&](Slow&) { ++handled; }); });
    crew.start();
    awaitThat([] { return CountingParker::asleep == 1; });
    EXPECT_EQ(bus.publishAll(range.begin(), range.end()), 2U);
    bus.close();
}

struct OneProducer : DeepTraits<8, BareBusTraits> {
    static constexpr Producers producers = Producers::one;
};
struct Chained {
    template <class Act>
    Chained(int number, Act&& act) : value(number) {
        act();
    }
    int value;
};

// A debug build ends the program there.
#if defined(NDEBUG)
TEST(OneProducerTest, ConstructorThatPublishesIsRefused) {
    Bus<Messages<Chained>, OneProducer> bus;
    const auto nothing = [] {};
    const auto again = [&] { EXPECT_EQ(bus.emplace<Chained>(2, nothing), SendResult::full); };
    EXPECT_EQ(bus.emplace<Chained>(1, again), SendResult::ok);
    EXPECT_EQ(bus.emplace<Chained>(3, nothing), SendResult::ok);
    std::vector<int> seen;
    bus.processWith([&](Chained& message) { seen.push_back(message.value); });
    EXPECT_EQ(seen, (std::vector<int>{1, 3}));
}

TEST(OneProducerTest, ConstructorThatPublishesLearnsThatTheBusIsClosed) {
    Bus<Messages<Chained>, OneProducer> bus;
    const auto again = [&] {
        bus.close();
        EXPECT_EQ(bus.emplace<Chained>(2, [] {}), SendResult::closed);
    };
    EXPECT_EQ(bus.emplace<Chained>(1, again), SendResult::ok);
    EXPECT_EQ(bus.discard(), 1U);
}

struct OneBlockingProducer : OneProducer {
    static constexpr std::array<Overflow, priorityCount> overflow{Overflow::block, Overflow::block,
                                                                  Overflow::block};
};
TEST(OneProducerTest, ConstructorThatPublishesDoesNotWait) {
    Bus<Messages<Chained>, OneBlockingProducer> bus;
    const auto again = [&] { EXPECT_EQ(bus.emplace<Chained>(2, [] {}), SendResult::full); };
    EXPECT_EQ(bus.emplace<Chained>(1, again), SendResult::ok);
    EXPECT_EQ(bus.discard(), 1U);
}

TEST(OneProducerTest, SecondLoanIsRefused) {
    Bus<TestMessages, OneProducer> bus;
    auto first = loan<Counted>(bus, PublishOptions{}, 1);
    EXPECT_EQ(loan<Counted>(bus, PublishOptions{}, 2).result(), SendResult::full);
    EXPECT_EQ(bus.publish(Counted(3)), SendResult::full);
    first.publish();
    EXPECT_EQ(bus.process(), 1U);
    EXPECT_EQ(Counted::alive, 0);
}
#elif defined(GTEST_HAS_DEATH_TEST)
TEST(OneProducerDeathTest, ConstructorThatPublishesIsNoticed) {
    Bus<Messages<Chained>, OneProducer> bus;
    const auto again = [&] { (void)bus.emplace<Chained>(2, [] {}); };
    EXPECT_DEATH((void)bus.emplace<Chained>(1, again),
                 "nothing is published while a constructor or a loan");
}
#endif

// ---- Loans

struct LoanOne : DeepTraits<16> {
    [[maybe_unused]] static constexpr Producers producers = Producers::one;
};
using LoanDropping = OverflowTraits<Overflow::reject, Overflow::dropOldest, Overflow::reject, 32>;
struct LoanRing : DeepTraits<16> {
    static constexpr bool priorities = false;
};
template <class Traits>
class BusLoanTest : public testing::Test {
protected:
    ~BusLoanTest() override {
        theBus.discard();
        EXPECT_EQ(Counted::alive, 0);
    }

    std::vector<int> take() {
        std::vector<int> seen;
        theBus.processWith(partial([&](const Counted& counted) { seen.push_back(counted.value); }));
        return seen;
    }
    Bus<TestMessages, Traits> theBus;
};
using LoanTraits = testing::Types<DeepTraits<16>, LoanOne, LoanDropping, LoanRing>;
TYPED_TEST_SUITE(BusLoanTest, LoanTraits, );

TYPED_TEST(BusLoanTest, IsDeliveredInItsPlaceOncePublished) {
    auto& bus = this->theBus;
    auto first = loan<Counted>(bus, PublishOptions{Priority::medium, 7}, 1);
    ASSERT_TRUE(first);
    EXPECT_EQ(first.result(), SendResult::ok);
    EXPECT_EQ(first->value, 1);
    if constexpr (TypeParam::producers == Producers::many) {
        ASSERT_EQ(bus.publish(Counted(2)), SendResult::ok);
    }
    EXPECT_EQ(bus.process(), 0U);
    (*first).value = 10;
    bus.close();
    EXPECT_FALSE(bus.isDrained());
    first.publish();
    EXPECT_FALSE(first);
    EXPECT_EQ(first.result(), SendResult::ok);
    std::vector<int> seen;
    bus.processWith(partial([&](const Counted& counted, const auto& header) {
        EXPECT_EQ(header.sender, seen.empty() ? 7U : 0U);
        EXPECT_EQ(header.id, seen.size());
        seen.push_back(counted.value);
    }));
    EXPECT_EQ(seen.front(), 10);
    EXPECT_TRUE(bus.isDrained());
    EXPECT_EQ(bus.statistics().total().published, seen.size());
}

TYPED_TEST(BusLoanTest, GivesItsSlotBackUnlessPublished) {
    for (int i = 0; i < 40; ++i) {
        EXPECT_TRUE(loan<Counted>(this->theBus, PublishOptions{}, i));
        ASSERT_EQ(this->theBus.publish(Counted(i)), SendResult::ok);
        EXPECT_EQ(this->take(), std::vector<int>{i});
    }
    EXPECT_EQ(this->theBus.statistics().total().published, 40U);
    EXPECT_EQ(this->theBus.statistics().total().attempted(), 40U);
    EXPECT_TRUE(loan<Counted>(this->theBus, PublishOptions{}, 1));
    this->theBus.stop();
    this->theBus.run();
    EXPECT_TRUE(this->theBus.isDrained());
    EXPECT_EQ(this->theBus.statistics().total().discarded, 0U);
}

TYPED_TEST(BusLoanTest, IsRefusedLikeAMessage) {
    auto& bus = this->theBus;
    const std::size_t room = bus.roomOf(Priority::medium);
    for (std::size_t i = 0; i < room; ++i) {
        loan<Counted>(bus, PublishOptions{}, 1).publish();
    }
    const auto one = loan<Counted>(bus, PublishOptions{}, 1);
    const bool isDropping = TypeParam::overflow[1] == Overflow::dropOldest;
    EXPECT_EQ(one.result(), isDropping ? SendResult::ok : SendResult::full);
    bus.close();
    const auto late = loan<Counted>(bus, PublishOptions{}, 1);
    EXPECT_FALSE(late);
    EXPECT_EQ(late.result(), SendResult::closed);
    const MessageCounts total = bus.statistics().total();
    EXPECT_EQ(total.full, isDropping ? 0U : 1U);
    EXPECT_EQ(total.closed, 1U);
}

TYPED_TEST(BusLoanTest, WakesTheConsumerWhenPublishedNotWhenDestroyed) {
    std::atomic<int> handled{0};
    Crew crew;
    crew.add([&] { this->theBus.runWith(partial([&](const Counted&) { ++handled; })); });
    crew.start();
    auto kept = loan<Counted>(this->theBus, PublishOptions{}, 1);
    kept.publish();
    awaitThat([&] { return handled == 1; });
    this->theBus.close();
    crew.join();
}

#if defined(__cpp_exceptions)
TYPED_TEST(BusLoanTest, ConstructorThatThrowsLeavesNoLoan) {
    struct Throwing {
        explicit Throwing(int) { throw std::runtime_error("no message"); }
    };
    Bus<Messages<Throwing, int>, TypeParam> bus;
    EXPECT_THROW((void)loan<Throwing>(bus, PublishOptions{}, 1), std::runtime_error);
    ASSERT_EQ(bus.publish(1), SendResult::ok);
    EXPECT_EQ(bus.process(), 1U);
    EXPECT_EQ(bus.statistics().total().published, 1U);
}
#endif

TYPED_TEST(BusLoanTest, CountsAreExactWhileLoansAreGivenUp) {
    constexpr int perThread = 2000;
    std::atomic<std::uint64_t> accepted{0};
    std::uint64_t handled = 0;
    Crew publishers;
    for (int i = 0; i < (TypeParam::producers == Producers::one ? 1 : 2); ++i) {
        publishers.add([&] {
            for (int n = 0; n < perThread; ++n) {
                auto counted = loan<Sample>(this->theBus);
                if (counted && n % 3 != 0) {
                    counted->value = n;
                    counted.publish();
                    ++accepted;
                }
            }
        });
    }
    Crew consumer;
    consumer.add([&] { this->theBus.runWith(partial([&](const Sample&) { ++handled; })); });
    consumer.start();
    publishers.start();
    publishers.join();
    this->theBus.close();
    consumer.join();
    const MessageCounts total = this->theBus.statistics().total();
    EXPECT_EQ(total.published, accepted.load());
    EXPECT_EQ(total.delivered + total.unhandled, total.published - total.dropped);
    EXPECT_EQ(total.delivered, handled);
}

struct Gauge : BusObserver {
    void pressureChanged(Pressure, Pressure now) noexcept { level = now; }
    Pressure level = Pressure::normal;
};
template <class Base>
struct Gauged : Base {
    using Observer = Gauge;
};
TEST(BusLoanPressureTest, ObserverIsToldWhatLoansOccupy) {
    Gauge gauge, other;
    Bus<TestMessages, Gauged<LoanOne>> one(gauge);
    for (std::size_t i = 0; i < one.roomOf(Priority::high); ++i) {
        loan<Sample>(one, Priority::high).publish();
    }
    EXPECT_EQ(gauge.level, Pressure::full);
    Bus<TestMessages, Gauged<DeepTraits<2>>> many(other);
    const auto only = loan<Sample>(many);
    EXPECT_EQ(other.level, Pressure::full);
}

struct SleepyDropping : LoanDropping {
    using Wait = CountedSleep;
};
TEST(BusLoanRoomTest, PublisherWaitsNoLongerThanTheLoanAtTheHead) {
    Bus<TestMessages, SleepyDropping> bus;
    std::unique_ptr<Loan<Sample, decltype(bus)>> head(new auto(loan<Sample>(bus)));
    while (bus.tryPublish(Sample{}) == SendResult::ok) {
    }
    std::thread publisher(
        [&] { EXPECT_EQ(bus.publishFor(std::chrono::minutes(1), Sample{}), SendResult::ok); });
    awaitThat([] { return CountingParker::asleep == 1; });
    head.reset();
    publisher.join();
}

}  // namespace
}  // namespace sluice
