#include "support/watchdog.hpp"

#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/actor/thread_pool.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace sluice {
namespace {

using namespace std::chrono_literals;

struct Hop {
    std::size_t left;
};
struct Count {};
using CountRequest = Request<Count, std::size_t>;

class Member : public PooledObject<Member, Messages<Hop, CountRequest>> {
public:
    void handle(const Hop& hop) {
        ++hops_;
        if (hop.left != 0) {
            const PublishResult result = next->post(Hop{hop.left - 1});
            EXPECT_TRUE(result == PublishResult::ok || result == PublishResult::closed);
        } else {
            *isDone = true;
        }
    }
    void handle(const CountRequest& request) { request.reply(hops_); }

    Member* next = nullptr;
    std::atomic<bool>* isDone = nullptr;

private:
    std::size_t hops_ = 0;
};

class ThreadPoolTest : public testing::TestWithParam<std::size_t> {
protected:
    void make(std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) {
            ring_.push_back(std::make_unique<Running<Member>>(pool_));
            ring_.back()->isDone = &isDone_;
        }
        for (std::size_t i = 0; i < size; ++i) {
            ring_[i]->next = ring_[(i + 1) % size].get();
        }
    }

    // Nobody posts to an object that has gone.
    void TearDown() override {
        for (const auto& member : ring_) {
            member->stop();
        }
        for (const auto& member : ring_) {
            EXPECT_TRUE(member->join());
        }
    }

    const test::Watchdog watchdog_{[](std::FILE*) {}};
    ThreadPool pool_{GetParam()};
    std::atomic<bool> isDone_{false};
    std::vector<std::unique_ptr<Running<Member>>> ring_;
};

TEST_P(ThreadPoolTest, ATokenGoesRoundARing) {
    make(10);
    ASSERT_EQ(ring_[0]->post(Hop{999}), PublishResult::ok);
    while (!isDone_) {
        std::this_thread::yield();
    }
    std::size_t hops = 0;
    for (const auto& member : ring_) {
        const auto reply = member->request<std::size_t>(Count{}, 1h).get();
        EXPECT_EQ(reply.value(), 100U);
        hops += reply.value();
    }
    EXPECT_EQ(hops, 1000U);
}

TEST_P(ThreadPoolTest, AnObjectThatPostsToItselfHoldsNobodyUp) {
    make(2);
    ring_[0]->next = ring_[0].get();
    ASSERT_EQ(ring_[0]->post(Hop{SIZE_MAX}), PublishResult::ok);
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(ring_[1]->request<std::size_t>(Count{}, 1h).get().value(), 0U);
    }
}

TEST_P(ThreadPoolTest, TwoObjectsThatPostToEachOtherHoldNobodyUp) {
    make(3);
    ring_[1]->next = ring_[0].get();
    ASSERT_EQ(ring_[0]->post(Hop{SIZE_MAX}), PublishResult::ok);
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(ring_[2]->request<std::size_t>(Count{}, 1h).get().value(), 0U);
    }
}

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
    const test::Watchdog watchdog([](std::FILE*) {});
    ThreadPool pool(2);
    Running<Member> member(pool);
    Running<Asking> asking(pool, member);
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(asking.request<std::size_t>(Count{}, 1h).get().value(), 1U);
    }
}

struct Beat {};
struct BeatTraits : PooledTraits {
    static constexpr std::size_t maxTimers = 1;
};
class Beating : public PooledObject<Beating, Messages<Beat>, BeatTraits> {
public:
    void handle(const Beat&) {
        if (++beats_ == 5) {
            *isDone = true;
        }
    }
    std::atomic<bool>* isDone = nullptr;

private:
    int beats_ = 0;
};

TEST_P(ThreadPoolTest, TimersFireWhileTheThreadsSleep) {
    make(1);
    Running<Beating> beating(pool_);
    beating.isDone = &isDone_;
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(beating.postEvery(2ms, Beat{}));
    while (!isDone_) {
        std::this_thread::yield();
    }
    EXPECT_GE(std::chrono::steady_clock::now() - start, 10ms);
}

TEST_P(ThreadPoolTest, TimersFireWhileObjectsAreBusy) {
    make(2);
    ASSERT_EQ(ring_[0]->post(Hop{SIZE_MAX}), PublishResult::ok);
    Running<Beating> beating(pool_);
    beating.isDone = &isDone_;
    ASSERT_TRUE(beating.postEvery(1ms, Beat{}));
    while (!isDone_) {
        std::this_thread::yield();
    }
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, testing::Values(1U, 2U, 4U));

#if defined(__cpp_exceptions)
TEST(ThreadPoolTest, NeedsAThread) {
    EXPECT_THROW(ThreadPool(0), std::invalid_argument);
}
#endif

}  // namespace
}  // namespace sluice
