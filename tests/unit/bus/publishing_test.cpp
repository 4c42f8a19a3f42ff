#include "support/crew.hpp"
#include "unit/bus/bus_doubles.hpp"
#include "unit/bus/counted_sleep.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

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

struct Tag {
    operator PublishOptions() const noexcept {  // NOLINT(google-explicit-constructor)
        return {Priority::high, 7};
    }
};

TEST(BusPublishingTest, OptionsMayBeConverted) {
    TestBus<20> bus;
    const std::array<Sample, 3> many{};
    ASSERT_EQ(bus.publish(Sample{}, Tag()), SendResult::ok);
    ASSERT_EQ(bus.publishAll(many.begin(), many.end(), Tag()), 3U);
    const auto visit = [](const auto&, const auto& header) {
        EXPECT_EQ(header.priority, Priority::high);
        EXPECT_EQ(header.sender, 7U);
    };
    EXPECT_EQ(bus.processWith(visit), 4U);
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
#elif defined(GTEST_HAS_DEATH_TEST)
TEST(OneProducerDeathTest, ConstructorThatPublishesIsNoticed) {
    Bus<Messages<Chained>, OneProducer> bus;
    const auto again = [&] { (void)bus.emplace<Chained>(2, [] {}); };
    EXPECT_DEATH((void)bus.emplace<Chained>(1, again), "the constructor of a message must not");
}
#endif

}  // namespace
}  // namespace sluice
