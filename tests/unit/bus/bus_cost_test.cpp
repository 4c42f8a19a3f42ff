#include "unit/bus/bus_doubles.hpp"

#include "support/testing.hpp"

// The cost of publishing and consuming in atomic read-modify-writes. Their number does not depend
// on the machine.

namespace sluice {
namespace {

using namespace test;

struct Cost {
    inline static int readModifyWrites = 0;
};

template <class T>
struct CountingAtomic : std::atomic<T> {
    using Base = std::atomic<T>;
    using Base::Base;

    template <class... Args>
    T exchange(Args... args) noexcept {
        // Flags aside: debug builds take one to notice a second consumer.
        Cost::readModifyWrites += std::is_same_v<T, bool> ? 0 : 1;
        return Base::exchange(args...);
    }
    T fetch_add(T value, std::memory_order order) noexcept {
        ++Cost::readModifyWrites;
        return Base::fetch_add(value, order);
    }
    T fetch_or(T value, std::memory_order order) noexcept {
        ++Cost::readModifyWrites;
        return Base::fetch_or(value, order);
    }
    template <class... Args>
    bool compare_exchange_weak(T& expected, Args... args) noexcept {
        ++Cost::readModifyWrites;
        return Base::compare_exchange_weak(expected, args...);
    }
};

struct CountingPlatform : StdPlatform {
    template <class T>
    using Atomic = CountingAtomic<T>;
};
template <class Base>
struct Counting : DeepTraits<100, Base> {
    using Platform = CountingPlatform;
};

template <class Base>
using CountingBus = Bus<TestMessages, Counting<Base>>;

/// The cost of `step` after it has been done once. By then threads have registered, and the
/// high-water mark has been set.
template <class Step>
int costOf(Step step) {
    step();
    Cost::readModifyWrites = 0;
    step();
    return Cost::readModifyWrites;
}

TEST(BusCostTest, PublishingTakesOneReadModifyWriteAndConsumingNone) {
    CountingBus<FullBusTraits> full;
    CountingBus<BareBusTraits> bare;
    auto subscription = full.subscribe<Sample>([](const Sample&) {});
    int publishing = 0;
    EXPECT_EQ(costOf([&] {
                  Cost::readModifyWrites = 0;
                  ASSERT_EQ(full.publish(Sample{}), SendResult::ok);
                  publishing = Cost::readModifyWrites;
                  full.process();
              }),
              1);
    EXPECT_EQ(publishing, 1);
    EXPECT_EQ(costOf([&] {
                  ASSERT_EQ(bare.publish(Sample{}), SendResult::ok);
                  bare.processWith(partial([](Sample&) {}));
              }),
              1);
}

TEST(BusCostTest, RangeTakesOneForAll) {
    CountingBus<FullBusTraits> bus;
    const std::vector<Sample> samples(50);
    EXPECT_EQ(costOf([&] {
                  ASSERT_EQ(bus.publishAll(samples.begin(), samples.end()), 50U);
                  bus.process();
              }),
              1);
}

// For its count.
TEST(BusCostTest, RefusalTakesOne) {
    CountingBus<FullBusTraits> bus;
    SendResult result = SendResult::ok;
    fillUp(bus, Priority::medium, result);
    EXPECT_EQ(costOf([&] { EXPECT_NE(bus.publish(Sample{}), SendResult::ok); }), 1);
}

}  // namespace
}  // namespace sluice
