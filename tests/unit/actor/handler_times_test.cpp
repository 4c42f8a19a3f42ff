#include <sluice/actor/active_object.hpp>
#include <sluice/actor/handler_times.hpp>
#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/manual_traits.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/base/platform.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace sluice {
namespace {

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

TEST(HandlerTimesTest, TimesHave64Bits) {
    detail::DurationBook<StdPlatform> book;
    book.add(10s);
    book.add(9s);
    EXPECT_EQ(book.sum(), 19s);
    EXPECT_EQ(book.longest(), 10s);
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

}  // namespace
}  // namespace sluice
