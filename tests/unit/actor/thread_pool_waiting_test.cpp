#include "support/watchdog.hpp"
#include "unit/actor/thread_pool_doubles.hpp"

#include <sluice/actor/running.hpp>
#include <sluice/actor/thread_pool.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

// Handlers that wait for other objects of their pool.

namespace sluice {
namespace {

using namespace std::chrono_literals;
using namespace test;

struct Beat {};

/// Asks its neighbour in a handler, which is on the same executor.
class Asking : public PooledObject<Asking, Messages<CountRequest>> {
public:
    explicit Asking(Member& neighbour) : neighbour_(neighbour) {}
    void handle(const CountRequest& request) {
        request.reply(neighbour_.request<std::size_t>(Count{}, 1h).get().value() + 1);
    }

private:
    Member& neighbour_;
};

TEST(ThreadPoolWaitTest, AHandlerMayWaitForAnObjectThatAnotherThreadRuns) {
    const Watchdog watchdog([](std::FILE*) {});
    ThreadPool pool(2);
    Running<Member> member(pool);
    Running<Asking> asking(pool, member);
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(asking.request<std::size_t>(Count{}, 1h).get().value(), 1U);
    }
}

/// Waits for the end of an object with a thread of its own, which another object of the pool stops.
class Leading : public PooledObject<Leading, Messages<Beat>> {
public:
    void handle(const Beat& /*beat*/) {
        if (next != nullptr) {
            ASSERT_EQ(next->post(Beat{}), SendResult::ok);
            EXPECT_TRUE(awaited->join());
        } else {
            awaited->stop();
        }
    }
    Leading* next = nullptr;
    Keeper<>* awaited = nullptr;
};

TEST(ThreadPoolTest, AHandlerMayJoinWhatTheNextTaskOfItsThreadStops) {
    const Watchdog watchdog([](std::FILE*) {});
    Keeper<> awaited;
    ASSERT_TRUE(awaited.start());
    ThreadPool pool(2);
    Running<Leading> second(pool);
    Running<Leading> first(pool);
    first.awaited = second.awaited = &awaited;
    first.next = &second;
    ASSERT_EQ(first.post(Beat{}), SendResult::ok);
    EXPECT_TRUE(first.stopAfterDrain(late()));
    EXPECT_TRUE(awaited.join());
}

/// Ends an object of its own pool in its handler.
class Owning : public PooledObject<Owning, Messages<Beat>> {
public:
    Owning(Executor& executor, std::atomic<int>& handled)
        : child_(std::make_unique<Running<Member>>(executor)), handled_(handled) {}
    void handle(const Beat& /*beat*/) {
        std::atomic<bool> isDone{false};
        child_->isDone = &isDone;
        child_->next = child_.get();
        EXPECT_EQ(child_->post(Hop{0}), SendResult::ok);
        EXPECT_TRUE(child_->stopAfterDrain(late()));
        EXPECT_TRUE(isDone);
        child_.reset();
        ++handled_;
    }

private:
    std::unique_ptr<Running<Member>> child_;
    std::atomic<int>& handled_;
};

// Each thread of the pool waits in a handler, so no other thread runs the children.
TEST(ThreadPoolWaitTest, HandlersMayEndOtherObjectsOfTheirPool) {
    const Watchdog watchdog([](std::FILE*) {});
    for (const std::size_t threads : {1U, 2U}) {
        ThreadPool pool(threads);
        std::atomic<int> handled{0};
        std::vector<std::unique_ptr<Running<Owning>>> parents;
        for (int i = 0; i < 50; ++i) {
            parents.push_back(std::make_unique<Running<Owning>>(pool, pool, handled));
        }
        for (const auto& parent : parents) {
            EXPECT_EQ(parent->post(Beat{}), SendResult::ok);
        }
        for (const auto& parent : parents) {
            EXPECT_TRUE(parent->stopAfterDrain(late()));
        }
        EXPECT_EQ(handled, 50);
    }
}

class Joining : public PooledObject<Joining, Messages<Beat>> {
public:
    void handle(const Beat& /*beat*/) {
        isInside = true;
        EXPECT_TRUE(other->join());
    }
    Member* other = nullptr;
    std::atomic<bool> isInside{false};
};

TEST(ThreadPoolWaitTest, AHandlerAwaitsAnEndThatAnotherThreadCauses) {
    const Watchdog watchdog([](std::FILE*) {});
    ThreadPool pool(1);
    for (int i = 0; i < 20; ++i) {
        Running<Member> member(pool);
        Running<Joining> joining(pool);
        joining.other = &member;
        ASSERT_EQ(joining.post(Beat{}), SendResult::ok);
        while (!joining.isInside) {
            std::this_thread::yield();
        }
        member.stop();
        EXPECT_TRUE(joining.stopAfterDrain(late()));
    }
}

}  // namespace
}  // namespace sluice
