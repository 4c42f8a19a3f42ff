#include "support/crew.hpp"
#include "support/sanitizers.hpp"
#include "support/watchdog.hpp"
#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/active_event_queue.hpp>
#include <sluice/actor/active_object.hpp>
#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/actor/thread_options.hpp>
#include <sluice/actor/thread_pool.hpp>

#include "support/testing.hpp"

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#endif

#include <fstream>
#include <thread>

namespace sluice {
namespace {
namespace startAndStop {

using namespace test;
using Log = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

using ActorLifecycleTest = test::GuardedTest;
TEST_F(ActorLifecycleTest, StopDiscardsWhatIsQueuedAndCountsIt) {
    Keeper<> keeper;
    ASSERT_TRUE(keeper.start());
    ASSERT_EQ(keeper.post(Hold{}), SendResult::ok);
    keeper.awaitHeld();
    // Also the message of high priority, which the running harvest would serve next.
    ASSERT_EQ(keeper.post(Add{1}, Priority::high), SendResult::ok);
    ASSERT_EQ(keeper.post(Add{2}), SendResult::ok);
    keeper.stop();
    EXPECT_TRUE(keeper.isClosed());
    EXPECT_EQ(keeper.post(Add{3}), SendResult::closed);
    keeper.open();
    EXPECT_TRUE(keeper.join());
    const auto total = keeper.statistics().total();
    EXPECT_EQ(keeper.log, Log{});
    EXPECT_EQ(total.delivered, 1U);
    EXPECT_EQ(total.discarded, 2U);
    EXPECT_EQ(total.closed, 1U);
    EXPECT_EQ(total.queued(), 0U);
}

TEST_F(ActorLifecycleTest, EachCallMayBeRepeated) {
    Keeper<> keeper;
    EXPECT_TRUE(keeper.join());  // it has no thread
    EXPECT_TRUE(keeper.start());
    EXPECT_FALSE(keeper.start());
    EXPECT_TRUE(keeper.stopAfterDrain(late()));
    EXPECT_TRUE(keeper.stopAfterDrain(Clock::time_point::min()));
    EXPECT_TRUE(keeper.join());
    EXPECT_TRUE(keeper.join());
    keeper.stop();
    keeper.stop();
    EXPECT_FALSE(keeper.start());
}

TEST_F(ActorLifecycleTest, StopOfAnObjectThatNeverStartedDiscards) {
    Keeper<> keeper;
    ASSERT_EQ(keeper.post(Add{1}), SendResult::ok);
    keeper.stop();
    EXPECT_EQ(keeper.statistics().total().discarded, 1U);
    EXPECT_FALSE(keeper.start());
    EXPECT_TRUE(keeper.join());
}

TEST_F(ActorLifecycleTest, DrainOfAnObjectThatNeverStartedDiscardsAndSaysSo) {
    Keeper<> keeper;
    ASSERT_EQ(keeper.post(Add{1}), SendResult::ok);
    EXPECT_FALSE(keeper.stopAfterDrain(late()));
    EXPECT_EQ(keeper.statistics().total().discarded, 1U);
}

TEST_F(ActorLifecycleTest, DrainThatIsTooLateDiscardsTheRest) {
    Keeper<> keeper;
    ASSERT_TRUE(keeper.start());
    ASSERT_EQ(keeper.post(Hold{}), SendResult::ok);
    keeper.awaitHeld();
    ASSERT_EQ(keeper.post(Add{1}), SendResult::ok);
    EXPECT_FALSE(keeper.stopAfterDrain(Clock::now() + std::chrono::milliseconds(1)));
    EXPECT_FALSE(keeper.stopAfterDrain(Clock::time_point::min()));
    keeper.open();
    EXPECT_TRUE(keeper.join());
    EXPECT_EQ(keeper.statistics().total().discarded, 1U);
}

enum class Way { stop, drain };

/// Stops itself in its handler.
class Quitter : public ActiveObject<Quitter, Messages<Way, int>> {
public:
    void handle(const Way& way) {
        wasHere = isHere();
        if (way == Way::stop) {
            stop();
        } else {
            wasDrained = stopAfterDrain(late());
        }
        hasJoined = join();
        hasStarted = start();
        result = post(5);
    }
    void handle(const int&) { ++handled; }

