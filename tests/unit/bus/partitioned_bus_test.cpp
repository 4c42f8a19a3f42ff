#include "support/crew.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"
#include "unit/bus/bus_doubles.hpp"

#include <sluice/bus/partitioned_bus.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using namespace test;

struct Order {
    std::size_t customer;
    int number;
};
struct Cancel {
    std::size_t customer;
};
struct CustomerOf {
    template <class T>
    std::size_t operator()(const T& message) const noexcept {
        return message.customer;
    }
};

template <std::size_t Partitions, std::size_t Depth = 64>
using Orders = PartitionedBus<Messages<Order, Cancel>, Partitions, CustomerOf, DeepTraits<Depth>>;

TEST(PartitionedBusTest, MessagesOfOneKeyGoToOnePartition) {
    const auto bus = std::make_unique<Orders<3>>();
    for (std::size_t customer = 0; customer < 30; ++customer) {
        ASSERT_EQ(bus->publish(Order{customer, 1}), SendResult::ok);
        ASSERT_EQ(bus->publish(Cancel{customer}, Priority::low), SendResult::ok);
    }
    std::size_t total = 0;
    for (std::size_t i = 0; i < bus->size(); ++i) {
        std::size_t here = 0;
        const auto check = [&](auto& message) {
            EXPECT_EQ(&bus->of(message.customer), &(*bus)[i]);
            ++here;
        };
        (*bus)[i].processWith(check);
        EXPECT_GT(here, 4U) << "keys in a row are spread";
        total += here;
    }
    EXPECT_EQ(total, 60U);
    EXPECT_EQ(bus->statistics().total().delivered, 60U);
    EXPECT_EQ(bus->statistics().ofPriority(Priority::low).published, 30U);
}

TEST(PartitionedBusTest, BusyKeyDoesNotShutOthersOut) {
    const auto bus = std::make_unique<Orders<2, 10>>();
    std::size_t other = 1;
    while (&bus->of(other) == &bus->of(0)) {
        ++other;
    }
    while (bus->publish(Order{0, 0}) == SendResult::ok) {
    }
    EXPECT_EQ(bus->publish(Order{other, 0}), SendResult::ok);
}

TEST(PartitionedBusTest, WorkersKeepTheOrderOfEachKey) {
    constexpr std::size_t customers = 7;
    const auto bus = std::make_unique<Orders<3, 256>>();
    std::array<int, customers> last{};
    std::atomic<int> outOfOrder{0};
    const auto subscriptions = bus->subscribe<Order>(
        [&](const Order& order) { outOfOrder += order.number != ++last[order.customer] ? 1 : 0; });
    const int orders = static_cast<int>(scaled(5000));
    {
        Crew crew;
        for (std::size_t worker = 0; worker < bus->size(); ++worker) {
            crew.add([&, worker] { (*bus)[worker].run(); });
        }
        crew.start();
        for (int number = 1; number <= orders; ++number) {
            for (std::size_t customer = 0; customer < customers; ++customer) {
                while (bus->publish(Order{customer, number}) != SendResult::ok) {
                    std::this_thread::yield();
                }
            }
        }
        EXPECT_TRUE(bus->drain(std::chrono::steady_clock::now() + std::chrono::hours(1)));
    }
    EXPECT_EQ(outOfOrder, 0);
    for (const int number : last) {
        EXPECT_EQ(number, orders);
    }
}

struct FewHandlers : DeepTraits<64> {
    static constexpr std::size_t maxHandlers = 1;
};

TEST(PartitionedBusTest, SubscribesForAllPartitionsOrForNone) {
    const auto bus =
        std::make_unique<PartitionedBus<Messages<Order, Cancel>, 3, CustomerOf, FewHandlers>>();
    auto inTheWay = (*bus)[1].subscribe<Order>([](const Order&) {});
    const auto handler = [](const Order&) {};
    for (const Subscription& each : bus->subscribe<Order>(handler)) {
        EXPECT_FALSE(each.isActive());
    }
    EXPECT_EQ((*bus)[0].subscriptionCount<Order>(), 0U);
    EXPECT_EQ((*bus)[2].subscriptionCount<Order>(), 0U);
    inTheWay.unsubscribe();
    for (const Subscription& each : bus->subscribe<Order>(handler)) {
        EXPECT_TRUE(each.isActive());
    }
}

