#include "support/rendezvous.hpp"
#include "support/watchdog.hpp"
#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/active_object.hpp>
#include <sluice/actor/coroutine.hpp>
#include <sluice/actor/detail/coroutine_scheduler.hpp>
#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/manual_traits.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/request.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/base/platform.hpp>

#include "support/testing.hpp"
#include <climits>

namespace sluice {
namespace {
namespace requests {

using namespace std::chrono_literals;

struct Square {
    int of;
};
struct Text {
    std::string text;
};
struct Later {};
struct Give {
    int value;
};
struct Ignore {};
struct Fail {};
struct Own {};
struct Hold {};
using SquareRequest = Request<Square, int>;
using TextRequest = Request<Text, std::unique_ptr<std::string>>;
using LaterRequest = Request<Later, int>;
using IgnoreRequest = Request<Ignore, void>;
using FailRequest = Request<Fail, int>;
using OwnRequest = Request<Own, RequestError>;

class Servant
    : public ActiveObject<Servant, Messages<SquareRequest, TextRequest, LaterRequest, Give,
                                            IgnoreRequest, FailRequest, OwnRequest, Hold>> {
public:
    void handle(const SquareRequest& request) {
        EXPECT_TRUE(request.reply(request.question.of * request.question.of));
        EXPECT_FALSE(request.reply(0));
        EXPECT_FALSE(request.isAwaited());
    }
    void handle(const TextRequest& request) {
        request.reply(std::make_unique<std::string>(std::move(request.question.text)));
    }
    void handle(const LaterRequest& request) {
        later_.emplace(request.take());
        EXPECT_FALSE(request.reply(0));
    }
    void handle(const Give& give) {
        isAwaited = later_->isAwaited();
        later_->reply(give.value);
        later_.reset();
    }
    void handle(const IgnoreRequest& request) {
        if (request.isAwaited()) {
            request.reply();
        }
    }
    void handle(const FailRequest&) {
#if defined(__cpp_exceptions)
        throw 1;
#endif
    }
    void handle(const OwnRequest& request) {
        request.reply(this->request<int>(Square{2}, 1h).get().error());
    }
    void handle(const Hold&) {
        held.arrive();
        held.arrive();
    }

    test::Rendezvous held;
    bool isAwaited = true;

private:
    std::optional<LaterRequest> later_;
};

class RequestTest : public testing::Test {
protected:
    const test::Watchdog watchdog_{[](std::FILE*) {}};
    Running<Servant> servant_;