    bool wasHere = false;
    bool wasDrained = true;
    bool hasJoined = true;
    bool hasStarted = true;
    SendResult result = SendResult::ok;
    int handled = 0;
};

TEST_F(ActorLifecycleTest, HandlerMayStopItsObject) {
    for (const Way way : {Way::stop, Way::drain}) {
        Quitter quitter;
        ASSERT_EQ(quitter.post(way), SendResult::ok);
        ASSERT_EQ(quitter.post(1), SendResult::ok);
        ASSERT_TRUE(quitter.start());
        EXPECT_TRUE(quitter.join());
        EXPECT_TRUE(quitter.wasHere);
        EXPECT_FALSE(quitter.hasJoined);
        EXPECT_FALSE(quitter.hasStarted);
        EXPECT_EQ(quitter.result, SendResult::closed);
        EXPECT_EQ(quitter.handled, way == Way::stop ? 0 : 1);
        EXPECT_FALSE(way == Way::drain && quitter.wasDrained);
        EXPECT_EQ(quitter.statistics().total().discarded, way == Way::stop ? 1U : 0U);
    }
}

TEST_F(ActorLifecycleTest, SeveralThreadsMayStopAndJoinAtOnce) {
    for (int round = 0; round < 50; ++round) {
        Keeper<Holds<64>> keeper;
        std::atomic<int> starts{0};
        {
            Crew crew;
            for (int i = 0; i < 2; ++i) {
                crew.add([&] {
                    starts += keeper.start() ? 1 : 0;
                    (void)keeper.post(Add{1});
                    (void)keeper.stopAfterDrain(late());
                    EXPECT_TRUE(keeper.join());
                });
                crew.add([&] {
                    (void)keeper.post(Add{1});
                    keeper.stop();
                    EXPECT_TRUE(keeper.join());
                });
            }
        }
        const auto total = keeper.statistics().total();
        EXPECT_LE(starts, 1);
        EXPECT_EQ(total.queued(), 0U);
        EXPECT_EQ(total.attempted(), 4U);
        EXPECT_EQ(total.delivered, keeper.log.size());
    }
}

#if defined(GTEST_HAS_DEATH_TEST) && !SLUICE_TEST_TSAN
TEST(ActorLifecycleDeathTest, DestructionBeforeJoinEndsTheProgramWithAdvice) {
    EXPECT_DEATH(
        {
            Keeper<> keeper;
            (void)keeper.start();
            keeper.stop();
        },
        "call stop\\(\\) and join\\(\\) before");
}
#endif

}  // namespace startAndStop

namespace runningObjects {

using namespace test;

class Adder : public ActiveObject<Adder, Messages<int>> {
public:
    Adder(std::string prefix, std::atomic<int>& sum) : prefix_(std::move(prefix)), sum_(sum) {}
    void handle(const int& value) { sum_ += value + static_cast<int>(prefix_.size()); }

private:
    std::string prefix_;  // gone before the base: the thread must have ended by then
    std::atomic<int>& sum_;
};

using RunningTest = test::GuardedTest;
TEST_F(RunningTest, StartsWhenCompleteAndJoinsBeforeAnythingGoes) {
    std::atomic<int> sum{0};
    {
        Running<Adder> adder({"adder"}, "12345", sum);
        ASSERT_EQ(adder.post(10), SendResult::ok);
        test::awaitThat([&] { return sum != 0; });
        (void)adder.post(10);
    }
    const int atEnd = sum;
    EXPECT_TRUE(atEnd == 15 || atEnd == 30);
}

#if defined(__cpp_exceptions) && defined(__linux__)
TEST_F(RunningTest, RefusedThreadLeavesNothing) {
    std::atomic<int> sum{0};
    EXPECT_THROW(Running<Adder>({"a name of sixteen or more letters"}, "", sum),
                 std::invalid_argument);
}
#endif

#if defined(GTEST_HAS_DEATH_TEST) && !SLUICE_TEST_TSAN
/// Destroys itself in its handler.
template <template <class, class, class> class Base, class Traits>
class Suicidal : public Base<Suicidal<Base, Traits>, Messages<int>, Traits> {
public:
    void handle(const int& /*number*/) { self.reset(); }
    std::unique_ptr<Running<Suicidal>> self;
};

template <class Object, class... Args>
void destroyInAHandler(Args&&... args) {
    auto object = std::make_unique<Running<Object>>(std::forward<Args>(args)...);
    Object& living = *object;
    living.self = std::move(object);
    (void)living.post(1);
    (void)living.join();
}

TEST(RunningDeathTest, DestructionInAnOwnHandlerEndsTheProgramWithAdvice) {
    const char* const advice = "let another thread destroy it";
    EXPECT_DEATH((destroyInAHandler<Suicidal<ActiveObject, ActorTraits>>()), advice);
    const auto onAPool = [] {
        ThreadPool pool(1);
        destroyInAHandler<Suicidal<PooledObject, PooledTraits>>(pool);
    };
    EXPECT_DEATH(onAPool(), advice);
}
#endif

}  // namespace runningObjects

namespace ends {

struct ChildEnded {
    int number;
};

class Parent : public PooledObject<Parent, Messages<ChildEnded>> {
public:
    void handle(const ChildEnded& child) { ended.push_back(child.number); }
    std::vector<int> ended;
};

class Child : public PooledObject<Child, Messages<int>> {
public:
    Child(Parent& parent, int number) : parent_(parent), number_(number) {}
    void handle(const int& value) {
        if (value == 0) {
            stop();
        }
        ++handled;
    }
    void ended() noexcept {
        EXPECT_TRUE(isHere());
        EXPECT_FALSE(hasEnded());
        EXPECT_EQ(post(1), SendResult::closed);
        (void)parent_.post(ChildEnded{number_});
    }
    int handled = 0;

private:
    Parent& parent_;
    const int number_;
};

using EndedTest = test::GuardedTest;
TEST_F(EndedTest, TheParentIsToldAfterTheLastMessage) {
    ManualExecutor executor;
    Running<Parent> parent(executor);
    Running<Child> first(executor, parent, 1);
    Running<Child> second(executor, parent, 2);
    (void)first.post(5);
    (void)first.post(0);
    (void)first.post(6);
    (void)second.post(5);
    (void)executor.runAll();
    EXPECT_TRUE(first.hasEnded());
    EXPECT_EQ(first.handled, 2);
    EXPECT_EQ(parent.ended, (std::vector<int>{1}));
    second.stop();
    (void)executor.runAll();
    EXPECT_EQ(parent.ended, (std::vector<int>{1, 2}));
}

TEST_F(EndedTest, WhoJoinsComesAfterIt) {
    ThreadPool pool(2);
    for (int round = 0; round < 200; ++round) {
        auto parent = std::make_unique<Running<Parent>>(pool);
        auto child = std::make_unique<Running<Child>>(pool, *parent, round);
        (void)child->post(1);
        (void)child->post(0);
        EXPECT_TRUE(child->join());
        child.reset();
        EXPECT_TRUE(parent->stopAfterDrain(StdPlatform::Clock::time_point::max()));
        EXPECT_EQ(parent->ended, (std::vector<int>{round}));
    }
}

class Alone : public ActiveObject<Alone, Messages<int>> {
public:
    explicit Alone(std::string& told) : told_(told) {}
    void handle(const int& value) { told_ += std::to_string(value); }
    void ended() noexcept {
        EXPECT_TRUE(isHere());
        told_ += "!";
    }

private:
    std::string& told_;
};

TEST_F(EndedTest, AnObjectWithAThreadTells) {
    std::string told;
    {
        Running<Alone> object(ThreadOptions{}, told);
        (void)object.post(1);
        (void)object.post(2);
        EXPECT_TRUE(object.stopAfterDrain(StdPlatform::Clock::time_point::max()));
        EXPECT_TRUE(object.join());
        EXPECT_EQ(told, "12!");
    }
    EXPECT_EQ(told, "12!");
}

}  // namespace ends
}  // namespace
}  // namespace sluice

