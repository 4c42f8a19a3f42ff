#include "support/crew.hpp"
#include "support/watchdog.hpp"
#include "unit/bus/bus_doubles.hpp"
#include "unit/bus/counted_sleep.hpp"

#include <sluice/actor/active_object.hpp>
#include <sluice/wait/wait_set.hpp>

#include "support/testing.hpp"
#include <thread>

// The last value beside a bus.

namespace sluice {
namespace {

using namespace test;

template <class Base>
class LastValueTest : public testing::Test {
protected:
    using TheBus = TestBus<8, Base>;
    using Names = LastValue<std::string, TheBus>;

    TheBus bus;
    std::vector<std::string> handled;
    Names name{bus, [this](const std::string& now) { handled.push_back(now); }};
    const Watchdog watchdog{[](std::FILE*) {}};
};

struct DroppingTraits : FullBusTraits {
    static constexpr std::array<Overflow, priorityCount> overflow{
        Overflow::dropOldest, Overflow::dropOldest, Overflow::dropOldest};
};
struct BlockingTraits : FullBusTraits {
    static constexpr std::array<Overflow, priorityCount> overflow{Overflow::reject, Overflow::block,
                                                                  Overflow::reject};
    static constexpr PriorityOrder service = PriorityOrder::weighted;
};
struct MemberTraits : DeepTraits<8> {
    using Wait = WaitSet::Member;
};
struct OneProducerTraits : FullBusTraits {
    static constexpr Producers producers = Producers::one;
};
using AllTraits =
    testing::Types<FullBusTraits, BareBusTraits, OneProducerTraits, DroppingTraits, BlockingTraits>;
TYPED_TEST_SUITE(LastValueTest, AllTraits, );

TYPED_TEST(LastValueTest, ReplacesTheValueThatIsNotHandled) {
    for (const char* each : {"a", "b", "c"}) {
        EXPECT_EQ(this->name.publish(each), SendResult::ok);
    }
    EXPECT_TRUE(this->bus.waitFor(std::chrono::seconds(0)));
    EXPECT_EQ(this->bus.process(), 0U) << "a value is no message";
    EXPECT_FALSE(this->bus.waitFor(std::chrono::seconds(0)));
    EXPECT_EQ(this->bus.process(), 0U);
    EXPECT_EQ(this->name.publish("d"), SendResult::ok);
    this->bus.processWith(partial([](const Sample&) {}));
    EXPECT_EQ(this->handled, (std::vector<std::string>{"c", "d"}));
}

TYPED_TEST(LastValueTest, NeedsNoRoomInTheBus) {
    for (std::size_t i = 0; i <= this->bus.capacity(); ++i) {
        (void)this->bus.tryPublish(Sample{});
    }
    EXPECT_EQ(this->name.publish("a"), SendResult::ok);
    EXPECT_EQ(this->name.publish("b"), SendResult::ok);
    EXPECT_EQ(this->bus.process(1), 1U);
    EXPECT_EQ(this->handled, std::vector<std::string>{"b"});
}

TYPED_TEST(LastValueTest, IsRetainedForLateReaders) {
    EXPECT_EQ(this->name.get(), std::nullopt);
    EXPECT_EQ(this->name.publish("a"), SendResult::ok);
    EXPECT_EQ(this->name.get(), "a");
    this->bus.process();
    EXPECT_EQ(this->name.get(), "a");
    this->bus.stop();
    EXPECT_EQ(this->name.get(), "a");
}

TYPED_TEST(LastValueTest, RunHandlesWhatWasPublishedBeforeTheEnd) {
    EXPECT_EQ(this->name.publish("a"), SendResult::ok);
    this->bus.close();
    std::string late = "a text too long to be stored in the string itself";
    EXPECT_EQ(this->name.publish(std::move(late)), SendResult::closed);
    EXPECT_EQ(late, "a text too long to be stored in the string itself");
    EXPECT_FALSE(this->bus.isDrained());
    this->bus.run();
    EXPECT_TRUE(this->bus.isDrained());
    EXPECT_EQ(this->handled, std::vector<std::string>{"a"});
}

TYPED_TEST(LastValueTest, StopAndDiscardForgetTheValueThatIsNotHandled) {
    EXPECT_EQ(this->name.publish("a"), SendResult::ok);
    EXPECT_EQ(this->bus.discard(), 0U);
    this->bus.process();
    const auto stopping = this->bus.template subscribe<Sample>([this](const Sample&) {
        EXPECT_EQ(this->name.publish("b"), SendResult::ok);
        this->bus.stop();
    });
    EXPECT_EQ(this->bus.publish(Sample{}), SendResult::ok);
    this->bus.run();
    EXPECT_TRUE(this->bus.isDrained());
    EXPECT_TRUE(this->handled.empty());
    EXPECT_EQ(this->name.get(), "b");
}

TYPED_TEST(LastValueTest, HandlerThatStopsIsTheLastOne) {
    typename TestFixture::Names other(this->bus, [this](const std::string& now) {
        EXPECT_FALSE(this->bus.waitFor(std::chrono::seconds(0))) << "no message";
        this->handled.push_back(now);
        EXPECT_EQ(this->bus.publish(Sample{}), SendResult::ok);
        this->bus.stop();
    });
    EXPECT_EQ(this->name.publish("a"), SendResult::ok);
    EXPECT_EQ(other.publish("b"), SendResult::ok);
    this->bus.process();
    EXPECT_TRUE(this->bus.isDrained());
    EXPECT_EQ(this->handled, std::vector<std::string>{"b"});
}

TYPED_TEST(LastValueTest, HandlersMayMakeAndDestroyOthers) {
    using Topic = typename TestFixture::Names;
    std::vector<std::string> log;
    std::unique_ptr<Topic> other;
    Topic making(this->bus, [&](const std::string& now) {
        log.push_back("making " + now);
        if (other == nullptr) {
            other = std::make_unique<Topic>(
                this->bus, [&](const std::string& each) { log.push_back("other " + each); });
            EXPECT_EQ(other->publish("a"), SendResult::ok);
        } else {
            EXPECT_EQ(other->publish("b"), SendResult::ok);  // unhandled at its end
            other.reset();
        }
    });
    for (const char* each : {"1", "2"}) {
        EXPECT_EQ(making.publish(each), SendResult::ok);
        this->bus.process();
        this->bus.process();
    }
    this->bus.close();
    EXPECT_TRUE(this->bus.isDrained());
    EXPECT_EQ(log, (std::vector<std::string>{"making 1", "other a", "making 2"}));
}

/// The value under the handler must not change.
TYPED_TEST(LastValueTest, HandlerMayPublishSeveralValues) {
    typename TestFixture::Names* self = nullptr;
    std::vector<std::size_t> lengths;
    typename TestFixture::Names growing(this->bus, [&](const std::string& now) {
        lengths.push_back(now.size());
        EXPECT_EQ(self->publish(std::string(now.size() + 1, 'x')), SendResult::ok);
        EXPECT_EQ(self->publish(std::string(now.size() + 2, 'x')), SendResult::ok);
        EXPECT_EQ(now.size(), lengths.back());
        EXPECT_EQ(self->get()->size(), now.size() + 2);
    });
    self = &growing;
    EXPECT_EQ(growing.publish("x"), SendResult::ok);
    for (int i = 0; i < 3; ++i) {
        this->bus.process();
    }
    EXPECT_EQ(lengths, (std::vector<std::size_t>{1, 3, 5}));
}

struct SleepyTraits : FullBusTraits {
    using Wait = CountedSleep;
};
TEST(LastValueOrderTest, RunWakesUpForEachPart) {
    TestBus<8, SleepyTraits> bus;
    const Watchdog watchdog([](std::FILE*) {});
    std::atomic<int> sum{0};
    const auto adding = bus.subscribe<Sample>([&](const Sample&) { sum += 1; });
    LastValue<int, decltype(bus)> first(bus, [&](int) { sum += 10; });
    LastValue<int, decltype(bus)> second(bus, [&](int) { sum += 100; });
    Crew crew;
    crew.add([&] { bus.run(); });
    crew.start();
    const auto awaitSleep = [&] {
        awaitThat([] { return CountingParker::asleep == 1; });
        return sum.load();
    };
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(awaitSleep(), i * 111);
        EXPECT_EQ(first.publish(1), SendResult::ok);
        awaitThat([&] { return sum == i * 111 + 10; });
        (void)awaitSleep();
        EXPECT_EQ(second.publish(1), SendResult::ok);
        awaitThat([&] { return sum == i * 111 + 110; });
        (void)awaitSleep();
        EXPECT_EQ(bus.publish(Sample{}), SendResult::ok);
        awaitThat([&] { return sum == i * 111 + 111; });
    }
    (void)awaitSleep();
    bus.close();
}

TEST(LastValueOrderTest, RunPassesAtMost64MessagesBetween) {
    Bus<TestMessages, DeepTraits<1024>> bus;
    int samples = 0;
    std::vector<int> seen;
    LastValue<int, decltype(bus)> number(bus, [&](int) { seen.push_back(samples); });
    const auto publishing = bus.subscribe<Sample>([&](const Sample&) {
        if (++samples % 100 == 1) {
            EXPECT_EQ(number.publish(1), SendResult::ok);
        }
        if (samples == 200) {
            bus.close();
        }
    });
    publishSamples(bus, 200);
    bus.run();
    EXPECT_EQ(seen, (std::vector<int>{64, 128}));
}

TEST(LastValueOrderTest, WaitSetAndDrainWaitForIt) {
    WaitSet set;
    Bus<TestMessages, MemberTraits> bus;
    std::atomic<int> last{0};
    LastValue<int, decltype(bus)> number(bus, [&](int now) { last = now; });
    const Watchdog watchdog([](std::FILE*) {});
    set.add(bus, [&] { return bus.process(); });
    std::thread publisher([&] {
        EXPECT_EQ(number.publish(1), SendResult::ok);
        awaitThat([&] { return last == 1; });
        EXPECT_EQ(number.publish(2), SendResult::ok);
        EXPECT_TRUE(bus.drain(decltype(bus)::Clock::time_point::max()));
        EXPECT_EQ(last, 2);
    });
    while (set.wait()) {
    }
    publisher.join();
}

TEST(LastValueOrderTest, DrainDoesNotWaitForAValueThatIsGone) {
    const Watchdog watchdog([](std::FILE*) {});
    for (int round = 0; round < 300; ++round) {
        Bus<TestMessages> bus;
        std::optional<LastValue<int, decltype(bus)>> number(std::in_place, bus, [](int) {});
        EXPECT_EQ(number->publish(1), SendResult::ok);
        std::thread draining(
            [&] { EXPECT_TRUE(bus.drain(decltype(bus)::Clock::time_point::max())); });
        awaitThat([&] { return bus.isClosed(); });
        for (int i = 0; i < round; ++i) {
            std::this_thread::yield();  // in some round drain() sleeps
        }
        number.reset();
        draining.join();
    }
}

class Following : public ActiveObject<Following, Messages<int>> {
public:
    void handle(const int& value) { log.push_back(value); }
    std::vector<int> log;
    LastValue<int, MailboxBus> target{mailbox(), [this](int now) {
                                          EXPECT_TRUE(isHere());
                                          log.push_back(-now);
                                      }};
};

TEST(LastValueOrderTest, ActiveObjectHandlesIt) {
    Following following;
    EXPECT_EQ(following.target.publish(1), SendResult::ok);
    EXPECT_EQ(following.target.publish(2), SendResult::ok);
    EXPECT_EQ(following.post(3), SendResult::ok);
    ASSERT_TRUE(following.start());
    EXPECT_TRUE(following.stopAfterDrain(Following::Clock::time_point::max()));
    EXPECT_TRUE(following.join());
    EXPECT_EQ(following.log, (std::vector<int>{3, -2}));
}

TEST(LastValueLifeTest, KeepsAtMostTwoValues) {
    TestBus<8> bus;
    {
        int last = 0;
        LastValue<Counted, decltype(bus)> counted(bus,
                                                  [&](const Counted& now) { last = now.value; });
        for (int i = 1; i <= 5; ++i) {
            EXPECT_EQ(counted.publish(Counted(i)), SendResult::ok);
            EXPECT_EQ(Counted::alive, 1);
        }
        bus.process();
        EXPECT_EQ(last, 5);
        EXPECT_EQ(counted.publish(Counted(6)), SendResult::ok);  // never handled
    }
    EXPECT_EQ(Counted::alive, 0);
    EXPECT_EQ(bus.publish(Sample{}), SendResult::ok);
    EXPECT_EQ(bus.process(), 1U);
}

template <class T, class = void>
inline constexpr bool takesInt = false;
template <class T>
inline constexpr bool takesInt<T, std::void_t<decltype(std::declval<T&>().publish(5))>> = true;
static_assert(takesInt<LastValue<double, TestBus<8>>>);
static_assert(!takesInt<LastValue<std::vector<int>, TestBus<8>>>, "5 would mean five zeros");

TEST(LastValueLifeTest, ValuesNeedNoCopyWithoutReaders) {
    TestBus<8> bus;
    int last = 0;
    LastValue<std::unique_ptr<int>, decltype(bus)> owner(
        bus, [&](const std::unique_ptr<int>& now) { last = *now; });
    EXPECT_EQ(owner.publish(std::make_unique<int>(7)), SendResult::ok);
    bus.process();
    EXPECT_EQ(last, 7);
}

#if defined(GTEST_HAS_DEATH_TEST)
TEST(LastValueLifeTest, HandlerMayEndTheProgram) {
    const auto exitInAHandler = [] {
        static TestBus<8> bus;
        static LastValue<int, TestBus<8>> number(bus, [](int) { std::exit(3); });
        (void)number.publish(1);
        bus.process();
    };
    EXPECT_EXIT(exitInAHandler(), testing::ExitedWithCode(3), "");
}
#endif

#if defined(__cpp_exceptions)

struct Throwing {
    Throwing(int number) : value(number) {
        if (number < 0) {
            throw std::invalid_argument("negative");
        }
    }
    int value;
};

TEST(LastValueErrorTest, ConstructorThatThrowsChangesNothing) {
    TestBus<8> bus;
    int calls = 0;
    LastValue<Throwing, decltype(bus)> number(bus, [&](const Throwing&) { ++calls; });
    EXPECT_THROW((void)number.publish(-1), std::invalid_argument);
    EXPECT_EQ(number.publish(1), SendResult::ok);
    EXPECT_THROW((void)number.publish(-1), std::invalid_argument);
    EXPECT_EQ(number.get()->value, 1);
    bus.process();
    EXPECT_THROW((void)number.publish(-1), std::invalid_argument);
    bus.close();
    bus.run();  // handles no value, and ends
    EXPECT_EQ(calls, 1);
}

TEST(LastValueErrorTest, ExceptionOfTheHandlerLeavesProcess) {
    TestBus<8> bus;
    LastValue<int, decltype(bus)> number(bus, [](int now) {
        if (now == 1) {
            throw std::runtime_error("one");
        }
    });
    int seen = 0;
    LastValue<int, decltype(bus)> other(bus, [&](int now) { seen = now; });
    for (int i = 1; i <= 2; ++i) {
        EXPECT_EQ(number.publish(1), SendResult::ok);
        EXPECT_EQ(other.publish(i), SendResult::ok);
        EXPECT_THROW(bus.process(), std::runtime_error);
        bus.process();  // of the two values, one is left at most
        EXPECT_EQ(seen, i);
    }
    EXPECT_EQ(number.publish(2), SendResult::ok);
    bus.close();
    bus.run();
}

TEST(LastValueErrorTest, HandlerThatAlwaysThrowsDoesNotHoldOthersBack) {
    TestBus<8> bus;
    int seen = 0;
    LastValue<int, decltype(bus)> number(bus, [&](int now) { seen = now; });
    LastValue<int, decltype(bus)> failing(bus, [](int) { throw 1; });
    for (int i = 1; i <= 2; ++i) {
        EXPECT_EQ(failing.publish(i), SendResult::ok);
        EXPECT_EQ(number.publish(i), SendResult::ok);
        EXPECT_THROW(bus.process(), int);
    }
    EXPECT_EQ(seen, 2);
}

TEST(LastValueErrorTest, MessagesWhoseVisitorThrowsDoNotHoldItBack) {
    TestBus<8> bus;
    int seen = 0;
    LastValue<int, decltype(bus)> number(bus, [&](int now) { seen = now; });
    for (int i = 1; i <= 2; ++i) {
        EXPECT_EQ(number.publish(i), SendResult::ok);
        (void)bus.publish(Sample{});
        EXPECT_THROW(bus.processWith(partial([](Sample&) { throw 1; })), int);
    }
    EXPECT_EQ(seen, 2);
}
#endif

}  // namespace
}  // namespace sluice
