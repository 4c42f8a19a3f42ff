#include "support/crew.hpp"
#include "unit/bus/bus_doubles.hpp"
#include "unit/bus/counted_sleep.hpp"

#include <sluice/base/platform.hpp>
#include <sluice/wait/park.hpp>

#include "support/testing.hpp"
#include <thread>

// How threads wait for a bus, and how they are woken.

namespace sluice {
namespace {

using namespace test;
using std::chrono::hours;

/// Counts the actions of a waiting thread other than looking.
struct CountingPlatform : StdPlatform {
    struct Fence : StdPlatform::Fence {
        static void heavy() noexcept {
            ++waits;
            StdPlatform::Fence::heavy();
        }
    };
    static void pause() noexcept {
        ++waits;
        StdPlatform::pause();
    }
    static void yield() noexcept {
        ++waits;
        StdPlatform::yield();
    }
    inline static std::atomic<int> waits{0};
};
struct CountedWaits : OverflowTraits<Overflow::block, Overflow::block, Overflow::block> {
    using Platform = CountingPlatform;
    using Wait = BasicPark<CountingPlatform>;
};

TEST(BusWaitingTest, WithoutTimeEachCallLooksOnce) {
    Bus<TestMessages, CountedWaits> bus;
    using Clock = decltype(bus)::Clock;
    const int before = CountingPlatform::waits;
    for (const std::chrono::seconds none : {std::chrono::seconds(0), std::chrono::seconds(-1)}) {
        EXPECT_FALSE(bus.waitFor(none));
    }
    EXPECT_FALSE(bus.waitUntil(Clock::time_point::min()));
    while (bus.tryPublish(Sample{}) == SendResult::ok) {
    }
    EXPECT_EQ(bus.publishFor(std::chrono::seconds(0), Sample{}), SendResult::full);
    EXPECT_EQ(bus.publishFor(std::chrono::seconds(-1), Sample{}), SendResult::full);
    EXPECT_TRUE(bus.waitFor(std::chrono::seconds(0)));
    EXPECT_FALSE(bus.drain(Clock::time_point::min()));
    EXPECT_EQ(CountingPlatform::waits, before);
}

/// Sleeps until it is woken, for no other reason. A notifier that is told to stops before it wakes.
class StoppingParker {
public:
    template <class Word, class StillWaiting>
    void park(const Word& word, StillWaiting stillWaiting, std::chrono::nanoseconds) {
        const int seen = wakes.load();
        if (stillWaiting(word.load(std::memory_order_acquire))) {
            isAsleep = true;
            awaitThat([&] { return wakes.load() != seen; });
        }
    }
    template <class Word>
    void unparkAll(const Word&) {
        if (isToStop) {
            hasStopped = true;
            awaitThat([] { return mayGoOn.load(); });
        }
        ++wakes;
    }
    template <class Word>
    void unparkOne(const Word& word) {
        unparkAll(word);
    }