#if defined(__linux__)
namespace sluice {
namespace {
namespace threads {

using namespace test;

/// Asks the system about its thread.
class Witness : public ActiveObject<Witness, Messages<int>> {
public:
    void handle(const int&) {
        char text[16] = "";
        (void)pthread_getname_np(pthread_self(), text, sizeof text);
        name = text;
        CPU_ZERO(&processors);
        (void)pthread_getaffinity_np(pthread_self(), sizeof processors, &processors);
        sched_param parameters{};
        (void)pthread_getschedparam(pthread_self(), &policy, &parameters);
        priority = parameters.sched_priority;
    }
    void run(const ThreadOptions& options) {
        ASSERT_EQ(post(1), SendResult::ok);
        ASSERT_TRUE(start(options));
        EXPECT_TRUE(stopAfterDrain(late()));
        EXPECT_TRUE(join());
    }

    std::string name;
    cpu_set_t processors{};
    int policy = -1;
    int priority = -1;
};

unsigned usableProcessor() {
    cpu_set_t processors;
    CPU_ZERO(&processors);
    (void)pthread_getaffinity_np(pthread_self(), sizeof processors, &processors);
    unsigned last = 0;
    for (unsigned i = 0; i < CPU_SETSIZE; ++i) {
        last = CPU_ISSET(i, &processors) ? i : last;
    }
    return last;
}

using ThreadOptionsTest = test::GuardedTest;
TEST_F(ThreadOptionsTest, NameProcessorAndPolicyReachTheThread) {
    Witness witness;
    ThreadOptions options;
    options.name = "fifteen letters";
    options.processor = usableProcessor();
    options.policy = SchedulingPolicy::other;
    witness.run(options);
    EXPECT_EQ(witness.name, "fifteen letters");
    EXPECT_EQ(CPU_COUNT(&witness.processors), 1);
    EXPECT_TRUE(CPU_ISSET(*options.processor, &witness.processors));
    EXPECT_EQ(witness.policy, SCHED_OTHER);
}

#if defined(__cpp_exceptions)
std::string refusalOf(Witness& witness, const ThreadOptions& options) {
    try {
        (void)witness.start(options);
    } catch (const std::invalid_argument& refusal) {
        return refusal.what();
    }
    return "";
}

void expectRefused(const ThreadOptions& options, const std::string& text) {
    Witness witness;
    EXPECT_EQ(refusalOf(witness, options).substr(0, text.size()), text);
    EXPECT_TRUE(witness.join());  // there is no thread
    witness.run({});              // and it may be started with other options
    EXPECT_EQ(witness.statistics().total().delivered, 1U);
}

TEST_F(ThreadOptionsTest, RefusalNamesTheValueAndTheLimitAndLeavesNothing) {
    expectRefused({"sixteen letters!"}, "length of the name of an object's thread: 16, limit 15");
    expectRefused({"", CPU_SETSIZE}, "processor of an object's thread: 1024, limit ");
    expectRefused({"", CPU_SETSIZE - 1},
                  "processor of an object's thread, not usable by this program: 1023, limit ");
    expectRefused({"", {}, SchedulingPolicy::fifo, 100},
                  "priority of an object's thread: 100, limit 99");
    expectRefused({"", {}, SchedulingPolicy::roundRobin, 0},
                  "priority of an object's thread, below the limit: 0, limit 1");
}

#if defined(GTEST_HAS_DEATH_TEST) && !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN &&                     \
    !defined(SLUICE_TEST_EMULATED)  // an emulator cannot start the program again
/// In a process that has no memory for the stack of a thread.
[[noreturn]] void exitRefused() {
    Witness witness;
    rlimit limit{};
    limit.rlim_cur = limit.rlim_max = 1;
    (void)setrlimit(RLIMIT_AS, &limit);
    const std::string refusal = refusalOf(witness, {});
    bool isNamed = refusal.find("one more thread, refused by the system") == 0;
    try {
        const ThreadPool pool(1);
        isNamed = false;
    } catch (const std::bad_alloc&) {  // no memory for the messages, either
    } catch (const std::invalid_argument& error) {
        isNamed = isNamed && std::string(error.what()).find("one more thread") == 0;
    }
    std::_Exit(isNamed && witness.join() ? 0 : 1);
}

TEST(ThreadOptionsDeathTest, ARefusalByTheSystemNamesItsError) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(exitRefused(), testing::ExitedWithCode(0), "");
}

/// A figure of this process: see proc_pid_status(5).
unsigned long statusFigure(const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.compare(0, name.size(), name) == 0) {
            return std::stoul(line.substr(name.size()));
        }
    }
    return 0;
}

