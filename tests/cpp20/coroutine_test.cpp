#include "support/watchdog.hpp"

#include <sluice/actor/active_object.hpp>
#include <sluice/actor/coroutine.hpp>
#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/manual_traits.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/request.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/actor/thread_pool.hpp>

#include "support/testing.hpp"
#include <thread>

// Handlers that await replies and room.

namespace sluice {
namespace {

using namespace std::chrono_literals;
using Log = std::vector<std::string>;

std::chrono::steady_clock::time_point late() {
    return std::chrono::steady_clock::now() + std::chrono::minutes(2);
}

using Twice = Request<int, int>;
struct Release {};

/// Keeps questions until it is told to reply.
class Keeper : public PooledObject<Keeper, Messages<Twice, Release>> {
public:
    void handle(const Twice& question) { kept.push_back(question.take()); }
    void handle(const Release& /*release*/) {
        for (const Twice& question : kept) {
            (void)question.reply(2 * question.question);
        }
        kept.clear();
    }
    std::vector<Twice> kept;
};

struct Awaits : PooledTraits {
    static constexpr std::size_t maxCoroutines = 3;
};
struct Ask {
    int number;
};
struct Mark {
    std::string text;
};
struct Fail {};

/// Asks 11 s before it awaits the reply.
struct AskEarlier {};

class Asking : public PooledObject<Asking, Messages<Ask, Mark, Fail, AskEarlier>, Awaits> {
public:
    Asking(ManualExecutor& executor, Keeper& keeper) : executor_(executor), keeper_(keeper) {}

    void handle(const Ask& ask) {
        if (!run(askFor(ask.number))) {
            log.push_back("too many");
        }
    }
    void handle(const Mark& mark) { log.push_back(mark.text); }
    void handle(const Fail& /*fail*/) { (void)run(fail()); }
    void handle(const AskEarlier& /*ask*/) { EXPECT_TRUE(run(askEarlier())); }
    void ended() noexcept { log.push_back("ended"); }

    Log log;
    std::shared_ptr<int> held = std::make_shared<int>(0);  // by each coroutine

private:
    Coroutine askFor(int number) {
        const std::shared_ptr<int> own = held;
        log.push_back("ask " + std::to_string(number));
        const auto reply = co_await keeper_.request<int>(number, 10s);
        EXPECT_TRUE(isHere());
        log.push_back(reply ? std::to_string(*reply)
                            : "error " + std::to_string(static_cast<int>(reply.error())));
    }
    Coroutine askEarlier() {
        auto future = keeper_.request<int>(1, 10s);
        const auto isOver = [] { return false; };
        (void)executor_.runUntil(isOver, executor_.now() + 11s);
        const auto reply = co_await std::move(future);
        log.push_back("error " + std::to_string(static_cast<int>(reply.error())));
    }
    Coroutine fail() {
        (void)co_await keeper_.request<int>(0, 10s);
        throw std::runtime_error("failure of a coroutine");
    }

    ManualExecutor& executor_;
    Keeper& keeper_;
};

class AwaitedReplyTest : public testing::Test {
protected:
    const test::Watchdog watchdog_{[](std::FILE*) {}};
    ManualExecutor executor_;
    Running<Keeper> keeper_{executor_};
    std::optional<Running<Asking>> asking_{std::in_place, executor_, executor_, keeper_};

