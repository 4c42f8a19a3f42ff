#include "support/crew.hpp"
#include "support/watchdog.hpp"
#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/actor/thread_pool.hpp>
#include <sluice/wait/park.hpp>

#include <gtest/gtest.h>

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace sluice {
namespace {

using namespace test;

/// Hops on to `next` until none are left.
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
            const SendResult result = next->post(Hop{hop.left - 1});
            EXPECT_TRUE(result == SendResult::ok || result == SendResult::closed);
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

namespace pools {

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
    test::awaitThat([&]() -> bool { return isDone_; });
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
    test::awaitThat([&]() -> bool { return isDone_; });
    EXPECT_GE(std::chrono::steady_clock::now() - start, 10ms);
}

TEST_P(ThreadPoolTest, TimersFireWhileObjectsAreBusy) {
    make(2);
    ASSERT_EQ(ring_[0]->post(Hop{SIZE_MAX}), SendResult::ok);
    Running<Beating> beating(pool_);
    beating.isDone = &isDone_;
    ASSERT_TRUE(beating.postEvery(1ms, Beat{}));
    test::awaitThat([&]() -> bool { return isDone_; });
}

TEST_P(ThreadPoolTest, IsIdleWhenTheMessagesThatHandlersPostAreHandled) {
    make(10);
    for (int i = 0; i < 20; ++i) {
        isDone_ = false;
        ASSERT_EQ(ring_[0]->post(Hop{99}), SendResult::ok);
        EXPECT_TRUE(pool_.waitUntilIdle(late()));
        EXPECT_TRUE(isDone_);
    }
}

TEST_P(ThreadPoolTest, IsNotIdleBeforeADueTimerHasFired) {
    Running<Beating> beating(pool_);
    beating.isDone = &isDone_;
    EXPECT_TRUE(pool_.waitUntilIdle(late()));
    for (std::uint64_t i = 1; i <= 20; ++i) {
        const auto due = std::chrono::steady_clock::now() + 1ms;
        ASSERT_TRUE(beating.postAt(due, Beat{}));
        awaitThat([due] { return std::chrono::steady_clock::now() >= due; });
        EXPECT_TRUE(pool_.waitUntilIdle(late()));
        EXPECT_EQ(beating.statistics().handled, i);
    }
    ASSERT_TRUE(beating.postAfter(1h, Beat{}));
    EXPECT_TRUE(pool_.waitUntilIdle(late())) << "a timer that is not due";
}

// Each thread has posted before it waits, so its message has been handled afterwards.
TEST_P(ThreadPoolTest, ThreadsAwaitTheirMessages) {
    make(2);
    Crew crew;
    for (const auto& member : ring_) {
        crew.add([&] {
            for (std::uint64_t i = 1; i <= 500; ++i) {
                ASSERT_EQ(member->post(Hop{0}), SendResult::ok);
                ASSERT_TRUE(pool_.waitUntilIdle(late()));
                ASSERT_EQ(member->statistics().handled, i);
            }
        });
    }
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, testing::Values(1U, 2U, 4U));

/// Waits in its handler until the test lets it go.
class Stuck : public PooledObject<Stuck, Messages<Beat>> {
public:
    void handle(const Beat& /*beat*/) {
        isInside = true;
        test::awaitThat([&]() -> bool { return isReleased; });
    }
    std::atomic<bool> isInside{false};
    std::atomic<bool> isReleased{false};
};

/// The first message is being handled at the return.
void postTwo(Stuck& stuck) {
    ASSERT_EQ(stuck.post(Beat{}), SendResult::ok);
    test::awaitThat([&]() -> bool { return stuck.isInside; });
    ASSERT_EQ(stuck.post(Beat{}), SendResult::ok);
}

TEST(ThreadPoolTest, AHandlerThatDoesNotReturnKeepsOneThreadOnly) {
    const Watchdog watchdog([](std::FILE*) {});
    ThreadPool pool(2);
    Running<Stuck> stuck(pool);
    ASSERT_NO_FATAL_FAILURE(postTwo(stuck));
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

TEST(ThreadPoolTest, IsNotIdleWhileAHandlerRuns) {
    const Watchdog watchdog([](std::FILE*) {});
    ThreadPool pool(2);
    Running<Stuck> stuck(pool);
    ASSERT_NO_FATAL_FAILURE(postTwo(stuck));
    const auto deadline = std::chrono::steady_clock::now() + 5ms;
    EXPECT_FALSE(pool.waitUntilIdle(deadline));
    EXPECT_GE(std::chrono::steady_clock::now(), deadline);
    EXPECT_FALSE(pool.waitUntilIdle({}));
    std::atomic<int> left{4};
    Crew crew;
    for (int i = 0; i < 4; ++i) {
        crew.add([&] {
            if (--left == 0) {
                stuck.stop();  // discards the second message
                stuck.isReleased = true;
            }
            EXPECT_TRUE(pool.waitUntilIdle(late()));
            EXPECT_EQ(stuck.statistics().discarded, 1U);
        });
    }
}

/// Waits in its handler until a pool is idle.
class Settling : public PooledObject<Settling, Messages<Beat>> {
public:
    explicit Settling(ThreadPool& pool) : pool_(pool) {}
    void handle(const Beat& /*beat*/) { wasIdle = pool_.waitUntilIdle(late()); }
    std::atomic<bool> wasIdle{false};

private:
    ThreadPool& pool_;
};

TEST(ThreadPoolTest, AHandlerWaitsUntilAnotherPoolIsIdle) {
    const Watchdog watchdog([](std::FILE*) {});
    ThreadPool pool(1);
    ThreadPool other(1);
    Running<Stuck> stuck(other);
    stuck.isReleased = true;
    ASSERT_EQ(stuck.post(Beat{}), SendResult::ok);
    Running<Settling> settling(pool, other);
    ASSERT_EQ(settling.post(Beat{}), SendResult::ok);
    EXPECT_TRUE(pool.waitUntilIdle(late()));
    EXPECT_TRUE(settling.wasIdle);
}

TEST(ThreadPoolDeathTest, AHandlerCannotWaitUntilItsPoolIsIdle) {
    const auto isRefused = [] {
        ThreadPool pool(2);
        Running<Settling> settling(pool, pool);
        settling.wasIdle = true;
        EXPECT_EQ(settling.post(Beat{}), SendResult::ok);
        return pool.waitUntilIdle(late()) && !settling.wasIdle;
    };
#ifdef NDEBUG
    EXPECT_TRUE(isRefused());
#else
    EXPECT_DEATH(isRefused(), "a handler waits until its own pool is idle");
#endif
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
    test::awaitThat([&] { return leaving.beats >= 10; });
    stuck.isReleased = true;
}

/// Holds its thread until the test opens the gate. Notes the threads that call it.
class Wandering : public PooledObject<Wandering, Messages<Beat>> {
public:
    void handle(const Beat& /*beat*/) {
        test::awaitThat([&]() -> bool { return isOpen; });
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
class Failing : public PooledObject<Failing, Messages<Beat>> {
public:
    void handle(const Beat& /*beat*/) { throw std::runtime_error("a test"); }
};

TEST(ThreadPoolTest, IsIdleAfterAFailure) {
    ThreadPool pool(2);
    Running<Failing> failing(pool);
    ASSERT_EQ(failing.post(Beat{}), SendResult::ok);
    EXPECT_TRUE(pool.waitUntilIdle(late()));
    EXPECT_EQ(failing.statistics().failed, 1U);
}

TEST(ThreadPoolTest, NeedsAThread) {
    EXPECT_THROW(ThreadPool(0), std::invalid_argument);
}

#endif

}  // namespace pools

namespace waits {

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

using ThreadPoolWaitTest = test::GuardedTest;
TEST_F(ThreadPoolWaitTest, AHandlerMayWaitForAnObjectThatAnotherThreadRuns) {
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
TEST_F(ThreadPoolWaitTest, HandlersMayEndOtherObjectsOfTheirPool) {
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

template <class Awaited>
class Joining : public PooledObject<Joining<Awaited>, Messages<Beat>> {
public:
    explicit Joining(Awaited& awaited) : awaited_(awaited) {}
    void handle(const Beat& /*beat*/) {
        isInside = true;
        EXPECT_TRUE(awaited_.join());
    }
    std::atomic<bool> isInside{false};

private:
    Awaited& awaited_;
};

TEST_F(ThreadPoolWaitTest, AHandlerAwaitsAnEndThatAnotherThreadCauses) {
    ThreadPool pool(1);
    for (int i = 0; i < 20; ++i) {
        Running<Member> member(pool);
        Running<Joining<Member>> joining(pool, member);
        ASSERT_EQ(joining.post(Beat{}), SendResult::ok);
        test::awaitThat([&]() -> bool { return joining.isInside; });
        member.stop();
        EXPECT_TRUE(joining.stopAfterDrain(late()));
    }
}

struct EndsItself : PooledTraits {
    static constexpr std::size_t maxTimers = 1;
};
class Ending : public PooledObject<Ending, Messages<Beat>, EndsItself> {
public:
    void handle(const Beat& /*beat*/) { stop(); }
};

TEST_F(ThreadPoolWaitTest, AHandlerAwaitsAnEndByATimer) {
    ThreadPool pool(2);
    Running<Ending> ending[2] = {Running<Ending>(pool), Running<Ending>(pool)};
    Running<Joining<Ending>> joining[2] = {Running<Joining<Ending>>(pool, ending[0]),
                                           Running<Joining<Ending>>(pool, ending[1])};
    for (auto& each : joining) {
        ASSERT_EQ(each.post(Beat{}), SendResult::ok);
        awaitThat([&]() -> bool { return each.isInside; });
    }
    for (auto& each : ending) {
        ASSERT_TRUE(each.postAfter(20ms, Beat{}));
    }
    for (auto& each : joining) {
        EXPECT_TRUE(each.stopAfterDrain(late()));
    }
}

/// Waits for the object after it.
class Link : public PooledObject<Link, Messages<Beat>> {
public:
    void handle(const Beat& /*beat*/) {
        if (next != nullptr) {
            EXPECT_EQ(next->post(Beat{}), SendResult::ok);
            EXPECT_TRUE(next->stopAfterDrain(late()));
        }
    }
    Link* next = nullptr;
};

void endChain(Executor& executor, std::size_t length) {
    std::vector<std::unique_ptr<Running<Link>>> links;
    for (std::size_t i = 0; i < length; ++i) {
        links.push_back(std::make_unique<Running<Link>>(executor));
        if (i != 0) {
            links[i]->next = links[i - 1].get();
        }
    }
    EXPECT_EQ(links.back()->post(Beat{}), SendResult::ok);
    EXPECT_TRUE(links.back()->stopAfterDrain(late()));
}

TEST(ThreadPoolWaitDeathTest, NestedWaitsHaveALimit) {
    ManualExecutor executor;
    endChain(executor, 100);
    EXPECT_DEATH(endChain(executor, 2000), "1,000 handlers of one thread wait");
    const auto onAPool = [] {
        ThreadPool pool(1);
        endChain(pool, 2000);
    };
    EXPECT_DEATH(onAPool(), "1,000 handlers of one thread wait");
}

/// Posts and then waits until the other object has handled the message.
class Long : public PooledObject<Long, Messages<Beat>> {
public:
    explicit Long(Long* other = nullptr) : other_(other) {}
    void handle(const Beat& /*beat*/) {
        isHandled = true;
        if (other_ != nullptr) {
            EXPECT_EQ(other_->post(Beat{}), SendResult::ok);
            awaitThat([&]() -> bool { return other_->isHandled; });
        }
    }
    std::atomic<bool> isHandled{false};

private:
    Long* other_;
};

TEST(ThreadPoolTest, AnIdleThreadTakesTheMessageOfALongHandler) {
    const Watchdog watchdog([](std::FILE*) {});
    ThreadPool pool(3);
    for (int i = 0; i < 20; ++i) {
        Running<Long> second(pool);
        Running<Long> first(pool, &second);
        ASSERT_EQ(first.post(Beat{}), SendResult::ok);
        EXPECT_TRUE(first.stopAfterDrain(late()));
    }
}

/// At its timer: counts, and the first one lets the test post to another object.
struct Due {
    std::atomic<int> fired{0};
    std::atomic<bool> isPosted{false};
};
class Aligned : public PooledObject<Aligned, Messages<Beat>, EndsItself> {
public:
    explicit Aligned(Due& due) : due_(due) {}
    void handle(const Beat& /*beat*/) {
        if (++due_.fired == 1) {
            awaitThat([&]() -> bool { return due_.isPosted; });
        }
    }

private:
    Due& due_;
};
class Unrelated : public PooledObject<Unrelated, Messages<Beat>> {
public:
    explicit Unrelated(Due& due) : due_(due) {}
    void handle(const Beat& /*beat*/) { firedBefore = due_.fired.load(); }
    std::atomic<int> firedBefore{-1};

private:
    Due& due_;
};

TEST(ThreadPoolTest, APostDoesNotWaitBehindManyAlarms) {
    const Watchdog watchdog([](std::FILE*) {});
    constexpr int count = 500;
    Due due;
    ThreadPool pool(1);
    Running<Unrelated> unrelated(pool, due);
    std::vector<std::unique_ptr<Running<Aligned>>> objects;
    const auto deadline = std::chrono::steady_clock::now() + 50ms;
    for (int i = 0; i < count; ++i) {
        objects.push_back(std::make_unique<Running<Aligned>>(pool, due));
        ASSERT_TRUE(objects.back()->postAt(deadline, Beat{}));
    }
    awaitThat([&]() -> bool { return due.fired == 1; });
    ASSERT_EQ(unrelated.post(Beat{}), SendResult::ok);
    due.isPosted = true;
    awaitThat([&]() -> bool { return due.fired == count && unrelated.firedBefore >= 0; });
    EXPECT_LE(unrelated.firedBefore, 10);
}

#if defined(__linux__)
TEST_F(ThreadPoolWaitTest, ATaskWakesTheHandlerThatAwaitsIt) {
    constexpr std::size_t threads = 16;
    constexpr int messages = 300;
    ThreadPool pool(threads);
    std::vector<std::unique_ptr<Running<pools::Answering>>> awaited;
    std::vector<std::unique_ptr<Running<Joining<pools::Answering>>>> joining;
    for (std::size_t i = 0; i < threads; ++i) {
        awaited.push_back(std::make_unique<Running<pools::Answering>>(pool));
        joining.push_back(std::make_unique<Running<Joining<pools::Answering>>>(pool, *awaited[i]));
        ASSERT_EQ(joining[i]->post(Beat{}), SendResult::ok);
        awaitThat([&]() -> bool { return joining[i]->isInside; });
    }
    const long before = pools::voluntarySwitches();
    for (int i = 1; i <= messages; ++i) {
        ASSERT_EQ(awaited[0]->post(pools::Ping{}), SendResult::ok);
        awaited[0]->isHandled.wait([&] { return awaited[0]->handled == i; });
    }
    EXPECT_LT(pools::voluntarySwitches() - before, 6L * messages + 10L * long{threads});
    for (const auto& each : awaited) {
        each->stop();
    }
}
#endif

}  // namespace waits
}  // namespace
}  // namespace sluice

namespace sluice::detail {
namespace {

class Task : public ExecutorTask {
public:
    Task() : ExecutorTask([](ExecutorTask& /*task*/) {}) {}
};

TEST(TaskQueueTest, AgreesWithADequeWhateverIsAppendedAndRemoved) {
    std::array<Task, 6> tasks;
    std::mt19937 random(1);
    TaskQueue queue;
    std::deque<ExecutorTask*> expected;
    for (int i = 0; i < 20000; ++i) {
        Task& task = tasks[random() % tasks.size()];
        const auto place = std::find(expected.begin(), expected.end(), &task);
        ASSERT_EQ(queue.contains(task), place != expected.end());
        if (random() % 4 == 0) {
            ASSERT_EQ(queue.pop(), expected.empty() ? nullptr : expected.front());
            if (!expected.empty()) {
                expected.pop_front();
            }
        } else if (place != expected.end()) {
            queue.remove(task);
            expected.erase(place);
        } else {
            queue.append(task);
            expected.push_back(&task);
        }
        ASSERT_EQ(queue.isEmpty(), expected.empty());
        ASSERT_EQ(queue.hasSeveral(), expected.size() > 1);
    }
}

}  // namespace
}  // namespace sluice::detail