/// In a process that has memory for the stacks of a few threads.
[[noreturn]] void exitWithoutThreads() {
    rlimit limit{};
    limit.rlim_cur = statusFigure("VmSize:") * 1024 + (rlim_t{128} << 20U);
    limit.rlim_max = RLIM_INFINITY;
    (void)setrlimit(RLIMIT_AS, &limit);
    ExecutorOptions options;
    options.maxMessages = 16;
    bool isRefused = false;
    try {
        const ThreadPool pool(1000, options);
    } catch (const std::invalid_argument& error) {
        isRefused = std::string(error.what()).find("one more thread") == 0;
    }
    const bool hasOneThread = statusFigure("Threads:") == 1;
    const ThreadPool pool(1, options);
    std::_Exit(isRefused && hasOneThread ? 0 : 1);
}

TEST(ThreadOptionsDeathTest, APoolWhoseLastThreadIsRefusedLeavesNone) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(exitWithoutThreads(), testing::ExitedWithCode(0), "");
}
#endif

TEST_F(ThreadOptionsTest, RealTimePolicyIsObtainedOrRefusedByName) {
    const ThreadOptions options{"", {}, SchedulingPolicy::fifo, 1};
    Witness witness;
    const std::string refusal = refusalOf(witness, options);
    if (refusal.empty()) {
        ASSERT_EQ(witness.post(1), SendResult::ok);
        EXPECT_TRUE(witness.stopAfterDrain(late()));
        EXPECT_TRUE(witness.join());
        EXPECT_EQ(witness.policy, SCHED_FIFO);
        EXPECT_EQ(witness.priority, 1);
    } else {
        EXPECT_NE(refusal.find("refused by the system: see RLIMIT_RTPRIO: 1, limit "),
                  std::string::npos);
        EXPECT_TRUE(witness.join());
    }
}
#endif

}  // namespace threads
}  // namespace
}  // namespace sluice
#endif

