#include "support/crew.hpp"
#include "unit/bus/bus_doubles.hpp"

#include "support/testing.hpp"

namespace sluice {
namespace {

using namespace test;

#if defined(__cpp_exceptions)
struct Copied {
    explicit Copied(bool throws) noexcept : isBad(throws) {}
    Copied(Copied&&) noexcept = default;
    Copied(const Copied& other) : isBad(other.isBad) {
        if (isBad) {
            throw std::runtime_error("no copy");
        }
    }
    bool isBad;
};

using CopyingBus = Bus<Messages<Copied, int>,
                       OverflowTraits<Overflow::reject, Overflow::dropOldest, Overflow::reject>>;

TEST(BusOverflowTest, ConstructorThatThrowsDropsNothing) {
    CopyingBus bus;
    const std::size_t room = bus.roomOf(Priority::medium);
    for (std::size_t i = 0; i < room; ++i) {
        ASSERT_EQ(bus.emplace<Copied>(false), SendResult::ok);
    }
    const Copied bad(true);
    EXPECT_THROW((void)bus.publish(bad), std::runtime_error);
    EXPECT_EQ(bus.statistics().total().dropped, 0U);
    EXPECT_EQ(bus.discard(), room);
}

TEST(BusOverflowTest, RangeThatEndsWithAnExceptionLeavesNoMoreThanTheRoom) {
    CopyingBus bus;
    const std::size_t room = bus.roomOf(Priority::medium);
    for (std::size_t i = 0; i < room; ++i) {
        ASSERT_EQ(bus.emplace<Copied>(false), SendResult::ok);
    }
    std::vector<Copied> range;
    for (const bool isBad : {false, false, true}) {
        range.emplace_back(isBad);
    }
    EXPECT_THROW((void)bus.publishAll(range.begin(), range.end()), std::runtime_error);
    // The slot whose constructor threw may count, too.
    const std::size_t left = bus.discard();
    EXPECT_LE(left, room);
    EXPECT_EQ(bus.statistics().total().dropped + left, room + 2);
}
#endif

TEST(BusOverflowTest, RangeWaitsForRoomUntilTheBusIsClosed) {
    Bus<TestMessages, OverflowTraits<Overflow::reject, Overflow::block, Overflow::reject>> bus;
    const std::vector<Sample> samples(100);
    std::size_t accepted = 0;
    Crew crew;
    crew.add([&] {
        EXPECT_EQ(bus.publishAll(samples.begin(), samples.end()), 100U);
        accepted = bus.publishAll(samples.begin(), samples.end());
    });
    crew.start();
    std::size_t taken = 0;
    while (taken < 150) {
        taken += bus.process(1);
    }
    bus.close();
    crew.join();
    EXPECT_GE(accepted, 50U);
    EXPECT_LE(accepted, 56U) << "there is room for six more than were taken";
    EXPECT_EQ(bus.statistics().total().published, 100 + accepted);
    EXPECT_EQ(bus.statistics().total().closed, 100 - accepted);
    EXPECT_TRUE(areBalanced(bus, 200));
}

struct BlockForAWhile : OverflowTraits<Overflow::block, Overflow::reject, Overflow::reject> {
    static constexpr std::chrono::nanoseconds blockLimit = std::chrono::milliseconds(1);
};

TEST(BusOverflowTest, WaitEndsWithItsLimit) {
    Bus<TestMessages, BlockForAWhile> bus;
    SendResult result = SendResult::ok;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(fillUp(bus, Priority::low, result), 2U);
    EXPECT_EQ(result, SendResult::full);
    EXPECT_GE(std::chrono::steady_clock::now() - start,
              decltype(bus)::Clock::duration(BlockForAWhile::blockLimit));
}

using Blocking = OverflowTraits<Overflow::block, Overflow::block, Overflow::block>;

// One thread consumes two buses. In a handler of the first it publishes into the second, which no
// thread has consumed yet.
TEST(BusOverflowTest, HandlerDoesNotWaitWithoutEnd) {
    Bus<TestMessages, Blocking> first;
    Bus<TestMessages, Blocking> second;
    publishSamples(second, static_cast<int>(second.roomOf(Priority::high)), Priority::high);
    std::vector<SendResult> inside;
    ASSERT_EQ(first.publish(Sample{}), SendResult::ok);
    first.processWith(partial([&](Sample&) {
        inside.push_back(second.publish(Sample{}, Priority::high));
        inside.push_back(second.publishFor(std::chrono::nanoseconds::max(), Sample{},
                                           PublishOptions{Priority::high}));
    }));
    EXPECT_EQ(inside, (std::vector<SendResult>{SendResult::full, SendResult::full}));
}

TEST(BusOverflowTest, ThreadDoesNotWaitForABusThatItConsumesOutsideOfHandlers) {
    Bus<TestMessages, Blocking> bus;
    EXPECT_EQ(bus.process(), 0U);
    publishSamples(bus, static_cast<int>(bus.roomOf(Priority::high)), Priority::high);
    EXPECT_EQ(bus.publish(Sample{}, Priority::high), SendResult::full);
}

TEST(BusOverflowTest, HandlerMayWaitForAnotherThreadUntilALimit) {
    Bus<TestMessages, Blocking> first;
    Bus<TestMessages, Blocking> second;
    publishSamples(second, static_cast<int>(second.roomOf(Priority::high)), Priority::high);
    ASSERT_EQ(first.publish(Sample{}), SendResult::ok);
    std::atomic<bool> isInside{false};
    Crew crew;
    crew.add([&] {
        awaitThat([&] { return isInside.load(); });
        second.discard();
    });
    crew.start();
    first.processWith(partial([&](Sample&) {
        isInside = true;
        EXPECT_EQ(second.publishFor(std::chrono::hours(1), Sample{}, {Priority::high}),
                  SendResult::ok);
    }));
}

// Two threads wait for each other in their handlers, until one of them reaches its limit.
TEST(BusOverflowTest, CycleOfWaitingHandlersEndsWithTheLimit) {
    using CycleBus = Bus<TestMessages, BlockForAWhile>;
    std::array<CycleBus, 2> buses;
    std::array<SendResult, 2> results{};
    SendResult result = SendResult::ok;
    for (CycleBus& bus : buses) {
        (void)fillUp(bus, Priority::low, result);
    }
    std::atomic<int> inside{0};
    Crew crew;
    for (std::size_t i = 0; i < 2; ++i) {
        crew.add([&, i] {
            buses[i].processWith(partial([&](Sample&) {
                                     ++inside;
                                     awaitThat([&] { return inside.load() == 2; });
                                     results[i] = buses[1 - i].publish(Sample{}, Priority::low);
                                 }),
                                 1);
        });
    }
    crew.start();
    crew.join();
    EXPECT_EQ(std::count(results.begin(), results.end(), SendResult::closed), 0);
    EXPECT_GE(std::count(results.begin(), results.end(), SendResult::full), 1);
}

}  // namespace
}  // namespace sluice
