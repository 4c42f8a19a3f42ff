#include "unit/bus/bus_doubles.hpp"

#include <gtest/gtest.h>

#if defined(__cpp_exceptions)

#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

// Handlers, visitors and messages that throw.

namespace sluice {
namespace {

using namespace test;

struct Witness : BusObserver {
    void handlerFailed(std::size_t typeIndex, const std::exception_ptr& exception) noexcept {
        ++failures;
        type = typeIndex;
        try {
            std::rethrow_exception(exception);
        } catch (const std::runtime_error& error) {
            what = error.what();
        }
    }
    int failures = 0;
    std::size_t type = 99;
    std::string what;
};
struct Witnessed : DeepTraits<10> {
    using Observer = Witness;
};

TEST(BusSubscriptionTest, HandlerThatThrowsIsCountedAndTheOthersStillRun) {
    Witness witness;
    Bus<TestMessages, Witnessed> bus(witness);
    int calls = 0;
    auto bad = bus.subscribe<Alarm>([](const Alarm&) { throw std::runtime_error("bad handler"); });
    auto good = bus.subscribe<Alarm>([&](const Alarm&) { ++calls; });
    ASSERT_EQ(bus.publish(Alarm{}, Priority::high), SendResult::ok);
    EXPECT_EQ(bus.process(), 1U);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(witness.failures, 1);
    EXPECT_EQ(witness.type, 1U);
    EXPECT_EQ(witness.what, "bad handler");
    const MessageCounts counts = bus.statistics().of(1, Priority::high);
    EXPECT_EQ(counts.failed, 1U);
    EXPECT_EQ(counts.delivered, 1U);
}

TEST(BusSubscriptionTest, ExceptionOfAVisitorPassesThrough) {
    TestBus<10> bus;
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(bus.publish(Counted(i)), SendResult::ok);
    }
    const auto visit = partial([](Counted& counted) {
        if (counted.value == 1) {
            throw std::runtime_error("bad visitor");
        }
    });
    EXPECT_THROW(bus.processWith(visit), std::runtime_error);
    EXPECT_EQ(Counted::alive, 1);
    EXPECT_EQ(bus.processWith(visit), 1U);
    EXPECT_EQ(bus.statistics().total().delivered, 3U);
    EXPECT_EQ(bus.statistics().total().failed, 1U);
    EXPECT_TRUE(areBalanced(bus, 3));
}

TEST(BusSubscriptionTest, CopyThatThrowsEndsItsRange) {
    struct Fragile {
        explicit Fragile(int v) : value(v) {}
        Fragile(const Fragile& other) : value(other.value) {
            if (value == 3) {
                throw std::runtime_error("bad message");
            }
        }
        int value;
    };
    Bus<Messages<Fragile>, DeepTraits<20>> bus;
    const std::vector<Fragile> range = [] {
        std::vector<Fragile> made;
        made.reserve(5);
        for (int i = 1; i <= 5; ++i) {
            made.emplace_back(i);
        }
        return made;
    }();
    for (const Priority priority : {Priority::medium, Priority::high, Priority::medium}) {
        EXPECT_THROW((void)bus.publishAll(range.begin(), range.end(), {priority}),
                     std::runtime_error);
        std::vector<int> seen;
        EXPECT_EQ(bus.processWith([&](Fragile& each) { seen.push_back(each.value); }), 2U);
        EXPECT_EQ(seen, (std::vector<int>{1, 2}));
        EXPECT_EQ(bus.sizeApprox(), 0U);
    }
    EXPECT_TRUE(areBalanced(bus, 6));
}

TEST(BusSubscriptionTest, ConstructorThatThrowsPublishesNothing) {
    struct Bad {
        explicit Bad(bool isBad) {
            if (isBad) {
                throw std::runtime_error("bad message");
            }
        }
    };
    Bus<Messages<Bad, Sample>, DeepTraits<10>> bus;
    for (int i = 0; i < 50; ++i) {
        EXPECT_THROW((void)bus.emplace<Bad>(true), std::runtime_error);
        EXPECT_EQ(bus.emplaceWith<Bad>({Priority::high}, false), SendResult::ok);
        EXPECT_EQ(bus.processWith([](auto&) {}), 1U);
    }
    EXPECT_TRUE(areBalanced(bus, 50));
}

}  // namespace
}  // namespace sluice

#endif
