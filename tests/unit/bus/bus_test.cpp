#include "unit/bus/bus_doubles.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

// What the tests of admission, priority, overflow, closing and the others leave over.

namespace sluice {
namespace {

using namespace test;

static_assert(!std::is_copy_constructible_v<TestBus<8>> && !std::is_copy_assignable_v<TestBus<8>>);
static_assert(std::is_same_v<TestBus<8>::MessageTypes, TestMessages>);

TEST(BusTest, MayHaveStaticStorage) {
    static TestBus<8> bus;
    ASSERT_EQ(bus.publish(Sample{1}), PublishResult::ok);
    EXPECT_EQ(takeSamples(bus), (std::vector<int>{1}));
}

TEST(BusTest, CopiesOrMovesOnce) {
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
    ASSERT_EQ(bus.publish(noted), PublishResult::ok);
    ASSERT_EQ(bus.publish(Noted()), PublishResult::ok);
    ASSERT_EQ(bus.emplace<Noted>(), PublishResult::ok);
    std::vector<std::pair<int, int>> seen;
    auto subscription = bus.subscribe<Noted>(
        [&](const Noted& message) { seen.emplace_back(message.copies, message.moves); });
    bus.process();
    EXPECT_EQ(seen, (std::vector<std::pair<int, int>>{{1, 0}, {0, 1}, {0, 0}}));
}

TEST(BusTest, ProcessKeepsToItsLimit) {
    TestBus<100> bus;
    for (int i = 0; i < 70; ++i) {
        ASSERT_EQ(bus.publish(Sample{i}), PublishResult::ok);
    }
    EXPECT_EQ(bus.process(0), 0U);
    EXPECT_EQ(bus.process(3), 3U);
    EXPECT_EQ(bus.process(66), 66U);
    EXPECT_EQ(bus.process(), 1U);
    EXPECT_EQ(bus.process(), 0U);
}

TEST(BusTest, ProcessEndsAlthoughItsHandlersKeepPublishing) {
    TestBus<8> bus;
    auto subscription = bus.subscribe<Sample>([&](const Sample& sample) {
        ASSERT_EQ(bus.publish(Sample{sample.value + 1}), PublishResult::ok);
    });
    ASSERT_EQ(bus.publish(Sample{0}), PublishResult::ok);
    EXPECT_EQ(bus.process(), 2U) << "it looks once more when it has run out, not again and again";
    EXPECT_EQ(bus.process(), 2U);
}

TEST(BusTest, MessageOfNobodyIsDeliveredToNobody) {
    TestBus<8> bus;
    ASSERT_EQ(bus.publish(Alarm{"unheard"}), PublishResult::ok);
    EXPECT_EQ(bus.process(), 1U);
    EXPECT_EQ(bus.statistics().of(1, Priority::medium).delivered, 1U);
}

#if !defined(NDEBUG) && defined(GTEST_HAS_DEATH_TEST)
TEST(BusDeathTest, HandlerThatConsumesFromItsOwnBusIsNoticed) {
    TestBus<8> bus;
    auto subscription = bus.subscribe<Sample>([&](const Sample&) { bus.process(); });
    ASSERT_EQ(bus.publish(Sample{}), PublishResult::ok);
    EXPECT_DEATH(bus.process(), "a handler consumes from its own bus");
}
#endif

}  // namespace
}  // namespace sluice