namespace sluice {
namespace {
namespace queues {

using namespace std::chrono_literals;
using Queue = ActiveEventQueue<std::string, void(int)>;

class ActiveEventQueueTest : public testing::Test {
protected:
    const test::Watchdog watchdog_{[](std::FILE*) {}};
    Queue queue_;
    std::vector<int> seen_;  // read after the thread has ended
};

TEST_F(ActiveEventQueueTest, ItsThreadCallsListenersThatComeAndGo) {
    std::thread::id thread;
    queue_.appendListener("one", [&](int value) {
        seen_.push_back(value);
        thread = std::this_thread::get_id();
    });
    const auto other =
        queue_.appendListener("two", [&](int value) { seen_.push_back(10 * value); });
    queue_.enqueue("one", 1);
    queue_.enqueue("two", 2);
    EXPECT_TRUE(queue_.start({"events"}));
    EXPECT_FALSE(queue_.start());
    test::awaitThat([&] { return queue_.emptyQueue(); });
    EXPECT_TRUE(queue_.removeListener("two", other));
    queue_.enqueue("two", 3);
    queue_.enqueue("one", 4);
    EXPECT_TRUE(queue_.stopAfterDrain(1h));
    EXPECT_TRUE(queue_.join());
    EXPECT_TRUE(queue_.join());
    EXPECT_EQ(seen_, (std::vector<int>{1, 20, 4}));
    EXPECT_NE(thread, std::this_thread::get_id());
    EXPECT_FALSE(queue_.enqueue("one", 5));
    EXPECT_FALSE(queue_.start());
}

TEST_F(ActiveEventQueueTest, StopDestroysWhatIsQueued) {
    std::atomic<bool> isHeld{false};
    std::atomic<bool> isOpen{false};
    queue_.appendListener("hold", [&](int value) {
        seen_.push_back(value);
        isHeld = true;
        test::awaitThat([&]() -> bool { return isOpen; });
    });
    queue_.start();
    queue_.enqueue("hold", 1);
    test::awaitThat([&]() -> bool { return isHeld; });
    queue_.enqueue("hold", 2);
    queue_.stop();
    EXPECT_FALSE(queue_.enqueue("hold", 3));
    isOpen = true;
    EXPECT_TRUE(queue_.join());
    EXPECT_EQ(seen_, std::vector<int>{1});
}

TEST_F(ActiveEventQueueTest, AListenerMayStopAndNeitherWaitsNorJoins) {
    queue_.appendListener("stop", [&](int value) {
        seen_.push_back(value);
        EXPECT_TRUE(queue_.isHere());
        EXPECT_FALSE(queue_.join());
        EXPECT_FALSE(queue_.stopAfterDrain(1h));
    });
    queue_.enqueue("stop", 1);
    queue_.enqueue("stop", 2);
    queue_.start();
    EXPECT_TRUE(queue_.join());
    EXPECT_EQ(seen_, (std::vector<int>{1, 2})) << "what was queued is dispatched";
    EXPECT_FALSE(queue_.isHere());
}

TEST_F(ActiveEventQueueTest, ADrainThatIsCutShortIsNone) {
    queue_.appendListener("stop", [&](int) {
        test::awaitThat([&] { return queue_.isClosed(); });
        queue_.stop();
    });
    for (int i = 0; i < 10; ++i) {
        queue_.enqueue("stop", i);
    }
    ASSERT_TRUE(queue_.start());
    EXPECT_FALSE(queue_.stopAfterDrain(1h));
}

TEST_F(ActiveEventQueueTest, AListenerMayStartWhileAnotherThreadJoins) {
    std::atomic<bool> isJoining{false};
    std::atomic<bool> isTried{false};
    queue_.appendListener("start", [&](int) {
        test::awaitThat([&]() -> bool { return isJoining; });
        for (int i = 0; i < 1000; ++i) {  // until the other thread is inside join()
            std::this_thread::yield();
        }
        EXPECT_FALSE(queue_.start());
        isTried = true;
    });
    ASSERT_TRUE(queue_.start());
    queue_.enqueue("start", 0);
    std::thread stopper([&] {
        test::awaitThat([&]() -> bool { return isTried; });
        queue_.stop();
    });
    isJoining = true;
    EXPECT_TRUE(queue_.join());
    stopper.join();
}

TEST_F(ActiveEventQueueTest, WithoutAThreadItEndsAtOnce) {
    queue_.enqueue("one", 1);
    EXPECT_TRUE(queue_.join());
    EXPECT_FALSE(queue_.stopAfterDrain(1ms)) << "nobody dispatches";
    EXPECT_TRUE(queue_.emptyQueue());
}

#if defined(__cpp_exceptions)
TEST_F(ActiveEventQueueTest, AListenerThatThrowsIsCountedAndTheNextEventComes) {
    queue_.appendListener("one", [&](int value) {
        seen_.push_back(value);
        if (value == 1) {
            throw std::runtime_error("one");
        }
    });
    queue_.enqueue("one", 1);
    queue_.enqueue("one", 2);
    queue_.start();
    EXPECT_TRUE(queue_.stopAfterDrain(1h));
    EXPECT_TRUE(queue_.join());
    EXPECT_EQ(seen_, (std::vector<int>{1, 2}));
    EXPECT_EQ(queue_.failures(), 1U);
}

#endif

}  // namespace queues
}  // namespace
}  // namespace sluice