    void hold() {
        ASSERT_EQ(servant_.post(Hold{}), SendResult::ok);
        servant_.held.arrive();
    }
    void goOn() { servant_.held.arrive(); }
};

template <class Reply>
RequestError errorOf(Future<Reply>& future) {
    const auto reply = future.get();
    EXPECT_FALSE(reply.hasValue());
    return reply.error();
}
template <class Reply>
RequestError errorOf(Future<Reply>&& future) {
    return errorOf(future);
}

TEST_F(RequestTest, GetsTheReply) {
    EXPECT_EQ(servant_.request<int>(Square{7}, 1h).get().value(), 49);
    auto text = servant_.request<std::unique_ptr<std::string>>(Text{"moved"}, 1h).get();
    EXPECT_EQ(*text.value(), "moved");
    EXPECT_TRUE(servant_.request<void>(Ignore{}, 1h).get().hasValue());
}

TEST_F(RequestTest, MayBeRepliedToLater) {
    auto future = servant_.request<int>(Later{}, 1h);
    EXPECT_FALSE(future.isReady());
    ASSERT_EQ(servant_.post(Give{5}), SendResult::ok);
    auto moved = std::move(future);
    EXPECT_EQ(moved.get().value(), 5);
    servant_.stop();
    EXPECT_TRUE(servant_.join());
    EXPECT_TRUE(servant_.isAwaited);
}

TEST_F(RequestTest, TellsThatNobodyAwaitsTheReply) {
    { const auto given_up = servant_.request<int>(Later{}, 1h); }
    ASSERT_EQ(servant_.post(Give{5}), SendResult::ok);
    EXPECT_TRUE(servant_.stopAfterDrain(std::chrono::steady_clock::now() + 1h));
    EXPECT_TRUE(servant_.join());
    EXPECT_FALSE(servant_.isAwaited);
}

TEST_F(RequestTest, DeadlineEndsTheWaitAndTheReplyMayStillCome) {
    hold();
    auto future = servant_.request<int>(Square{3}, 1ms);
    EXPECT_EQ(errorOf(future), RequestError::timedOut);
    EXPECT_EQ(errorOf(servant_.request<int>(Square{3}, -1h)), RequestError::timedOut);
    goOn();
    EXPECT_EQ(servant_.request<int>(Square{4}, 1h).get().value(), 16);
    EXPECT_EQ(future.get().value(), 9);
}

TEST_F(RequestTest, RequestThatIsDiscardedIsCancelled) {
    hold();
    auto future = servant_.request<int>(Square{3}, 1h);
    servant_.stop();
    EXPECT_EQ(errorOf(servant_.request<int>(Square{3}, 1h)), RequestError::closed);
    goOn();
    EXPECT_EQ(errorOf(future), RequestError::cancelled);
    EXPECT_TRUE(future.isReady());
}

TEST_F(RequestTest, RequestThatIsKeptIsCancelledWithItsObject) {
    auto later = [&] {
        Running<Servant> other;
        auto future = other.request<int>(Later{}, 1h);
        (void)other.stopAfterDrain(std::chrono::steady_clock::now() + 1h);
        return future;
    }();
    EXPECT_EQ(errorOf(later), RequestError::cancelled);
}

TEST_F(RequestTest, HandlerThatThrowsCancels) {
    EXPECT_EQ(errorOf(servant_.request<int>(Fail{}, 1h)), RequestError::cancelled);
}

TEST_F(RequestTest, RequestFromTheOwnObjectIsRefused) {
    EXPECT_EQ(servant_.request<RequestError>(Own{}, 1h).get().value(), RequestError::ownObject);
}

TEST_F(RequestTest, FullMailboxRefuses) {
    hold();
    for (std::size_t i = 0; i < Servant::capacity(); ++i) {
        (void)servant_.tryPost(Give{0});
    }
    EXPECT_EQ(errorOf(servant_.request<int>(Square{1}, 1h)), RequestError::full);
    while (servant_.tryPost(Give{0}, {Priority::high}) == SendResult::ok) {
    }
    EXPECT_EQ(errorOf(servant_.request<int>(Square{1}, 1h, Priority::high)), RequestError::full);
    servant_.stop();
    goOn();
}

TEST_F(RequestTest, AFutureThatIsAssignedToGivesItsReplyUp) {
    auto future = servant_.request<int>(Later{}, 1h);
    auto other = servant_.request<int>(Square{3}, 1h);
    future = std::move(other);
    (void)servant_.post(Give{7});
    EXPECT_EQ(future.get().value(), 9);
    EXPECT_TRUE(servant_.stopAfterDrain(std::chrono::steady_clock::now() + 1h));
    EXPECT_TRUE(servant_.join());
    EXPECT_FALSE(servant_.isAwaited);
}

#if !defined(NDEBUG)
TEST(RequestDeathTest, FutureGivesItsReplyOutOnce) {
    const auto twice = [] {
        Running<Servant> servant;
        auto future = servant.request<int>(Square{1}, 1h);
        (void)future.get();
        (void)future.get();
    };
    EXPECT_DEATH(twice(), "gives its reply out once");
}
#endif

// Two objects that request from each other: the inner request ends the cycle at its deadline.
struct Ask {};
using AskRequest = Request<Ask, RequestError>;
class Asking : public ActiveObject<Asking, Messages<AskRequest>> {
public:
    void handle(const AskRequest& request) {
        // The other object is in its own handler, or has no thread.
        const auto reply = other->request<RequestError>(Ask{}, 5ms).get();
        request.reply(reply ? *reply : reply.error());
    }
    Asking* other = nullptr;
};

using RequestCycleTest = test::GuardedTest;
TEST_F(RequestCycleTest, EndsByDeadline) {
    Asking first;
    Asking second;
    first.other = &second;
    second.other = &first;
    ASSERT_TRUE(first.start());
    ASSERT_TRUE(second.start());
    EXPECT_EQ(first.request<RequestError>(Ask{}, 1h).get().value(), RequestError::timedOut);
    for (Asking* object : {&first, &second}) {
        object->stop();
        EXPECT_TRUE(object->join());
    }
}

#if defined(__cpp_exceptions)
// A question that throws when it is moved for the last time that it allows.
struct Fragile {
    explicit Fragile(int allowed) : moves(allowed) {}
    Fragile(Fragile&& other) : moves(other.moves - 1) {
        if (moves < 0) {
            throw std::runtime_error("moved too often");
        }
    }
    int moves;
};
using FragileRequest = Request<Fragile, int>;
class Taking : public ActiveObject<Taking, Messages<FragileRequest>> {
public:
    void handle(const FragileRequest& request) {
        request.question.moves = 0;
        (void)request.take();
    }
};

using RequestMoveTest = test::GuardedTest;
TEST_F(RequestMoveTest, QuestionThatCannotBePostedLeavesNothingBehind) {
    Running<Taking> object;
    bool isAccepted = false;
    for (int moves = 0; !isAccepted && moves < 20; ++moves) {
        try {
            EXPECT_EQ(errorOf(object.request<int>(Fragile{moves}, 1h)), RequestError::cancelled);
            isAccepted = true;
        } catch (const std::runtime_error&) {
            EXPECT_FALSE(object.isClosed());
        }
    }
    EXPECT_TRUE(isAccepted);
}
#endif

TEST(FutureTest, ADeadlineThatHasPassedIsNowOnAnotherClock) {
    using TimePoint = SquareRequest::TimePoint;
    const TimePoint other{1h};
    for (const TimePoint deadline : {TimePoint::min(), TimePoint()}) {
        const auto future = SquareRequest::make(
            Square{1}, deadline, [](SquareRequest&& /*request*/) { return SendResult::ok; });
        EXPECT_EQ(future.deadlineFrom(other), other);
    }
}

static_assert(!std::is_copy_constructible_v<SquareRequest>);
static_assert(std::is_nothrow_move_constructible_v<SquareRequest>);
static_assert(!std::is_copy_constructible_v<Future<int>>);

}  // namespace requests

namespace coroutines {

using test::Add;

struct Both : PooledTraits {
    static constexpr std::uint32_t depth = 4;
    static constexpr std::size_t maxCoroutines = 4;
    static constexpr bool awaitedPosts = true;
};
class Shared : public PooledObject<Shared, Messages<Add>, Both> {
public:
    void handle(const Add& add) { sum += add.value; }
    int sum = 0;
};

struct OwnBoth : ManualTraits<ActorTraits, OwnBoth> {
    static constexpr std::size_t maxCoroutines = 4;
    static constexpr bool awaitedPosts = true;
};
class Own : public ActiveObject<Own, Messages<Add>, OwnBoth> {
public:
    void handle(const Add& add) { sum += add.value; }
    using ActiveObject::handleQueued;
    int sum = 0;
};

TEST(CoroutineTest, ObjectsThatMayHaveThemHandleMessages) {
    ManualExecutor executor;
    Running<Shared> shared(executor);
    Own own;
    for (int i = 1; i < 3; ++i) {
        ASSERT_EQ(shared.post(Add{i}), SendResult::ok);
        ASSERT_EQ(own.post(Add{i}), SendResult::ok);
    }
    executor.runAll();
    EXPECT_EQ(own.handleQueued(), 2U);
    EXPECT_EQ(shared.sum, 3);
    EXPECT_EQ(own.sum, 3);
    EXPECT_EQ(shared.resumptions() + own.resumptions(), 0U);
    own.stop();
}

}  // namespace coroutines

namespace schedulers {

using Scheduler = detail::CoroutineScheduler<StdPlatform>;
using TimePoint = Scheduler::TimePoint;

struct Frame : detail::CoroutineFrame {
    Frame()
        : CoroutineFrame{[](CoroutineFrame& frame) {
                             ++static_cast<Frame&>(frame).continued;
                             return false;
                         },
                         [](CoroutineFrame& /*frame*/) noexcept {}} {}
    int continued = 0;
};

/// Counts the comparisons.
struct CountedTime {
    long time = 0;
    static constexpr CountedTime min() { return {LONG_MIN}; }
    static constexpr CountedTime max() { return {LONG_MAX}; }
    friend bool operator<(CountedTime a, CountedTime b) { return ++comparisons, a.time < b.time; }
    inline static long comparisons = 0;
};
struct CountingPlatform : StdPlatform {
    struct Clock {
        using time_point = CountedTime;
    };
};
using CountingScheduler = detail::CoroutineScheduler<CountingPlatform>;
struct Timed final : CountingScheduler::Waiting {
    Timed(CountingScheduler& scheduler, Frame& frame, long time) : Waiting(scheduler, frame) {
        begin({time});
    }
    bool isDone() override { return true; }
    bool giveUp() override { return true; }
};

TEST(CoroutineSchedulerTest, RisingAndFallingDeadlinesAreInsertedInAFewSteps) {
    for (const long step : {1, -1}) {
        Frame frame;
        std::deque<Timed> waiting;
        CountingScheduler scheduler([](CountingScheduler& /*scheduler*/) noexcept {});
        CountedTime::comparisons = 0;
        for (long i = 0; i < 1000; ++i) {
            waiting.emplace_back(scheduler, frame, 5000 + step * i);
        }
        EXPECT_LE(CountedTime::comparisons, 4000);
        EXPECT_EQ(scheduler.nextDeadline().time, step == 1 ? 5000 : 4001);
    }
}

/// A thread wakes it, although it must wait again.
class WokenInVain final : public Scheduler::Waiting {
public:
    WokenInVain(Scheduler& scheduler, Frame& frame, TimePoint deadline)
        : Scheduler::Waiting(scheduler, frame) {
        begin(deadline);
    }
    bool isDone() override { return false; }
    bool giveUp() override { return !isBeingWoken; }

    bool isBeingWoken = true;
};

TEST(CoroutineSchedulerTest, GivesUpAfterItWasWokenInVainAtItsDeadline) {
    Scheduler scheduler([](Scheduler& /*scheduler*/) noexcept {});
    Frame frame;
    const TimePoint deadline = TimePoint() + std::chrono::seconds(1);
    WokenInVain waiting(scheduler, frame, deadline);
    const auto resumeOne = [&] { return scheduler.resumeOne([&] { return deadline; }); };

    EXPECT_TRUE(resumeOne());  // a thread is about to wake it
    EXPECT_FALSE(resumeOne());
    EXPECT_EQ(scheduler.nextDeadline(), TimePoint::max());

    waiting.isBeingWoken = false;
    waiting.wake();
    EXPECT_TRUE(resumeOne());  // it waits again
    EXPECT_EQ(frame.continued, 0);
    EXPECT_EQ(scheduler.nextDeadline(), TimePoint::min());
    EXPECT_TRUE(resumeOne());
    EXPECT_EQ(frame.continued, 1);
    EXPECT_FALSE(resumeOne());
}

}  // namespace schedulers
}  // namespace
}  // namespace sluice
