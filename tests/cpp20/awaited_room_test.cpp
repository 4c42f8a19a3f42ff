#include <sluice/actor/coroutine.hpp>
#include <sluice/actor/detail/awaited_posting.hpp>
#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/request.hpp>
#include <sluice/actor/running.hpp>

#include "support/testing.hpp"

// Room of which no thread tells a coroutine.

namespace sluice {
namespace {

using namespace std::chrono_literals;

struct Parcel {};
struct Order {};

/// Notifies no waiter of its room, as an object whose thread is preempted.
class Silent {
public:
    SendResult tryPost(Parcel&& /*parcel*/, const PublishOptions& /*options*/) {
        return hasRoom ? SendResult::ok : SendResult::full;
    }
    auto& roomWaiters() { return waiters_; }
    bool hasRoom = false;

private:
    detail::RoomWaiters<StdPlatform> waiters_;
};

struct Awaits : PooledTraits {
    static constexpr std::size_t maxCoroutines = 1;
};
class Sending : public PooledObject<Sending, Messages<Order>, Awaits> {
public:
    void handle(const Order& /*order*/) { EXPECT_TRUE(run(send())); }
    Silent target;
    SendResult result = SendResult::closed;

private:
    Coroutine send() {
        result = co_await detail::PostToAwait<Silent, Parcel>{target, Parcel{}, 10s, {}};
    }
};

class AwaitedRoomWithoutNewsTest : public testing::Test {
protected:
    ManualExecutor executor_;
    Running<Sending> object_{executor_};
};

TEST_F(AwaitedRoomWithoutNewsTest, IsFoundAtTheDeadline) {
    ASSERT_EQ(object_.post(Order{}), SendResult::ok);
    executor_.runFor(9s);
    EXPECT_EQ(object_.result, SendResult::closed) << "it waits";
    object_.target.hasRoom = true;
    executor_.runFor(1s);
    EXPECT_EQ(object_.result, SendResult::ok);
}

TEST_F(AwaitedRoomWithoutNewsTest, DoesNotComeAfterTheDeadline) {
    ASSERT_EQ(object_.post(Order{}), SendResult::ok);
    executor_.runFor(10s);
    EXPECT_EQ(object_.result, SendResult::full);
}

}  // namespace
}  // namespace sluice
