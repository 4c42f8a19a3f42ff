#include "support/crew.hpp"
#include "support/watchdog.hpp"
#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/active_object.hpp>
#include <sluice/actor/handler_times.hpp>
#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/manual_traits.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/actor/thread_pool.hpp>
#include <sluice/actor/watchdog.hpp>
#include <sluice/base/platform.hpp>

#include "support/testing.hpp"
#include <exception>
#include <thread>

namespace sluice {
namespace {
namespace watchdogs {

using namespace std::chrono_literals;
using test::Add;
using test::Hold;
using test::Keeper;
using test::late;
using Reports = std::vector<std::string>;

class WatchdogTest : public testing::Test {
protected:
    void lookAfter(std::chrono::milliseconds time) {
        now_ += time;
        watchdog_.look(now_);
    }

    const test::Watchdog patience_{[](std::FILE*) {}};
    Watchdog::TimePoint now_{};
    Reports reports_;
    Watchdog watchdog_{100ms, [this](const char* name, std::chrono::nanoseconds atLeast) {
                           reports_.push_back(name + std::string(" ") +
                                              std::to_string(atLeast / 1ms));
                       }};
};

/// Waits in its handler until the test lets it go.
class Waiting : public PooledObject<Waiting, Messages<Add, Hold>> {
public:
    void handle(const Add& /*add*/) {}
    void handle(const Hold& /*hold*/) {
        isHeld = true;
        test::awaitThat([&]() -> bool { return isOpen; });
    }
    std::atomic<bool> isHeld{false};
    std::atomic<bool> isOpen{false};
};

TEST_F(WatchdogTest, ReportsAHandlerOfAnActiveObjectOnce) {
    Running<Keeper<>> object;
    const auto watch = watchdog_.watch(object, "keeper");
    (void)object.post(Add{1});
    while (object.handlerTimes().handled == 0 || object.isAwake()) {
        std::this_thread::yield();
    }
    lookAfter(0ms);
    lookAfter(200ms);
    EXPECT_EQ(reports_, Reports{}) << "it has nothing to do";
    (void)object.post(Hold{});
    object.awaitHeld();
    lookAfter(1ms);
    lookAfter(99ms);
    EXPECT_EQ(reports_, Reports{});
    lookAfter(1ms);
    EXPECT_EQ(reports_, Reports{"keeper 100"});
    lookAfter(500ms);
    EXPECT_EQ(reports_, Reports{"keeper 100"}) << "once for each handler";
    EXPECT_EQ(watchdog_.lateCount(), 1U);
    EXPECT_STREQ(watchdog_.lateName(), "keeper");
    object.open();
    EXPECT_TRUE(object.stopAfterDrain(late()));
    object.join();
    lookAfter(1ms);
    lookAfter(500ms);
    EXPECT_EQ(reports_, Reports{"keeper 100"});
    EXPECT_EQ(watchdog_.lateCount(), 0U);
    EXPECT_STREQ(watchdog_.lateName(), "");
    EXPECT_EQ(watchdog_.reportCount(), 1U);
}

TEST_F(WatchdogTest, ReportsAHandlerOfAnObjectOnAPool) {
    ThreadPool pool(1);
    Running<Waiting> object(pool);
    const auto watch = watchdog_.watch(object, "waiting");
    lookAfter(0ms);
    lookAfter(500ms);
    EXPECT_EQ(reports_, Reports{});
    (void)object.post(Hold{});
    test::awaitThat([&]() -> bool { return object.isHeld; });
    lookAfter(1ms);
    lookAfter(250ms);
    EXPECT_EQ(reports_, Reports{"waiting 250"});
    object.isOpen = true;
}

#if defined(__cpp_exceptions)
struct Restarts : ActorTraits {
    static constexpr OnFailure onFailure = OnFailure::restart;
    static constexpr std::chrono::nanoseconds restartBackOff = std::chrono::hours(1);
    static constexpr std::chrono::nanoseconds maxRestartBackOff = std::chrono::hours(1);
};
class Failing : public ActiveObject<Failing, Messages<Add>, Restarts> {
public:
    void handle(const Add& /*add*/) { throw std::runtime_error("failure of a handler"); }
    void restart() {}
    void handlerFailed(const std::exception_ptr& /*failure*/) noexcept {}
};

TEST_F(WatchdogTest, AnObjectThatWaitsForItsRestartRunsNoHandler) {
    Running<Failing> object;
    const auto watch = watchdog_.watch(object, "failing");
    (void)object.post(Add{1});
    while (object.failures() == 0 || object.isAwake()) {
        std::this_thread::yield();
    }
    lookAfter(0ms);
    lookAfter(500ms);
    EXPECT_EQ(reports_, Reports{});
}
#endif

/// Stops the object's thread between a handler and its sleep, until the test lets it go on.
std::atomic<bool> isBeforeSleep{false};
std::atomic<bool> maySleep{false};
struct StopsBeforeSleep : ActorTraits {
    struct Pacing {
        static void polled(std::size_t /*count*/) {
            isBeforeSleep = true;
            test::awaitThat([]() -> bool { return maySleep; });
        }
    };
};

TEST_F(WatchdogTest, AHandlerBehindASleepIsNotReportedWithTheTimeOfTheSleep) {
    Running<Keeper<StopsBeforeSleep>> object;
    const auto watch = watchdog_.watch(object, "stopping");
    (void)object.post(Add{1});
    test::awaitThat([]() -> bool { return isBeforeSleep; });
    lookAfter(1ms);
    maySleep = true;
    test::awaitThat([&] { return !object.isAwake(); });
    (void)object.post(Hold{});
    object.awaitHeld();
    lookAfter(500ms);
    EXPECT_EQ(reports_, Reports{});
    lookAfter(100ms);
    EXPECT_EQ(reports_, Reports{"stopping 100"});
    object.open();
}

/// Stops the watch of time at each message that goes unhandled.
struct Discarded {
    std::atomic<int>* number = nullptr;
    std::atomic<int>* awaited = nullptr;
    Discarded(std::atomic<int>& n, std::atomic<int>& a) : number(&n), awaited(&a) {}
    Discarded(const Discarded&) = delete;
    Discarded& operator=(const Discarded&) = delete;
    ~Discarded() {
        const int own = ++*number;
        test::awaitThat([&] { return *awaited >= own; });
    }
};
class Discarding : public ActiveObject<Discarding, Messages<Discarded, Hold>> {
public:
    void handle(const Discarded& /*message*/) {}
    void handle(const Hold& /*hold*/) {
        isHeld = true;
        test::awaitThat([&]() -> bool { return isOpen; });
    }
    std::atomic<bool> isHeld{false};
    std::atomic<bool> isOpen{false};
};

TEST_F(WatchdogTest, DiscardedMessagesAreNoLongHandler) {
    std::atomic<int> number{0};
    std::atomic<int> awaited{0};
    Running<Discarding> object;
    const auto watch = watchdog_.watch(object, "discarding");
    (void)object.post(Hold{});
    test::awaitThat([&]() -> bool { return object.isHeld; });
    constexpr int count = 20;
    for (int i = 0; i < count; ++i) {
        ASSERT_EQ(object.emplace<Discarded>(number, awaited), SendResult::ok);
    }
    object.stop();
    object.isOpen = true;
    for (int i = 1; i <= count; ++i) {
        test::awaitThat([&] { return number >= i; });
        lookAfter(60ms);  // each one takes less than the limit
        awaited = i;
    }
    object.join();
    EXPECT_EQ(reports_, Reports{});
}

TEST_F(WatchdogTest, ManyShortHandlersAreNoLongOne) {
    ThreadPool pool(1);
    Running<Waiting> first(pool);
    const auto watch = watchdog_.watch(first, "first");
    for (int i = 0; i < 10; ++i) {
        first.isOpen = false;
        first.isHeld = false;
        (void)first.post(Hold{});
        test::awaitThat([&]() -> bool { return first.isHeld; });
        lookAfter(60ms);
        first.isOpen = true;
        test::awaitThat([&] { return first.sizeApprox() == 0; });
    }
    EXPECT_EQ(reports_, Reports{});
}

TEST_F(WatchdogTest, AnObjectThatIsNoLongerWatchedIsNotReported) {
    ThreadPool pool(1);
    Running<Waiting> object(pool);
    {
        const auto watch = watchdog_.watch(object, "waiting");
        (void)object.post(Hold{});
        test::awaitThat([&]() -> bool { return object.isHeld; });
        lookAfter(0ms);
    }
    lookAfter(500ms);
    EXPECT_EQ(reports_, Reports{});
    object.isOpen = true;
}

using WatchdogThreadTest = test::GuardedTest;
#if defined(__cpp_exceptions)
TEST_F(WatchdogThreadTest, AReportMayThrow) {
    Watchdog watchdog(0ns, [](const char*, std::chrono::nanoseconds) { throw 1; });
    Running<Keeper<>> object;
    const auto watch = watchdog.watch(object, "keeper");
    (void)object.post(Hold{});
    watchdog.start(1ms);
    test::awaitThat([&] { return watchdog.failedReports() != 0; });
    object.open();
}
#endif

TEST_F(WatchdogThreadTest, ARareLookIsRare) {
    std::atomic<int> reports{0};
    Watchdog watchdog(0ns, [&](const char*, std::chrono::nanoseconds) { ++reports; });
    Running<Keeper<>> object;
    const auto watch = watchdog.watch(object, "keeper");
    (void)object.post(Hold{});
    object.awaitHeld();
    watchdog.start(std::chrono::nanoseconds::max());
    for (int i = 0; i < 10000; ++i) {
        std::this_thread::yield();
    }
    EXPECT_EQ(reports, 0);
    object.open();
}

}  // namespace watchdogs

namespace times {

using namespace std::chrono_literals;

struct Work {
    std::chrono::milliseconds time;
};

struct Timed : ManualTraits<ActorTraits, Timed> {
    static constexpr bool handlerTimes = true;
    static constexpr TimeStamp timeStamp = TimeStamp::exact;
};
using Clock = Timed::Platform::Clock;

class Worker : public ActiveObject<Worker, Messages<Work>, Timed> {
public:
    void handle(const Work& work) {
        Clock::advance(work.time);
#if defined(__cpp_exceptions)
        if (work.time == 7ms) {
            throw 1;
        }
#endif
    }
    using ActiveObject::handleQueued;
};

TEST(HandlerTimesTest, TellHowLongMessagesWaitAndHandlersRun) {
    Clock::reset();
    Worker worker;
    (void)worker.post(Work{3ms});
    (void)worker.post(Work{5ms});
    Clock::advance(2ms);
    worker.handleQueued();
    const HandlerTimes times = worker.handlerTimes();
    EXPECT_EQ(times.handled, 2U);
    EXPECT_EQ(times.inHandlers, 8ms);
    EXPECT_EQ(times.longestHandler, 5ms);
    EXPECT_EQ(times.inQueue, 7ms);
    EXPECT_EQ(times.longestInQueue, 5ms);
    worker.stop();
}

TEST(HandlerTimesTest, TheLongestTimesDoNotOverflow) {
    detail::DurationBook<StdPlatform> book;
    book.add(std::chrono::nanoseconds::max());
    book.add(std::chrono::nanoseconds::max());
    book.add(9s);
    EXPECT_EQ(book.sum(), std::chrono::nanoseconds::max());
    EXPECT_EQ(book.longest(), std::chrono::nanoseconds::max());
}

#if defined(__cpp_exceptions)
TEST(HandlerTimesTest, AHandlerThatThrowsCounts) {
    Clock::reset();
    Worker worker;
    (void)worker.post(Work{7ms});
    worker.handleQueued();
    EXPECT_EQ(worker.handlerTimes().inHandlers, 7ms);
    worker.stop();
}
#endif

struct PooledTimed : PooledTraits {
    static constexpr bool handlerTimes = true;
    static constexpr TimeStamp timeStamp = TimeStamp::exact;
};
struct Fast : PooledTraits {};

template <class Traits>
class Pooled : public PooledObject<Pooled<Traits>, Messages<Work>, Traits> {
public:
    void handle(const Work& /*work*/) {}
};

TEST(HandlerTimesTest, OfAnObjectOnAnExecutorAreInTheExecutorsTime) {
    ManualExecutor executor;
    Running<Pooled<PooledTimed>> timed(executor);
    Running<Pooled<Fast>> fast(executor);
    (void)timed.post(Work{});
    (void)fast.post(Work{});
    executor.runFor(1s);
    (void)timed.post(Work{});
    executor.runAll();
    EXPECT_EQ(timed.handlerTimes().handled, 2U);
    EXPECT_EQ(timed.handlerTimes().inQueue, 0s) << "messages are handled before the clock moves";
    EXPECT_EQ(fast.handlerTimes().handled, 1U);
    EXPECT_EQ(fast.handlerTimes().inHandlers, 0s);
}

}  // namespace times
}  // namespace
}  // namespace sluice
