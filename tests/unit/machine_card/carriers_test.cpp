#include "carriers.hpp"

#include <gtest/gtest.h>

#include <string>

namespace machine_card {
namespace {

// More parts than fit into the queues.
Snapshot busyMachine() {
    Snapshot snapshot{"1 2 3", "MemTotal: 2048 kB\nMemAvailable: 1024 kB\n", "", "head\n"};
    for (int i = 0; i < 50; ++i) {
        snapshot.disks += "8 0 disk" + std::to_string(i) + " 0 0 20000 0 0 0 10000 0\n";
        snapshot.interfaces += "eth" + std::to_string(i) + ": 5000000 0 0 0 0 0 0 0 7000000\n";
    }
    return snapshot;
}

TEST(CarriersTest, BothWaysWriteTheSameCard) {
    const Card inPlace = carryInPlace(busyMachine());
    const Card asObjects = carryAsObjects(busyMachine());
    EXPECT_EQ(inPlace.parts(), 102);
    EXPECT_EQ(asObjects.parts(), 102);
    EXPECT_EQ(inPlace.text(), asObjects.text());
}

TEST(CarriersTest, TheCardHasEachPart) {
    Snapshot snapshot = busyMachine();
    snapshot.disks = "8 0 disk0 0 0 20000 0 0 0 10000 0\n";
    snapshot.interfaces = "head\neth0: 5000000 0 0 0 0 0 0 0 7000000\n";
    EXPECT_EQ(carryInPlace(snapshot).text(), "load         1.00, 2.00, 3.00 (1, 5, 15 minutes)\n"
                                             "memory       1 of 2 MiB available\n"
                                             "disk0        read 10 MB, wrote 5 MB\n"
                                             "eth0         received 5 MB, sent 7 MB\n");
}

TEST(CarriersTest, NothingToReadIsAnEmptyCard) {
    EXPECT_EQ(carryInPlace(Snapshot{}).parts(), 0);
    EXPECT_EQ(carryAsObjects(Snapshot{}).parts(), 0);
}

}  // namespace
}  // namespace machine_card