TEST(PartitionedBusTest, AllPartitionsTellTheObserver) {
    PressureWitness witness;
    PartitionedBus<Messages<Order, Cancel>, 3, CustomerOf, WitnessedTraits> bus(witness);
    for (std::size_t i = 0; i < bus.size(); ++i) {
        while (bus[i].publish(Cancel{0}, Priority::low) == SendResult::ok) {
        }
    }
    EXPECT_EQ(witness.changes, 3);
}

TEST(PartitionedBusTest, PublishesWithTheOptionsOfABus) {
    Orders<2> bus;
    ASSERT_EQ(bus.publish(Cancel{0}, {Priority::high, 7}), SendResult::ok);
    ASSERT_EQ(bus.tryPublish(Cancel{0}, {Priority::high, 7}), SendResult::ok);
    ASSERT_EQ(bus.publishFor(std::chrono::seconds(1), Cancel{0}, {Priority::high, 7}),
              SendResult::ok);
    std::size_t taken = 0;
    bus.of(0).processWith([&](auto&, const auto& header) {
        EXPECT_EQ(header.priority, Priority::high);
        EXPECT_EQ(header.sender, 7U);
        ++taken;
    });
    EXPECT_EQ(taken, 3U);
    EXPECT_EQ(bus.tryPublish(Cancel{0}, Priority::low), SendResult::ok);
}

// One thread serves both partitions: it would wait for itself.
TEST(PartitionedBusTest, DrainInAHandlerDoesNotWait) {
    const auto bus = std::make_unique<Orders<2>>();
    std::atomic<int> calls{0};
    const Watchdog watchdog([&](std::FILE* out) { std::fprintf(out, "%d calls\n", calls.load()); });
    const auto subscriptions = bus->subscribe<Order>([&](const Order&) {
        ++calls;
        EXPECT_NE((*bus)[0].isConsumedHere(), (*bus)[1].isConsumedHere());
        EXPECT_FALSE(bus->drain(std::chrono::steady_clock::now() + std::chrono::hours(1)));
    });
    for (std::size_t i = 0; i < bus->size(); ++i) {
        ASSERT_EQ((*bus)[i].publish(Order{0, 0}), SendResult::ok);
    }
    for (std::size_t i = 0; i < bus->size(); ++i) {
        EXPECT_EQ((*bus)[i].process(), 1U);
    }
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(bus->publish(Order{0, 0}), SendResult::closed);
    EXPECT_FALSE(bus->of(0).isConsumedHere());
    EXPECT_TRUE(bus->drain(std::chrono::steady_clock::now()));
}

struct WatchedKeyOf {
    struct Life {
        bool isOver = false;
        int usesAfterIt = 0;
    };
    explicit WatchedKeyOf(Life& watched) : life(&watched) {}
    WatchedKeyOf(WatchedKeyOf&& other) noexcept : life(std::exchange(other.life, nullptr)) {}
    ~WatchedKeyOf() {
        if (life != nullptr) {
            life->isOver = true;
        }
    }
    std::size_t operator()(const Farewell& message) const {
        life->usesAfterIt += life->isOver ? 1 : 0;
        return message.key;
    }
    Life* life;
};

TEST(PartitionedBusTest, AcceptsNoMessageWhileItIsDestroyed) {
    using Farewells = PartitionedBus<Messages<Farewell>, 3, WatchedKeyOf, DeepTraits<10>>;
    WatchedKeyOf::Life life;
    auto bus = std::make_unique<Farewells>(WatchedKeyOf(life));
    Farewells* const address = bus.get();
    std::vector<SendResult> results;
    const auto publishInEach = [&] {
        for (std::size_t key = 0; key < 16; ++key) {
            Farewell more([] {});
            more.key = key;
            results.push_back(address->publish(std::move(more)));
        }
    };
    for (std::size_t i = 0; i < bus->size(); ++i) {
        ASSERT_EQ((*bus)[i].publish(Farewell(publishInEach)), SendResult::ok);
    }
    bus.reset();
    EXPECT_EQ(results, std::vector<SendResult>(3 * 16, SendResult::closed));
    EXPECT_TRUE(life.isOver);
    EXPECT_EQ(life.usesAfterIt, 0);
}

}  // namespace
}  // namespace sluice
