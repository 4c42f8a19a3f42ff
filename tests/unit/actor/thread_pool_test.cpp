#include "support/crew.hpp"
#include "support/watchdog.hpp"
#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/actor/thread_pool.hpp>
#include <sluice/wait/park.hpp>

#include "support/testing.hpp"

#if defined(__linux__)
#include <pthread.h>
#include <sys/resource.h>
#endif

#include <random>
#include <thread>

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

TEST_P(ThreadPoolTest, ObjectsThatPostToThemselvesOrToEachOtherHoldNobodyUp) {
    make(4);
    ring_[0]->next = ring_[0].get();
    ring_[2]->next = ring_[1].get();
    ASSERT_EQ(ring_[0]->post(Hop{SIZE_MAX}), SendResult::ok);
    ASSERT_EQ(ring_[1]->post(Hop{SIZE_MAX}), SendResult::ok);
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(ring_[3]->request<std::size_t>(Count{}, 1h).get().value(), 0U);
    }
}

TEST_P(ThreadPoolTest, TimersFireWhileTheThreadsSleepAndWhileTheyAreBusy) {
    make(1);
    for (const std::size_t hops : {std::size_t{0}, SIZE_MAX}) {
        ASSERT_EQ(ring_[0]->post(Hop{hops}), SendResult::ok);
        std::atomic<int> beats{0};
        Running<Acting> beating(pool_, [&] { ++beats; });
        const auto start = std::chrono::steady_clock::now();
        ASSERT_TRUE(beating.postEvery(2ms, Act{}));
        awaitThat([&] { return beats >= 5; });
        EXPECT_GE(std::chrono::steady_clock::now() - start, 10ms);
    }
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
    Running<Acting> beating(pool_, [] {});
    EXPECT_TRUE(pool_.waitUntilIdle(late()));
    for (std::uint64_t i = 1; i <= 20; ++i) {
        const auto due = std::chrono::steady_clock::now() + 1ms;
        ASSERT_TRUE(beating.postAt(due, Act{}));
        awaitThat([due] { return std::chrono::steady_clock::now() >= due; });
        EXPECT_TRUE(pool_.waitUntilIdle(late()));
        EXPECT_EQ(beating.statistics().handled, i);
    }
    ASSERT_TRUE(beating.postAfter(1h, Act{}));
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
class Stuck : public Acting {
public:
    Stuck()
        : Acting([this] {
              isInside = true;
              awaitThat([this]() -> bool { return isReleased; });
          }) {}

    /// The first message is being handled at the return.
    void postTwo() {
        ASSERT_EQ(post(Act{}), SendResult::ok);
        awaitThat([this]() -> bool { return isInside; });
        ASSERT_EQ(post(Act{}), SendResult::ok);
    }

    std::atomic<bool> isInside{false};
    std::atomic<bool> isReleased{false};
};

void actOnce(Acting& object) {
    ASSERT_EQ(object.post(Act{}), SendResult::ok);
    EXPECT_TRUE(object.stopAfterDrain(late()));
}

using ThreadPoolHandlerTest = GuardedTest;
TEST_F(ThreadPoolHandlerTest, AHandlerThatDoesNotReturnKeepsOneThreadOnly) {
    ThreadPool pool(2);
    Running<Stuck> stuck(pool);
    ASSERT_NO_FATAL_FAILURE(stuck.postTwo());
    const auto deadline = std::chrono::steady_clock::now() + 5ms;
    EXPECT_FALSE(stuck.stopAfterDrain(deadline));
    EXPECT_GE(std::chrono::steady_clock::now(), deadline);
    EXPECT_FALSE(stuck.hasEnded());
    EXPECT_EQ(stuck.post(Act{}), SendResult::closed);
    Running<Acting> other(pool, [] {});
    actOnce(other);
    stuck.isReleased = true;
    EXPECT_TRUE(stuck.join());
    EXPECT_EQ(stuck.statistics().handled, 1U);
    EXPECT_EQ(stuck.statistics().discarded, 1U);
}

TEST_F(ThreadPoolHandlerTest, ThePoolIsNotIdleWhileAHandlerRuns) {
    ThreadPool pool(2);
    Running<Stuck> stuck(pool);
    ASSERT_NO_FATAL_FAILURE(stuck.postTwo());
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

TEST_F(ThreadPoolHandlerTest, AHandlerWaitsUntilAnotherPoolIsIdle) {
    ThreadPool pool(1);
    ThreadPool other(1);
    Running<Stuck> stuck(other);
    stuck.isReleased = true;
    ASSERT_EQ(stuck.post(Act{}), SendResult::ok);
    bool wasIdle = false;
    Running<Acting> settling(pool, [&] { wasIdle = other.waitUntilIdle(late()); });
    ASSERT_EQ(settling.post(Act{}), SendResult::ok);
    EXPECT_TRUE(pool.waitUntilIdle(late()));
    EXPECT_TRUE(wasIdle);
}

TEST(ThreadPoolDeathTest, AHandlerCannotWaitUntilItsPoolIsIdle) {
    const auto isRefused = [] {
        ThreadPool pool(2);
        bool wasIdle = true;
        Running<Acting> settling(pool, [&] { wasIdle = pool.waitUntilIdle(late()); });
        EXPECT_EQ(settling.post(Act{}), SendResult::ok);
        return pool.waitUntilIdle(late()) && !wasIdle;
    };
#ifdef NDEBUG
    EXPECT_TRUE(isRefused());
#else
    EXPECT_DEATH(isRefused(), "a handler waits until its own pool is idle");
#endif
}

// The thread that would have slept until the next alarm is busy, so another thread does it.
TEST_F(ThreadPoolHandlerTest, TimersFireWhileAHandlerTakesLong) {
    ThreadPool pool(2);
    Running<Stuck> stuck(pool);
    std::atomic<int> beats{0};
    Running<Acting> leaving(
        pool, [&] { EXPECT_TRUE(++beats > 1 || stuck.post(Act{}) == SendResult::ok); });
    ASSERT_TRUE(leaving.postEvery(1ms, Act{}));
    awaitThat([&] { return beats >= 10; });
    stuck.isReleased = true;
}

TEST_F(ThreadPoolHandlerTest, AnObjectWithManyMessagesKeepsItsThreadIfNoOtherObjectWaits) {
    ThreadPool pool(4);
    std::atomic<bool> isOpen{false};
    std::set<std::thread::id> threads;
    Running<Acting> object(pool, [&] {
        awaitThat([&]() -> bool { return isOpen; });
        threads.insert(std::this_thread::get_id());
    });
    std::size_t posted = 0;
    while (object.post(Act{}) == SendResult::ok) {
        ++posted;
    }
    ASSERT_GE(posted, 4 * PooledTraits::batch);
    isOpen = true;
    EXPECT_TRUE(object.stopAfterDrain(late()));
    EXPECT_EQ(threads.size(), 1U);
}

TEST(ThreadPoolDeathTest, IsNotDestroyedBeforeItsObjectsHaveEnded) {
    const auto destroy = [] {
        auto pool = std::make_unique<ThreadPool>(1);
        const Running<Stuck> object(*pool);
        pool.reset();
    };
    EXPECT_DEATH(destroy(), "declare the executor before its objects");
}

TEST_F(ThreadPoolHandlerTest, AHandlerMayWaitForAnObjectThatAnotherThreadRuns) {
    ThreadPool pool(2);
    Running<Member> neighbour(pool);
    int replies = 0;
    Running<Acting> asking(pool, [&] {
        replies += neighbour.request<std::size_t>(Count{}, 1h).get().hasValue() ? 1 : 0;
    });
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(asking.post(Act{}), SendResult::ok);
    }
    EXPECT_TRUE(asking.stopAfterDrain(late()));
    EXPECT_EQ(replies, 100);
}

TEST_F(ThreadPoolHandlerTest, AHandlerMayJoinWhatTheNextTaskOfItsThreadStops) {
    Keeper<> awaited;
    ASSERT_TRUE(awaited.start());
    ThreadPool pool(2);
    Running<Acting> second(pool, [&] { awaited.stop(); });
    Running<Acting> first(pool, [&] {
        ASSERT_EQ(second.post(Act{}), SendResult::ok);
        EXPECT_TRUE(awaited.join());
    });
    actOnce(first);
    EXPECT_TRUE(awaited.join());
}

// Each thread of the pool waits in a handler, so no other thread runs the children.
TEST_F(ThreadPoolHandlerTest, HandlersMayEndOtherObjectsOfTheirPool) {
    for (const std::size_t threads : {1U, 2U}) {
        ThreadPool pool(threads);
        std::atomic<int> handled{0};
        const auto endAChild = [&] {
            bool isDone = false;
            auto child = std::make_unique<Running<Acting>>(pool, [&] { isDone = true; });
            actOnce(*child);
            EXPECT_TRUE(isDone);
            child.reset();
            ++handled;
        };
        std::vector<std::unique_ptr<Running<Acting>>> parents;
        for (int i = 0; i < 50; ++i) {
            parents.push_back(std::make_unique<Running<Acting>>(pool, endAChild));
        }
        for (const auto& parent : parents) {
            EXPECT_EQ(parent->post(Act{}), SendResult::ok);
        }
        for (const auto& parent : parents) {
            EXPECT_TRUE(parent->stopAfterDrain(late()));
        }
        EXPECT_EQ(handled, 50);
    }
}

/// Joins another object in its handler.
class Joining : public Acting {
public:
    explicit Joining(Acting& awaited)
        : Acting([this, &awaited] {
              isInside = true;
              EXPECT_TRUE(awaited.join());
          }) {}

    void begin() {
        ASSERT_EQ(post(Act{}), SendResult::ok);
        awaitThat([this]() -> bool { return isInside; });
    }

private:
    std::atomic<bool> isInside{false};
};

TEST_F(ThreadPoolHandlerTest, AHandlerAwaitsAnEndThatAnotherThreadCauses) {
    ThreadPool pool(1);
    for (int i = 0; i < 20; ++i) {
        Running<Acting> object(pool, [] {});
        Running<Joining> joining(pool, object);
        joining.begin();
        object.stop();
        EXPECT_TRUE(joining.stopAfterDrain(late()));
    }
}

TEST_F(ThreadPoolHandlerTest, AHandlerAwaitsAnEndByATimer) {
    ThreadPool pool(2);
    Running<Acting> first(pool, [&] { first.stop(); });
    Running<Acting> second(pool, [&] { second.stop(); });
    Running<Joining> joining[2] = {Running<Joining>(pool, first), Running<Joining>(pool, second)};
    for (auto& each : joining) {
        each.begin();
    }
    ASSERT_TRUE(first.postAfter(20ms, Act{}));
    ASSERT_TRUE(second.postAfter(20ms, Act{}));
    for (auto& each : joining) {
        EXPECT_TRUE(each.stopAfterDrain(late()));
    }
}

/// Each object posts to the one before, and waits for its end.
void endChain(Executor& executor, std::size_t length) {
    std::vector<std::unique_ptr<Running<Acting>>> links;
    links.push_back(std::make_unique<Running<Acting>>(executor, [] {}));
    while (links.size() < length) {
        links.push_back(std::make_unique<Running<Acting>>(
            executor, [&before = *links.back()] { actOnce(before); }));
    }
    actOnce(*links.back());
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

TEST_F(ThreadPoolHandlerTest, AnIdleThreadTakesTheMessageOfALongHandler) {
    ThreadPool pool(3);
    for (int i = 0; i < 20; ++i) {
        std::atomic<bool> isHandled{false};
        Running<Acting> second(pool, [&] { isHandled = true; });
        Running<Acting> first(pool, [&] {
            EXPECT_EQ(second.post(Act{}), SendResult::ok);
            awaitThat([&]() -> bool { return isHandled; });
        });
        actOnce(first);
    }
}

TEST_F(ThreadPoolHandlerTest, APostDoesNotWaitBehindManyAlarms) {
    constexpr int count = 500;
    std::atomic<int> fired{0};
    std::atomic<bool> isPosted{false};
    std::atomic<int> firedBefore{-1};
    ThreadPool pool(1);
    Running<Acting> unrelated(pool, [&] { firedBefore = fired.load(); });
    std::vector<std::unique_ptr<Running<Acting>>> objects;
    const auto deadline = std::chrono::steady_clock::now() + 200ms;
    for (int i = 0; i < count; ++i) {
        objects.push_back(std::make_unique<Running<Acting>>(pool, [&] {
            if (++fired == 1) {
                awaitThat([&]() -> bool { return isPosted; });
            }
        }));
        ASSERT_TRUE(objects.back()->postAt(deadline, Act{}));
    }
    awaitThat([&] { return fired == 1; });
    ASSERT_EQ(unrelated.post(Act{}), SendResult::ok);
    isPosted = true;
    awaitThat([&] { return fired == count && firedBefore >= 0; });
    EXPECT_LE(firedBefore, 10);
}

#if defined(__linux__)
TEST_F(ThreadPoolHandlerTest, ItsThreadHasTheOptionsOfThePool) {
    ThreadPool pool(2, {}, {"pool of a test"});
    char name[16] = "";
    Running<Acting> object(pool,
                           [&] { (void)pthread_getname_np(pthread_self(), name, sizeof name); });
    actOnce(object);
    EXPECT_STREQ(name, "pool of a test");
}

// ---- The threads that a message wakes

class Answering : public Acting {
public:
    Answering()
        : Acting([this] {
              ++handled;
              isHandled.notifyAll();
          }) {}
    void awaitHandled(int count) {
        isHandled.wait([&] { return handled >= count; });
    }

private:
    std::atomic<int> handled{0};
    Park isHandled;
};

class ThreadPoolWakeTest : public GuardedTest {
protected:
    static constexpr std::size_t threads = 16;
    static constexpr int messages = 300;

    /// The voluntary switches of the program since the last call.
    long switches() {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return usage.ru_nvcsw - std::exchange(before_, usage.ru_nvcsw);
    }

    ThreadPool pool_{threads};

private:
    long before_ = 0;
};

// The thread that posts sleeps once for each message, and so does the thread that handles it.
TEST_F(ThreadPoolWakeTest, AMessageWakesOneThread) {
    Running<Answering> object(pool_);
    (void)switches();
    for (int i = 1; i <= messages; ++i) {
        ASSERT_EQ(object.post(Act{}), SendResult::ok);
        object.awaitHandled(i);
        std::this_thread::yield();
    }
    EXPECT_LT(switches(), 6L * messages + 10L * long{threads});
}

// The timekeeper wakes, and sleeps again after the handler. Another thread may be called meanwhile.
TEST_F(ThreadPoolWakeTest, ATimerWakesOneThread) {
    std::atomic<int> handled{0};
    Park isDone;
    Running<Acting> object(pool_, [&] {
        if (++handled == messages) {
            isDone.notifyAll();
        }
    });
    (void)switches();
    ASSERT_TRUE(object.postEvery(1ms, Act{}));
    isDone.wait([&] { return handled >= messages; });
    EXPECT_LT(switches(), 4L * messages + 10L * long{threads});
}

TEST_F(ThreadPoolWakeTest, ATaskWakesTheHandlerThatAwaitsIt) {
    std::vector<std::unique_ptr<Running<Answering>>> awaited;
    std::vector<std::unique_ptr<Running<Joining>>> joining;
    for (std::size_t i = 0; i < threads; ++i) {
        awaited.push_back(std::make_unique<Running<Answering>>(pool_));
        joining.push_back(std::make_unique<Running<Joining>>(pool_, *awaited[i]));
        joining[i]->begin();
    }
    (void)switches();
    for (int i = 1; i <= messages; ++i) {
        ASSERT_EQ(awaited[0]->post(Act{}), SendResult::ok);
        awaited[0]->awaitHandled(i);
    }
    EXPECT_LT(switches(), 6L * messages + 10L * long{threads});
    for (const auto& each : awaited) {
        each->stop();
    }
}
#endif

#if defined(__cpp_exceptions)
TEST_F(ThreadPoolHandlerTest, ThePoolIsIdleAfterAFailure) {
    ThreadPool pool(2);
    Running<Acting> failing(pool, [] { throw std::runtime_error("a test"); });
    ASSERT_EQ(failing.post(Act{}), SendResult::ok);
    EXPECT_TRUE(pool.waitUntilIdle(late()));
    EXPECT_EQ(failing.statistics().failed, 1U);
}

TEST(ThreadPoolRefusalTest, NeedsAThread) {
    EXPECT_THROW(ThreadPool(0), std::invalid_argument);
}
#endif

}  // namespace pools
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