    void ask(int number) {
        ASSERT_EQ(asking_->post(Ask{number}), SendResult::ok);
        executor_.runAll();
    }
};

TEST_F(AwaitedReplyTest, OtherMessagesAreHandledMeanwhile) {
    ask(4);
    ASSERT_EQ(asking_->post(Mark{"meanwhile"}), SendResult::ok);
    executor_.runAll();
    (void)keeper_.post(Release{});
    executor_.runAll();
    EXPECT_EQ(asking_->log, (Log{"ask 4", "meanwhile", "8"}));
    EXPECT_EQ(asking_->held.use_count(), 1);
    EXPECT_EQ(asking_->resumptions(), 2U);
}

TEST_F(AwaitedReplyTest, SeveralGoOnInTheOrderOfTheirReplies) {
    ask(1);
    ask(2);
    ask(3);
    (void)keeper_.post(Release{});
    executor_.runAll();
    EXPECT_EQ(asking_->log, (Log{"ask 1", "ask 2", "ask 3", "2", "4", "6"}));
}

TEST_F(AwaitedReplyTest, TheirNumberIsLimited) {
    for (int i = 0; i < 4; ++i) {
        ask(i);
    }
    EXPECT_EQ(asking_->log.back(), "too many");
    (void)keeper_.post(Release{});
    executor_.runAll();
    ask(5);
    EXPECT_EQ(asking_->log.back(), "ask 5");
}

TEST_F(AwaitedReplyTest, TheTimeoutRunsOnTheObjectsClock) {
    ask(1);
    executor_.runFor(9s);
    ask(2);
    EXPECT_EQ(asking_->log, (Log{"ask 1", "ask 2"}));
    executor_.runFor(1s);
    EXPECT_EQ(asking_->log, (Log{"ask 1", "ask 2", "error 4"}));
    (void)keeper_.post(Release{});
    executor_.runAll();
    EXPECT_EQ(asking_->log, (Log{"ask 1", "ask 2", "error 4", "4"})) << "the late reply is dropped";
}

TEST_F(AwaitedReplyTest, TheTimeoutRunsFromTheRequest) {
    ASSERT_EQ(asking_->post(AskEarlier{}), SendResult::ok);
    executor_.runAll();
    EXPECT_EQ(asking_->log, (Log{"error 4"})) << "10 s have passed before co_await";
    EXPECT_EQ(executor_.now().time_since_epoch(), 11s);
}

TEST_F(AwaitedReplyTest, ACancelledRequestGoesOn) {
    ask(1);
    keeper_.stop();
    executor_.runAll();
    keeper_.kept.clear();
    executor_.runAll();
    EXPECT_EQ(asking_->log, (Log{"ask 1", "error 3"}));
    ask(1);
    EXPECT_EQ(asking_->log.back(), "error 1") << "closed: it does not wait";
}

TEST_F(AwaitedReplyTest, TheEndDestroysThoseThatWait) {
    ask(1);
    ask(2);
    EXPECT_EQ(asking_->held.use_count(), 3);
    const std::shared_ptr<int> held = asking_->held;
    EXPECT_TRUE(asking_->stopAfterDrain(late()));
    EXPECT_EQ(asking_->log, (Log{"ask 1", "ask 2", "ended"}));
    EXPECT_EQ(held.use_count(), 2);
    asking_.reset();
    (void)keeper_.post(Release{});  // nobody waits
    executor_.runAll();
}

TEST_F(AwaitedReplyTest, AReplyThatComesDuringTheEndIsDropped) {
    ask(1);
    (void)keeper_.post(Release{});
    asking_->stop();
    executor_.runAll();
    EXPECT_TRUE(asking_->join());
    EXPECT_EQ(asking_->held.use_count(), 1);
}

TEST_F(AwaitedReplyTest, AnExceptionIsAFailureOfTheObject) {
    ASSERT_EQ(asking_->post(Fail{}), SendResult::ok);
    executor_.runAll();
    EXPECT_EQ(asking_->statistics().failed, 0U);
    (void)keeper_.post(Release{});
    executor_.runAll();
    EXPECT_EQ(asking_->statistics().failed, 1U);
    ask(1);
    EXPECT_EQ(asking_->log.back(), "ask 1");
}

// ---- Room

struct Few : PooledTraits {
    static constexpr std::uint32_t depth = 4;
    static constexpr std::size_t maxCoroutines = 100;
    static constexpr bool awaitedPosts = true;
};
struct Parcel {
    int number;
};
struct Send {
    int count;
};

/// Sends parcels to another one, and awaits room for each.
class Sending : public PooledObject<Sending, Messages<Send, Parcel>, Few> {
public:
    void handle(const Send& order) { EXPECT_TRUE(run(send(order.count))); }
    void handle(const Parcel& parcel) { parcels.push_back(parcel.number); }

