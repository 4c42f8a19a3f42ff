#include "support/allocation_count.hpp"
#include "support/crew.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"

#include <sluice/bus.hpp>

#include "support/testing.hpp"
#include <cinttypes>
#include <thread>

namespace sluice::test {
namespace {

struct Sample {
    std::uint64_t value;
};
struct Alarm {
    std::array<char, 100> text;
};
using Types = Messages<Sample, Alarm>;

template <class Base>
struct SmallTraits : Base {
    static constexpr std::size_t depth = 32;
};
struct WeightedTraits : FullBusTraits {
    static constexpr PriorityOrder service = PriorityOrder::weighted;
    static constexpr TimeStamp timeStamp = TimeStamp::exact;
    static constexpr std::array<Overflow, priorityCount> overflow{
        Overflow::dropOldest, Overflow::dropOldest, Overflow::block};
    static constexpr std::chrono::nanoseconds blockLimit = std::chrono::microseconds(1);
    static constexpr bool origins = true;
    static constexpr bool traces = true;
};
struct OneProducerTraits : FullBusTraits {
    static constexpr Producers producers = Producers::one;
};

/// Every mode of the bus.
template <class Base>
class BusAllocationTest : public testing::Test {
protected:
    using TheBus = Bus<Types, SmallTraits<Base>>;
    static constexpr std::size_t rounds = 10;

    TheBus bus;
    std::uint64_t handled = 0;

    template <class T>
    SendResult publish(const T& message, [[maybe_unused]] Priority priority) {
        if constexpr (Base::priorities) {
            return bus.publish(message, priority);
        } else {
            return bus.publish(message);
        }
    }