    inline static thread_local bool isToStop = false;
    inline static std::atomic<bool> hasStopped{false};
    inline static std::atomic<bool> mayGoOn{false};
    inline static std::atomic<bool> isAsleep{false};
    inline static std::atomic<int> wakes{0};
};
struct SleepAtOnce : BasicPark<StdPlatform, StoppingParker> {
    SleepAtOnce() : BasicPark(Options{0, 0}) {}
};
struct StoppingNotifiers : DeepTraits<100> {
    using Wait = SleepAtOnce;
};

TEST(BusWaitingTest, PublisherThatIsStoppedWhileItWakesDelaysNobody) {
    using Parker = StoppingParker;
    for (auto* const flag : {&Parker::hasStopped, &Parker::mayGoOn, &Parker::isAsleep}) {
        *flag = false;  // the tests may be repeated in one process
    }
    Bus<TestMessages, StoppingNotifiers> bus;
    std::atomic<std::size_t> handled{0};
    Crew crew;
    crew.add([&] {
        EXPECT_TRUE(bus.waitFor(hours(1)));
        handled = bus.process();
    });
    crew.add([&] {
        awaitThat([] { return Parker::isAsleep.load(); });
        Parker::isToStop = true;
        EXPECT_EQ(bus.publish(Sample{}, Priority::low), SendResult::ok);
    });
    crew.start();
    awaitThat([] { return Parker::hasStopped.load(); });
    EXPECT_EQ(bus.publish(Sample{}, Priority::high), SendResult::ok);
    awaitThat([&] { return handled != 0; });
    Parker::mayGoOn = true;
    crew.join();
    EXPECT_EQ(handled + bus.process(), 2U);
}

struct CountedWakes : OverflowTraits<Overflow::block, Overflow::block, Overflow::block> {
    using Wait = CountedSleep;
};

void fill(Bus<TestMessages, CountedWakes>& bus) {
    publishSamples(bus, static_cast<int>(bus.roomOf(Priority::medium)));
}
void addBlocked(Crew& crew, Bus<TestMessages, CountedWakes>& bus, int publishers) {
    for (int i = 0; i < publishers; ++i) {
        crew.add([&] { EXPECT_EQ(bus.publish(Sample{}), SendResult::ok); });
    }
    crew.start();
    awaitThat([&] { return CountingParker::asleep == publishers; });
}

TEST(BusWaitingTest, EachSlotThatComesBackWakesOnePublisher) {
    using Parker = CountingParker;
    Bus<TestMessages, CountedWakes> bus;
    fill(bus);
    Crew crew;
    addBlocked(crew, bus, 3);
    const int ones = Parker::wakesOfOne;
    const int alls = Parker::wakesOfAll;
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(bus.processWith(partial([](Sample&) {}), 1), 1U);
    }
    EXPECT_EQ(Parker::wakesOfOne - ones, 3);
    EXPECT_EQ(Parker::wakesOfAll, alls);
    crew.join();
    EXPECT_EQ(bus.discard(), bus.roomOf(Priority::medium));
}

// A thread that has never consumed may have the address of one that did, and has ended.
TEST(BusWaitingTest, PublisherIsNotTakenForAConsumerThatHasEnded) {
    Bus<TestMessages, CountedWakes> bus;
    std::thread([&] { EXPECT_EQ(bus.process(), 0U); }).join();
    Crew crew;
    crew.add([&] {
        fill(bus);
        EXPECT_EQ(bus.publish(Sample{}), SendResult::ok);
    });
    crew.start();
    awaitThat([&] { return CountingParker::asleep == 1; });
    EXPECT_EQ(bus.process(1), 1U);
}

struct CountedRefusals : DeepTraits<8> {
    using Wait = CountedSleep;
};

TEST(BusWaitingTest, PublishForIsWokenByTheFirstSlotWhateverThePolicy) {
    Bus<TestMessages, CountedRefusals> bus;
    while (bus.publish(Sample{}) == SendResult::ok) {
    }
    std::atomic<bool> isPublished{false};
    Crew crew;
    crew.add([&] {
        EXPECT_EQ(bus.publishFor(hours(1), Sample{}), SendResult::ok);
        isPublished = true;
    });
    crew.start();
    awaitThat([&] { return CountingParker::asleep == 1; });
    std::size_t handled = 0;
    bus.processWith(partial([&](Sample&) {
        if (++handled == 2) {  // the slot of the first one has come back
            awaitThat([&] { return isPublished.load(); });
        }
    }));
    EXPECT_GE(handled, bus.roomOf(Priority::medium));
}

#if defined(__cpp_exceptions)
/// Stops in its constructor while told to.
struct Slow {
    explicit Slow(const std::atomic<bool>* mayGoOn = nullptr) {
        while (mayGoOn != nullptr && !*mayGoOn) {
            isStopped = true;
            std::this_thread::yield();
        }
    }
    inline static std::atomic<bool> isStopped{false};
};
struct CountedDrops
    : OverflowTraits<Overflow::dropOldest, Overflow::dropOldest, Overflow::dropOldest> {
    using Wait = CountedSleep;
};

// The stopped publisher holds a slot, so no message behind it can be dropped.
TEST(BusWaitingTest, PublishForWaitsBehindAStoppedPublisherThatDrops) {
    Bus<Messages<Slow>, CountedDrops> bus;
    std::atomic<bool> mayGoOn{false};
    Crew crew;
    crew.add([&] { EXPECT_EQ(bus.emplace<Slow>(&mayGoOn), SendResult::ok); });
    crew.add([&] {
        awaitThat([&] { return CountingParker::asleep == 1; });
        mayGoOn = true;
    });
    crew.start();
    awaitThat([] { return Slow::isStopped.load(); });
    while (bus.tryPublish(Slow()) == SendResult::ok) {
    }
    const SendResult result = bus.publishFor(std::chrono::hours(1), Slow());
    EXPECT_EQ(result, SendResult::ok);
    mayGoOn = true;
}

struct Unmade {
    explicit Unmade(bool fails) {
        if (fails) {
            throw std::runtime_error("not made");
        }
    }
};
TEST(BusWaitingTest, SlotThatIsSkippedWakesAPublisherToo) {
    Bus<Messages<Unmade>, CountedWakes> bus;
    EXPECT_THROW((void)bus.emplace<Unmade>(true), std::runtime_error);
    while (bus.sizeApprox() < bus.roomOf(Priority::medium)) {
        ASSERT_EQ(bus.emplace<Unmade>(false), SendResult::ok);
    }
    std::atomic<bool> isPublished{false};
    Crew crew;
    crew.add([&] {
        EXPECT_EQ(bus.emplace<Unmade>(false), SendResult::ok);
        isPublished = true;
    });
    crew.start();
    awaitThat([&] { return CountingParker::asleep == 1; });
    bus.processWith([&](const Unmade&) { awaitThat([&] { return isPublished.load(); }); });
    crew.join();
}

TEST(BusWaitingTest, SlotOfAVisitorThatThrewWakesAPublisherToo) {
    Bus<TestMessages, CountedWakes> bus;
    fill(bus);
    Crew crew;
    addBlocked(crew, bus, 1);
    const auto fail = partial([](Sample&) { throw std::runtime_error("no"); });
    EXPECT_THROW(bus.processWith(fail, 1), std::runtime_error);
    crew.join();
    EXPECT_EQ(bus.discard(), bus.roomOf(Priority::medium));
}
#endif

}  // namespace
}  // namespace sluice
