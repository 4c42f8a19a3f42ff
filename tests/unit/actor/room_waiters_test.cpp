#include <sluice/actor/detail/awaited_posting.hpp>
#include <sluice/actor/request.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace sluice::detail {
namespace {

/// Counts the waits that take memory.
struct CountedWait : Park {
    CountedWait() noexcept { ++alive; }
    CountedWait(const CountedWait&) = delete;
    CountedWait& operator=(const CountedWait&) = delete;
    ~CountedWait() { --alive; }
    inline static int alive = 0;
};
struct CountedTraits : RequestTraits {
    using Wait = CountedWait;
};
using Waiters = RoomWaiters<CountedTraits>;

TEST(RoomWaitersTest, WaitsThatWereGivenUpAreForgotten) {
    Waiters waiters;
    int most = 0;
    for (int i = 0; i < 10000; ++i) {
        (void)waiters.add();
        most = most < CountedWait::alive ? CountedWait::alive : most;
    }
    EXPECT_LT(most, 200);
}

// A wait that ends early adds itself again, as a post that finds no room does. Otherwise many
// waiting threads could wake each other without end.
TEST(RoomWaitersTest, ManyWaitsEndEarlySeldom) {
    Waiters waiters;
    std::vector<Waiters::Room::Future> rooms;
    for (int i = 0; i < 1000; ++i) {
        rooms.push_back(waiters.add());
    }
    int early = 0;
    for (int i = 0; i < 10000; ++i) {
        (void)waiters.add();  // given up at once
        for (auto& room : rooms) {
            if (room.isReady()) {
                room = waiters.add();
                ++early;
            }
        }
    }
    EXPECT_LT(early, 20000) << "not for each of 10,000 others";
    EXPECT_LT(CountedWait::alive, 4000);
    waiters.notifyAll();
    for (auto& room : rooms) {
        EXPECT_TRUE(room.isReady());
    }
}

}  // namespace
}  // namespace sluice::detail