    /// Publishes in all ways until the bus is full, and beyond. Returns how many were accepted.
    std::size_t flood() {
        const std::array<Sample, 4> many{};
        std::size_t accepted = bus.publishAll(many.begin(), many.end());
        accepted += bus.template emplace<Sample>(1U) == SendResult::ok ? 1 : 0;
        for (const Priority priority : {Priority::low, Priority::medium, Priority::high}) {
            for (std::size_t i = 0; i < 2 * bus.capacity(); ++i) {
                accepted += publish(Sample{i}, priority) == SendResult::ok ? 1 : 0;
                accepted += publish(Alarm{}, priority) == SendResult::ok ? 1 : 0;
            }
        }
        return accepted;
    }
};

struct ModeNames {
    template <class Base>
    static std::string GetName(int) {
        return std::is_same_v<Base, FullBusTraits>       ? "Full"
               : std::is_same_v<Base, NoStatsBusTraits>  ? "NoStatistics"
               : std::is_same_v<Base, BareBusTraits>     ? "Bare"
               : std::is_same_v<Base, OneProducerTraits> ? "OneProducer"
                                                         : "Weighted";
    }
};
using Modes = testing::Types<FullBusTraits, NoStatsBusTraits, BareBusTraits, OneProducerTraits,
                             WeightedTraits>;
TYPED_TEST_SUITE(BusAllocationTest, Modes, ModeNames);

TYPED_TEST(BusAllocationTest, PublishingAndHandlersAllocateNothing) {
    (void)this->publish(Sample{}, Priority::high);
    this->bus.process();

    const AllocationCount count;
    auto samples = this->bus.template subscribe<Sample>(
        [this](const Sample&, const auto&) { ++this->handled; });
    auto alarms = this->bus.template subscribe<Alarm>([this](const Alarm&) { ++this->handled; });
    std::size_t accepted = 0;
    for (std::size_t round = 0; round < this->rounds; ++round) {
        accepted += this->flood();
        while (this->bus.process(7) != 0) {
        }
    }
    alarms.unsubscribe();
    samples.unsubscribe();
    EXPECT_EQ(count.allocations(), 0U);
    EXPECT_EQ(count.deallocations(), 0U);
    EXPECT_GE(this->handled, this->rounds * this->bus.capacity());
    EXPECT_LE(this->handled, accepted);
}

TYPED_TEST(BusAllocationTest, TrafficBetweenThreadsAllocatesNothing) {
    constexpr std::size_t producers = TypeParam::producers == Producers::one ? 1 : 2;
    const std::uint64_t each = scaled(20000);
    std::atomic<std::size_t> begun{0};
    std::atomic<bool> mayGoOn{false};
    std::atomic<std::uint64_t> accepted{0};
    const Watchdog watchdog([&](std::FILE* out) {
        std::fprintf(out, "begun %zu, accepted %" PRIu64 ", in the bus %zu\n", begun.load(),
                     accepted.load(), this->bus.sizeApprox());
    });
    Crew crew;
    for (std::size_t self = 0; self < producers; ++self) {
        crew.add([&] {
            (void)this->publish(Sample{}, Priority::high);
            begun.fetch_add(1);
            awaitThat([&] { return mayGoOn.load(); });
            for (std::uint64_t i = 0; i < each; ++i) {
                awaitThat(
                    [&] { return this->publish(Sample{i}, Priority::high) == SendResult::ok; });
                accepted.fetch_add(1, std::memory_order_relaxed);
            }
        });
    }
    auto samples = this->bus.template subscribe<Sample>([this](const Sample&) { ++this->handled; });
    crew.start();
    awaitThat([&] { return begun.load() == producers; });
    this->bus.process();
    this->handled = 0;

    const AllocationCount count;
    mayGoOn = true;
    const auto visitor = partial([this](const Sample&) { ++this->handled; });
    bool isVisitorsTurn = false;
    for (std::uint64_t taken = 0; taken < producers * each;) {
        isVisitorsTurn = !isVisitorsTurn;
        const std::size_t harvested =
            isVisitorsTurn ? this->bus.processWith(visitor) : this->bus.process();
        taken += harvested;
        if (harvested == 0) {
            std::this_thread::yield();
        }
    }
    const bool hasMore = this->bus.waitFor(std::chrono::microseconds(1));
    EXPECT_EQ(count.allocations(), 0U);
    EXPECT_FALSE(hasMore);
    EXPECT_EQ(this->handled, producers * each);
}

TEST(BusSetUpAllocationTest, NeitherSetUpNorTheFirstPublicationAllocates) {
    const AllocationCount count;
    Bus<Types, SmallTraits<FullBusTraits>> bus;
    EXPECT_EQ(bus.publish(Sample{}), SendResult::ok);
    EXPECT_EQ(bus.process(), 1U);
    EXPECT_EQ(bus.statistics().total().published, 1U);
    EXPECT_EQ(count.allocations(), 0U);
}

struct Owner final {
    explicit Owner(Bus<Types, SmallTraits<FullBusTraits>>& bus) {
        component.subscribe<Sample>(bus, &Owner::onSample);
        component.subscribe<Alarm>(bus, [this](const Alarm&) { ++handled; });
    }
    void onSample(const Sample&) { ++handled; }
    std::size_t handled = 0;
    Component<Owner, 2> component{*this};
};
TEST(BusSetUpAllocationTest, ComponentsAllocateNothing) {
    Bus<Types, SmallTraits<FullBusTraits>> bus;
    ASSERT_EQ(bus.publish(Sample{}), SendResult::ok);
    ASSERT_EQ(bus.publish(Alarm{}), SendResult::ok);

    const AllocationCount count;
    Owner owner(bus);
    bus.process();
    const SendResult result = bus.publish(Sample{});
    EXPECT_EQ(count.allocations(), 0U);
    EXPECT_EQ(count.deallocations(), 0U);
    EXPECT_EQ(result, SendResult::ok);
    EXPECT_EQ(owner.handled, 2U);
}

TEST(BusSetUpAllocationTest, LastValuesAllocateNothing) {
    Bus<Types, SmallTraits<FullBusTraits>> bus;
    const AllocationCount count;
    std::uint64_t last = 0;
    LastValue<Sample, decltype(bus)> value(bus, [&](const Sample& now) { last = now.value; });
    for (std::uint64_t i = 1; i <= 3; ++i) {
        (void)value.publish(Sample{i});
        (void)bus.process();
    }
    const auto newest = value.get();
    bus.close();
    bus.run();
    EXPECT_EQ(count.allocations(), 0U);
    EXPECT_EQ(last, 3U);
    EXPECT_EQ(newest->value, 3U);
}

}  // namespace
}  // namespace sluice::test
