#include "support/watchdog.hpp"
#include "unit/actor/thread_pool_doubles.hpp"

#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/actor/thread_pool.hpp>
#include <sluice/wait/park.hpp>

#include <gtest/gtest.h>

#if defined(__linux__)
#include <pthread.h>
#include <sys/resource.h>
#endif

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using namespace test;

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

    // No thread posts to an object that has gone.
    void TearDown() override {
        for (const auto& member : ring_) {
            member->stop();
        }
        for (const auto& member : ring_) {
            EXPECT_TRUE(member->join());
        }
    }

    const Watchdog watchdog_{[](std::FILE*) {}};
    ThreadPool pool_{GetParam()};
    std::atomic<bool> isDone_{false};
    std::vector<std::unique_ptr<Running<Member>>> ring_;
};

TEST_P(ThreadPoolTest, ATokenGoesRoundARing) {
    make(10);
    ASSERT_EQ(ring_[0]->post(Hop{999}), SendResult::ok);
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
    ASSERT_EQ(ring_[0]->post(Hop{SIZE_MAX}), SendResult::ok);
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(ring_[1]->request<std::size_t>(Count{}, 1h).get().value(), 0U);
    }
}

TEST_P(ThreadPoolTest, TwoObjectsThatPostToEachOtherHoldNobodyUp) {
    make(3);
    ring_[1]->next = ring_[0].get();
    ASSERT_EQ(ring_[0]->post(Hop{SIZE_MAX}), SendResult::ok);
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(ring_[2]->request<std::size_t>(Count{}, 1h).get().value(), 0U);
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
    ASSERT_EQ(ring_[0]->post(Hop{SIZE_MAX}), SendResult::ok);
    Running<Beating> beating(pool_);
    beating.isDone = &isDone_;
    ASSERT_TRUE(beating.postEvery(1ms, Beat{}));
    while (!isDone_) {
        std::this_thread::yield();
    }
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, testing::Values(1U, 2U, 4U));

/// Waits in its handler until the test lets it go.
class Stuck : public PooledObject<Stuck, Messages<Beat>> {
public:
    void handle(const Beat& /*beat*/) {
        isInside = true;
        while (!isReleased) {
            std::this_thread::yield();
        }
    }
    std::atomic<bool> isInside{false};
    std::atomic<bool> isReleased{false};
};

TEST(ThreadPoolTest, AHandlerThatDoesNotReturnKeepsOneThreadOnly) {
    const Watchdog watchdog([](std::FILE*) {});
    ThreadPool pool(2);
    Running<Stuck> stuck(pool);
    ASSERT_EQ(stuck.post(Beat{}), SendResult::ok);
    while (!stuck.isInside) {
        std::this_thread::yield();
    }
    ASSERT_EQ(stuck.post(Beat{}), SendResult::ok);
    const auto deadline = std::chrono::steady_clock::now() + 5ms;
    EXPECT_FALSE(stuck.stopAfterDrain(deadline));
    EXPECT_GE(std::chrono::steady_clock::now(), deadline);
    EXPECT_FALSE(stuck.hasEnded());
    EXPECT_EQ(stuck.post(Beat{}), SendResult::closed);
    Running<Stuck> other(pool);
    other.isReleased = true;
    ASSERT_EQ(other.post(Beat{}), SendResult::ok);
    EXPECT_TRUE(other.stopAfterDrain(late()));
    stuck.isReleased = true;
    EXPECT_TRUE(stuck.join());
    EXPECT_EQ(stuck.statistics().handled, 1U);
    EXPECT_EQ(stuck.statistics().discarded, 1U);
}

/// Gives its thread a long task at its first beat.
class Leaving : public PooledObject<Leaving, Messages<Beat>, BeatTraits> {
public:
    explicit Leaving(Stuck& stuck) : stuck_(stuck) {}
    void handle(const Beat& /*beat*/) {
        if (++beats == 1) {
            EXPECT_EQ(stuck_.post(Beat{}), SendResult::ok);
        }
    }
    std::atomic<int> beats{0};

private:
    Stuck& stuck_;
};

// The thread that would have slept until the next alarm is busy, so another thread does it.
TEST(ThreadPoolTest, TimersFireWhileAHandlerTakesLong) {
    const Watchdog watchdog([](std::FILE*) {});
    ThreadPool pool(2);
    Running<Stuck> stuck(pool);
    Running<Leaving> leaving(pool, stuck);
    ASSERT_TRUE(leaving.postEvery(1ms, Beat{}));
    while (leaving.beats < 10) {
        std::this_thread::yield();
    }
    stuck.isReleased = true;
}