    Sending* other = nullptr;
    std::vector<int> parcels;
    std::vector<SendResult> results;
    std::chrono::nanoseconds timeout = 1h;

private:
    Coroutine send(int count) {
        for (int i = 0; i < count; ++i) {
            results.push_back(co_await other->awaitPost(Parcel{i}, timeout));
        }
    }
};

class AwaitedRoomTest : public testing::Test {
protected:
    AwaitedRoomTest() {
        first_.other = &second_;
        second_.other = &first_;
    }
    const test::Watchdog watchdog_{[](std::FILE*) {}};
    ManualExecutor executor_;
    Running<Sending> first_{executor_};
    Running<Sending> second_{executor_};
};

std::vector<int> numbersTo(int count) {
    std::vector<int> numbers;
    for (int i = 0; i < count; ++i) {
        numbers.push_back(i);
    }
    return numbers;
}

// With waits both would stand still.
TEST_F(AwaitedRoomTest, ACycleOfFullMailboxesGoesOn) {
    ASSERT_EQ(first_.post(Send{50}), SendResult::ok);
    ASSERT_EQ(second_.post(Send{50}), SendResult::ok);
    executor_.runAll();
    EXPECT_EQ(first_.parcels, numbersTo(50));
    EXPECT_EQ(second_.parcels, numbersTo(50));
}

TEST_F(AwaitedRoomTest, AnObjectMayAwaitItsOwnRoom) {
    first_.other = &first_;
    ASSERT_EQ(first_.post(Send{50}), SendResult::ok);
    executor_.runAll();
    EXPECT_EQ(first_.parcels, numbersTo(50));
}

TEST_F(AwaitedRoomTest, AStoppedObjectHasNoRoom) {
    second_.stop();
    ASSERT_EQ(first_.post(Send{2}), SendResult::ok);
    executor_.runAll();
    EXPECT_EQ(first_.results, std::vector<SendResult>(2, SendResult::closed));
}

/// Its mailbox stays full, as nobody runs it.
struct FewAtOnce : ActorTraits {
    static constexpr std::size_t depth = 4;
    static constexpr bool awaitedPosts = true;
};
class Stuck : public ActiveObject<Stuck, Messages<Parcel>, FewAtOnce> {
public:
    void handle(const Parcel& /*parcel*/) { ++parcels; }
    using ActiveObject::handleQueued;
    int parcels = 0;
};

struct Order {};
class Waiting : public PooledObject<Waiting, Messages<Order>, Awaits> {
public:
    explicit Waiting(Stuck& stuck) : stuck_(stuck) {}
    void handle(const Order& /*order*/) { EXPECT_TRUE(run(send())); }
    std::vector<SendResult> results;

private:
    Coroutine send() { results.push_back(co_await stuck_.awaitPost(Parcel{0}, 10s)); }
    Stuck& stuck_;
};

TEST(AwaitedRoomOfAnActiveObjectTest, ComesWithHandlingOrNotInTime) {
    const test::Watchdog watchdog([](std::FILE*) {});
    ManualExecutor executor;
    Stuck stuck;
    Running<Waiting> object(executor, stuck);
    while (stuck.post(Parcel{0}) == SendResult::ok) {
    }
    ASSERT_EQ(object.post(Order{}), SendResult::ok);
    executor.runFor(9s);
    EXPECT_TRUE(object.results.empty());
    executor.runFor(1s);
    ASSERT_EQ(object.results.size(), 1U);
    EXPECT_NE(object.results[0], SendResult::ok);
    ASSERT_EQ(object.post(Order{}), SendResult::ok);
    executor.runAll();
    (void)stuck.handleQueued();
    executor.runAll();
    ASSERT_EQ(object.results.size(), 2U);
    EXPECT_EQ(object.results[1], SendResult::ok);
    stuck.stop();
}

// The woken coroutine would post to the object that has gone.
TEST(AwaitedRoomDeathTest, AnObjectOutlivesTheCoroutinesThatAwaitIt) {
    ManualExecutor executor;
    auto stuck = std::make_unique<Stuck>();
    while (stuck->post(Parcel{0}) == SendResult::ok) {
    }
    auto object = std::make_unique<Running<Waiting>>(executor, *stuck);
    ASSERT_EQ(object->post(Order{}), SendResult::ok);
    executor.runAll();
    stuck->stop();
    EXPECT_DEATH(stuck.reset(), "end the object of that coroutine first");
    object.reset();
    stuck.reset();
}

// ---- Threads

struct OwnAwaits : ActorTraits {
    static constexpr std::size_t maxCoroutines = 64;
    static constexpr bool awaitedPosts = true;
};
struct Begin {
    int rounds;
};

/// Two of them ask each other. With a wait in get() each would wait for the other one.
template <template <class, class, class> class Base, class Traits>
class TalkingOn : public Base<TalkingOn<Base, Traits>, Messages<Begin, Twice>, Traits> {
public:
    void handle(const Begin& begin) {
        EXPECT_TRUE(this->run(talk(begin.rounds)) || this->isClosed());
    }
    void handle(const Twice& question) { (void)question.reply(2 * question.question); }

