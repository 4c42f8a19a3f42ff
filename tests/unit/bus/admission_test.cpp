#include "unit/bus/bus_doubles.hpp"

#include "support/testing.hpp"

namespace sluice {
namespace {

using namespace test;

template <class AnyBus>
void expectRooms(std::size_t low, std::size_t medium, std::size_t high) {
    const auto bus = std::make_unique<AnyBus>();
    EXPECT_EQ(AnyBus::roomOf(Priority::low), low);
    EXPECT_EQ(AnyBus::roomOf(Priority::medium), medium);
    EXPECT_EQ(AnyBus::roomOf(Priority::high), high);
    EXPECT_EQ(AnyBus::capacity(), low + medium + high);

    SendResult result = SendResult::ok;
    EXPECT_EQ(fillUp(*bus, Priority::low, result), low);
    EXPECT_EQ(result, SendResult::full);
    EXPECT_EQ(fillUp(*bus, Priority::medium, result), medium);
    EXPECT_EQ(result, SendResult::full);
    EXPECT_EQ(fillUp(*bus, Priority::high, result), high);
    EXPECT_EQ(result, SendResult::full);
    EXPECT_EQ(bus->sizeApprox(), low + medium + high);
}

template <std::size_t Depth, class Base = FullBusTraits>
struct OfDepth : Base {
    static constexpr std::size_t depth = Depth;
};
template <std::size_t Depth>
using BusOfDepth = Bus<TestMessages, OfDepth<Depth>>;

TEST(BusAdmissionTest, RoomsAreSharesOfTheDepth) {
    expectRooms<BusOfDepth<2>>(1, 1, 2);
    expectRooms<BusOfDepth<5>>(3, 4, 5);
    expectRooms<BusOfDepth<255>>(153, 204, 255);
    expectRooms<BusOfDepth<70000>>(42000, 56000, 70000);
    expectRooms<BusOfDepth<131072>>(78643, 104857, 131072);
    expectRooms<Bus<TestMessages, FullBusTraits>>(1228, 1638, 2048);
    constexpr std::size_t huge = ~std::size_t{0};
    static_assert(roomOf(huge, Priority::low) == huge / 5 * 3);
}

struct OwnRooms : OfDepth<8> {
    static constexpr std::array<std::size_t, priorityCount> rooms{3, 0, 9};
};

TEST(BusAdmissionTest, RoomsMayBeChosenOneByOne) {
    expectRooms<Bus<TestMessages, OwnRooms>>(3, 6, 9);
}

struct OddDepth : OverflowTraits<Overflow::reject, Overflow::dropOldest, Overflow::reject, 3> {
    static constexpr std::array<std::size_t, priorityCount> rooms{1, 3, 1};
};

// A ring with room for three has more slots. They are empty at first, even if the memory held other
// bytes.
TEST(BusAdmissionTest, PlacesBeyondTheRoomAreEmptyFromTheStart) {
    using OddBus = Bus<TestMessages, OddDepth>;
    alignas(OddBus) static std::array<unsigned char, sizeof(OddBus)> memory;
    memory.fill(1);
    auto* const bus = new (memory.data()) OddBus;
    publishSamples(*bus, 3);
    std::vector<int> seen;
    bus->processWith(partial([&](Sample& sample) {
        if (sample.value == 0) {
            EXPECT_EQ(bus->publish(Sample{100}), SendResult::ok);
        }
        seen.push_back(sample.value);
    }));
    EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 100}));
    EXPECT_EQ(bus->sizeApprox(), 0U);
    bus->~OddBus();
}

TEST(BusAdmissionTest, MessageThatWasNotAcceptedIsStillThere) {
    TestBus<2> bus;
    ASSERT_EQ(bus.publish(Alarm{"first"}), SendResult::ok);
    Alarm second{"a text that is too long to be kept in the string itself"};
    EXPECT_EQ(bus.publish(std::move(second)), SendResult::full);
    EXPECT_EQ(second.text, "a text that is too long to be kept in the string itself");
    bus.close();
    EXPECT_EQ(bus.publish(std::move(second)), SendResult::closed);
    EXPECT_EQ(second.text, "a text that is too long to be kept in the string itself");
}

}  // namespace
}  // namespace sluice