/// Holds its thread until the test opens the gate. Notes the threads that call it.
class Wandering : public PooledObject<Wandering, Messages<Beat>> {
public:
    void handle(const Beat& /*beat*/) {
        while (!isOpen) {
            std::this_thread::yield();
        }
        threads.insert(std::this_thread::get_id());
    }
    std::atomic<bool> isOpen{false};
    std::set<std::thread::id> threads;
};

TEST(ThreadPoolTest, AnObjectWithManyMessagesKeepsItsThreadIfNoOtherObjectWaits) {
    ThreadPool pool(4);
    Running<Wandering> object(pool);
    std::size_t posted = 0;
    while (object.post(Beat{}) == SendResult::ok) {
        ++posted;
    }
    ASSERT_GE(posted, 4 * PooledTraits::batch);
    object.isOpen = true;
    EXPECT_TRUE(object.stopAfterDrain(late()));
    EXPECT_EQ(object.threads.size(), 1U);
}

TEST(ThreadPoolDeathTest, IsNotDestroyedBeforeItsObjectsHaveEnded) {
    const auto destroy = [] {
        auto pool = std::make_unique<ThreadPool>(1);
        const Running<Stuck> object(*pool);
        pool.reset();
    };
    EXPECT_DEATH(destroy(), "declare the executor before its objects");
}

#if defined(__linux__)
/// Asks its thread for its name.
class Named : public PooledObject<Named, Messages<Beat>> {
public:
    void handle(const Beat& /*beat*/) {
        (void)pthread_getname_np(pthread_self(), name, sizeof name);
    }
    char name[16] = "";
};

TEST(ThreadPoolTest, ThreadsHaveTheirOptions) {
    ThreadPool pool(2, {}, {"pool of a test"});
    Running<Named> object(pool);
    ASSERT_EQ(object.post(Beat{}), SendResult::ok);
    EXPECT_TRUE(object.stopAfterDrain(late()));
    EXPECT_STREQ(object.name, "pool of a test");
}

struct Ping {};

class Answering : public PooledObject<Answering, Messages<Ping>> {
public:
    void handle(const Ping&) {
        ++handled;
        isHandled.notifyAll();
    }
    std::atomic<int> handled{0};
    Park isHandled;
};

long voluntarySwitches() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

// The thread that posts sleeps once for each message, and so does the thread that handles it.
TEST(ThreadPoolTest, AMessageWakesOneThread) {
    constexpr std::size_t threads = 16;
    constexpr int messages = 300;
    ThreadPool pool(threads);
    Running<Answering> object(pool);
    const long before = voluntarySwitches();
    for (int i = 1; i <= messages; ++i) {
        ASSERT_EQ(object.post(Ping{}), SendResult::ok);
        object.isHandled.wait([&] { return object.handled == i; });
        std::this_thread::yield();
    }
    EXPECT_LT(voluntarySwitches() - before, 6L * messages + 10L * long{threads});
}

class Counting : public PooledObject<Counting, Messages<Beat>, BeatTraits> {
public:
    void handle(const Beat& /*beat*/) {
        if (++handled == last) {
            isDone.notifyAll();
        }
    }
    static constexpr int last = 300;
    std::atomic<int> handled{0};
    Park isDone;
};

// The timekeeper wakes, and sleeps again after the handler. Another thread may be called meanwhile.
TEST(ThreadPoolTest, ATimerWakesOneThread) {
    constexpr std::size_t threads = 16;
    ThreadPool pool(threads);
    Running<Counting> object(pool);
    const long before = voluntarySwitches();
    ASSERT_TRUE(object.postEvery(1ms, Beat{}));
    object.isDone.wait([&] { return object.handled >= Counting::last; });
    EXPECT_LT(voluntarySwitches() - before, 4L * Counting::last + 10L * long{threads});
}
#endif

#if defined(__cpp_exceptions)
TEST(ThreadPoolTest, NeedsAThread) {
    EXPECT_THROW(ThreadPool(0), std::invalid_argument);
}

TEST(ThreadPoolTest, ARefusalNamesTheLimit) {
    try {
        const ThreadPool pool(2, {}, {"sixteen letters!"});
        FAIL();
    } catch (const std::invalid_argument& refusal) {
        EXPECT_NE(std::string(refusal.what()).find("16, limit 15"), std::string::npos);
    }
}
#endif

}  // namespace
}  // namespace sluice