    TalkingOn* other = nullptr;
    std::atomic<int> replies{0};

private:
    Coroutine talk(int rounds) {
        for (int i = 0; i < rounds; ++i) {
            const auto reply = co_await other->template request<int>(i, 1h);
            EXPECT_TRUE(this->isHere());
            if (reply && *reply == 2 * i) {
                ++replies;
            }
        }
    }
};
using Talking = TalkingOn<ActiveObject, OwnAwaits>;
using PooledTalking = TalkingOn<PooledObject, Few>;

TEST(AwaitedReplyThreadTest, TwoObjectsAskEachOther) {
    const test::Watchdog watchdog([](std::FILE*) {});
    Running<Talking> first;
    Running<Talking> second;
    first.other = &second;
    second.other = &first;
    constexpr int rounds = 2000;
    ASSERT_EQ(first.post(Begin{rounds}), SendResult::ok);
    ASSERT_EQ(second.post(Begin{rounds}), SendResult::ok);
    while (first.replies < rounds || second.replies < rounds) {
        std::this_thread::yield();
    }
}

/// Awaits a reply that nobody gives.
class ByHand : public ActiveObject<ByHand, Messages<Begin, Twice>, OwnAwaits> {
public:
    explicit ByHand(ByHand* other) : other_(other) {}
    void handle(const Begin&) { EXPECT_TRUE(run(ask())); }
    void handle(const Twice&) {}
    using ActiveObject::handleQueued;

private:
    Coroutine ask() { (void)co_await other_->request<int>(0, 1h); }
    ByHand* other_;
};

TEST(AwaitedReplyDeathTest, AnObjectThatIsRunByHandIsStoppedBeforeItIsDestroyed) {
    const auto run = [](bool isStopped) {
        ByHand silent(nullptr);
        ByHand object(&silent);
        (void)object.post(Begin{1});
        (void)object.handleQueued();
        if (isStopped) {
            object.stop();
        }
    };
    run(true);
    EXPECT_DEATH(run(false), "call stop\\(\\) before, which destroys them");
}

/// Ends while replies come.
TEST(AwaitedReplyThreadTest, AnObjectEndsBesideReplies) {
    const test::Watchdog watchdog([](std::FILE*) {});
    Running<Talking> replier;
    for (int round = 0; round < 200; ++round) {
        Running<Talking> object;
        object.other = &replier;
        for (int i = 0; i < 8; ++i) {
            ASSERT_EQ(object.post(Begin{1000000}), SendResult::ok);
        }
        while (object.replies < round) {
            std::this_thread::yield();
        }
    }
}

TEST(AwaitedReplyThreadTest, ObjectsOnAPoolAskEachOther) {
    const test::Watchdog watchdog([](std::FILE*) {});
    ThreadPool pool(2);
    std::vector<std::unique_ptr<Running<PooledTalking>>> objects;
    constexpr std::size_t count = 20;
    constexpr int rounds = 200;
    for (std::size_t i = 0; i < count; ++i) {
        objects.push_back(std::make_unique<Running<PooledTalking>>(pool));
    }
    for (std::size_t i = 0; i < count; ++i) {
        objects[i]->other = objects[(i + 1) % count].get();
    }
    for (const auto& object : objects) {
        ASSERT_EQ(object->post(Begin{rounds}), SendResult::ok);
    }
    for (const auto& object : objects) {
        while (object->replies < rounds) {
            std::this_thread::yield();
        }
    }
}

}  // namespace
}  // namespace sluice
