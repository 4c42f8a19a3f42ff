#include "support/crew.hpp"
#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/active_object.hpp>
#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/manual_traits.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/request.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/actor/thread_pool.hpp>

#include "support/testing.hpp"
#include <exception>
#include <thread>

namespace sluice {
namespace {
namespace posts {

using namespace test;
using Log = std::vector<std::string>;

using ActiveObjectTest = test::GuardedTest;
TEST_F(ActiveObjectTest, EveryWayToPostAndPrioritiesArriveWithTheirHeader) {
    Keeper<> keeper;
    ASSERT_EQ(keeper.post(Note{"a"}, Priority::low), SendResult::ok);
    ASSERT_EQ(keeper.emplace<Note>(Note{"b"}), SendResult::ok);
    ASSERT_EQ(keeper.emplaceWith<Note>(Priority::low, Note{"c"}), SendResult::ok);
    ASSERT_EQ(keeper.tryPost(Note{"d"}, Priority::high), SendResult::ok);
    ASSERT_EQ(keeper.postFor(std::chrono::seconds(1), Note{"e"}, Priority::medium), SendResult::ok);
    ASSERT_EQ(keeper.post(Note{"f"}, {Priority::high, 7}), SendResult::ok);
    EXPECT_EQ(keeper.sizeApprox(), 6U);
    ASSERT_TRUE(keeper.start());
    EXPECT_TRUE(keeper.stopAfterDrain(late()));
    EXPECT_TRUE(keeper.join());
    EXPECT_EQ(keeper.log, (Log{"d high", "f high", "b medium", "e medium", "a low", "c low"}));
}

TEST_F(ActiveObjectTest, FullMailboxRefusesAndLeavesTheMessageToThePoster) {
    Keeper<Holds<8>> keeper;  // rooms of 4, 6 and 8
    EXPECT_EQ(keeper.capacity(), 18U);
    for (int i = 0; i < 6; ++i) {
        ASSERT_EQ(keeper.post(Add{i}), SendResult::ok);
    }
    Note note{"a text that is too long to lie in the string object itself"};
    EXPECT_EQ(keeper.post(std::move(note)), SendResult::full);
    EXPECT_EQ(keeper.tryPost(std::move(note)), SendResult::full);
    EXPECT_EQ(keeper.postFor(std::chrono::nanoseconds(1), std::move(note)), SendResult::full);
    EXPECT_FALSE(note.text.empty());
    EXPECT_EQ(keeper.pressure(), Pressure::full);
    EXPECT_EQ(keeper.statistics().total().full, 3U);
}

struct Bare : BasicActorTraits<BareBusTraits> {
    static constexpr std::size_t depth = 4;
};

class Counter : public ActiveObject<Counter, Messages<int>, Bare> {
public:
    void handle(const int& value) { sum += value; }
    int sum = 0;
};

TEST_F(ActiveObjectTest, WorksWithTheBareMailbox) {
    Counter counter;
    ASSERT_EQ(counter.post(4), SendResult::ok);
    ASSERT_EQ(counter.post(3), SendResult::ok);
    ASSERT_TRUE(counter.start());
    EXPECT_TRUE(counter.stopAfterDrain(late()));
    EXPECT_TRUE(counter.join());
    EXPECT_EQ(counter.sum, 7);
}

using namespace test::names;

// The bases hide no name of the program.
class Familiar : public ActiveObject<Familiar, test::names::All> {
public:
    using Named = Messages<Message, State, Task, Alarm, Mailbox>;
};
class PooledFamiliar : public PooledObject<PooledFamiliar, test::names::All> {
public:
    using Named = Messages<Message, State, Task, Alarm, Mailbox>;
};
static_assert(std::is_same_v<Familiar::Named, test::names::All>);
static_assert(std::is_same_v<PooledFamiliar::Named, test::names::All>);

}  // namespace posts

namespace limits {

using namespace std::chrono_literals;
using test::Add;
using test::Note;

struct Fragile {
    explicit Fragile(bool isBroken) {
#if defined(__cpp_exceptions)
        if (isBroken) {
            throw 1;
        }
#else
        (void)isBroken;
#endif
    }
};

template <class Base>
struct TwoAdds : Base {
    template <class Message>
    static constexpr std::uint32_t maxInFlight = std::is_same_v<Message, Add>       ? 2
                                                 : std::is_same_v<Message, Fragile> ? 1
                                                                                    : 0;
    static constexpr std::size_t maxTimers = 4;
    static constexpr bool statistics = true;
};

struct OwnTraits : ManualTraits<TwoAdds<ActorTraits>, OwnTraits> {};
struct SharedTraits : TwoAdds<PooledTraits> {};

template <template <class, class, class> class Base, class Traits>
class Limited : public Base<Limited<Base, Traits>, Messages<Note, Add, Fragile>, Traits> {
public:
    void handle(const Note& /*note*/) {}
    void handle(const Add& add) {
        sum += add.value;
#if defined(__cpp_exceptions)
        if (add.value == 100) {
            throw 1;
        }
#endif
    }
    void handle(const Fragile& /*fragile*/) {}
    int sum = 0;
};

struct OwnSubject {
    struct Object : Limited<ActiveObject, OwnTraits> {
        using ActiveObject::handleQueued;
    };
    OwnSubject() { OwnTraits::Platform::Clock::reset(); }
    ~OwnSubject() { object.stop(); }
    void handleAll() { (void)object.handleQueued(); }
    void pass(std::chrono::milliseconds time) {
        OwnTraits::Platform::Clock::advance(time);
        handleAll();
    }
    auto statistics() const { return object.statistics().total(); }
    Object object;
};
struct SharedSubject {
    void handleAll() { (void)executor.runAll(); }
    void pass(std::chrono::milliseconds time) { executor.runFor(time); }
    auto statistics() const { return object.statistics(); }
    ManualExecutor executor;
    Running<Limited<PooledObject, SharedTraits>> object{executor};
};

template <class Subject>
class InFlightTest : public testing::Test {
protected:
    Subject subject;
};
using InFlightSubjects = testing::Types<OwnSubject, SharedSubject>;
TYPED_TEST_SUITE(InFlightTest, InFlightSubjects);

TYPED_TEST(InFlightTest, OneMoreIsRefusedUntilOneHasBeenHandled) {
    auto& object = this->subject.object;
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(object.post(Add{1}), SendResult::ok);
        EXPECT_EQ(object.template emplace<Add>(Add{1}), SendResult::ok);
        EXPECT_EQ(object.post(Add{1}), SendResult::full);
        EXPECT_EQ(object.post(Add{1}, Priority::high), SendResult::full);
        EXPECT_EQ(object.tryPost(Add{1}), SendResult::full);
        EXPECT_EQ(object.post(Note{"others have none"}), SendResult::ok);
        this->subject.handleAll();
    }
    EXPECT_EQ(object.sum, 6);
    EXPECT_EQ(this->subject.statistics().full, 9U);
    object.stop();
    EXPECT_EQ(object.post(Add{1}), SendResult::closed);
    EXPECT_EQ(this->subject.statistics().closed, 1U);
}

TEST(InFlightWaitTest, APostThatMayWaitIsRefusedImmediately) {
    OwnSubject subject;
    EXPECT_EQ(subject.object.post(Add{1}), SendResult::ok);
    EXPECT_EQ(subject.object.post(Add{1}), SendResult::ok);
    EXPECT_EQ(subject.object.postFor(1h, Add{1}), SendResult::full);
    EXPECT_EQ(subject.statistics().attempted(), 3U);
}

TYPED_TEST(InFlightTest, MessagesOfTimersDoNotCount) {
    auto& object = this->subject.object;
    for (int i = 0; i < 4; ++i) {
        EXPECT_TRUE(object.postAfter(1ms, Add{1}));
    }
    this->subject.pass(1ms);
    EXPECT_EQ(object.sum, 4);
    EXPECT_EQ(object.post(Add{1}), SendResult::ok);
    EXPECT_EQ(object.post(Add{1}), SendResult::ok);
    EXPECT_EQ(object.post(Add{1}), SendResult::full);
}

#if defined(__cpp_exceptions)
TYPED_TEST(InFlightTest, WhatThrowsIsNotInFlight) {
    auto& object = this->subject.object;
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(object.post(Add{100}), SendResult::ok);
        this->subject.handleAll();
        EXPECT_THROW((void)object.template emplace<Fragile>(true), int);
    }
    EXPECT_EQ(object.template emplace<Fragile>(false), SendResult::ok);
    EXPECT_EQ(object.template emplace<Fragile>(false), SendResult::full);
}
#endif

}  // namespace limits

namespace waits {

using namespace test;

struct Blocks : ActorTraits {
    static constexpr std::size_t depth = 4;
    static constexpr std::array<Overflow, priorityCount> overflow{Overflow::block, Overflow::block,
                                                                  Overflow::block};
};

/// Fills a mailbox in its handler until there is no room.
class Flooding : public ActiveObject<Flooding, Messages<int>, Blocks> {
public:
    void handle(const int& /*number*/) {
        while (other->post(0) == SendResult::ok) {
        }
        isRefused = true;
    }
    void awaitRefusal() const {
        awaitThat([this]() -> bool { return isRefused; });
    }
    Flooding* other = nullptr;
    std::atomic<bool> isRefused{false};
};

using WaitingPostsTest = test::GuardedTest;
TEST_F(WaitingPostsTest, OneThatWouldBlockInAnOwnHandlerIsRefused) {
    Running<Flooding> object;
    object.other = &object;
    ASSERT_EQ(object.post(0), SendResult::ok);
    object.awaitRefusal();
    EXPECT_FALSE(object.isClosed());
}

TEST_F(WaitingPostsTest, NoThreadOfAPoolWaits) {
    ThreadPool pool(1);
    Running<Keeper<Blocks>> full;
    ASSERT_EQ(full.post(Hold{}), SendResult::ok);
    full.awaitHeld();
    {
        Running<Acting> object(pool, [&] {
            while (full.post(Add{0}) == SendResult::ok) {
            }
            EXPECT_NE(full.postFor(std::chrono::hours(1), Add{0}), SendResult::ok);
        });
        ASSERT_EQ(object.post(Act{}), SendResult::ok);
        EXPECT_TRUE(object.stopAfterDrain(late()));
    }
    EXPECT_GT(full.sizeApprox(), 0U);
    full.open();
}

/// Posts more to itself than there is room for, before it can have been started.
class Eager : public ActiveObject<Eager, Messages<int>, Blocks> {
public:
    Eager() {
        while (post(0) == SendResult::ok) {
            ++posted;
        }
        last = postFor(std::chrono::hours(1), 0);
    }
    void handle(const int& /*number*/) {}

    std::size_t posted = 0;
    SendResult last = SendResult::ok;
};

TEST_F(WaitingPostsTest, AnObjectThatFillsItsMailboxBeforeItsStartDoesNotHang) {
    Running<Eager> object;
    EXPECT_GT(object.posted, 0U);
    EXPECT_NE(object.last, SendResult::ok);
    EXPECT_TRUE(object.stopAfterDrain(late()));
    EXPECT_EQ(object.statistics().total().delivered, object.posted);
}

TEST_F(WaitingPostsTest, AnObjectWhoseThreadWasRefusedStillDoesNotHang) {
    Eager object;
    ThreadOptions options;
    options.name = "a name that is too long for a thread";
#if defined(__cpp_exceptions)
    EXPECT_ANY_THROW(object.start(options));
#endif
    EXPECT_NE(object.post(0), SendResult::ok);
    object.stop();
}

struct TellsRoom : PooledTraits {
    static constexpr std::uint32_t depth = 4;
    static constexpr bool awaitedPosts = true;
    static constexpr bool statistics = true;
};
class Narrow : public PooledObject<Narrow, Messages<int>, TellsRoom> {
public:
    void handle(const int& number) {
        while (number == 0 && !isOpen) {
            std::this_thread::yield();
        }
        (void)postFor(std::chrono::hours(1), 2);  // here it does not wait
        ++handled;
    }
    std::atomic<bool> isOpen{false};
    std::atomic<int> handled{0};
};

TEST_F(WaitingPostsTest, PostForWaitsForAPooledObjectOutsideOfHandlers) {
    ThreadPool pool(1);
    Running<Narrow> object(pool);
    while (object.post(0) == SendResult::ok) {
    }
    EXPECT_NE(object.postFor(std::chrono::milliseconds(1), 1), SendResult::ok);
    std::thread poster([&] {
        for (int i = 0; i < 100; ++i) {
            EXPECT_EQ(object.postFor(std::chrono::hours(1), 1), SendResult::ok);
        }
    });
    object.isOpen = true;
    poster.join();
    object.stop();
    EXPECT_EQ(object.postFor(std::chrono::hours(1), 1), SendResult::closed);
}

TEST_F(WaitingPostsTest, APostThatWaitsCountsOnceInThePool) {
    ThreadPool pool(1);
    Running<Narrow> object(pool);
    while (object.post(0) == SendResult::ok) {
    }
    const std::uint64_t before = object.statistics().full;
    for (int i = 0; i < 10; ++i) {
        EXPECT_NE(object.postFor(std::chrono::milliseconds(0), 1), SendResult::ok);
        EXPECT_NE(object.postFor(std::chrono::milliseconds(1), 1), SendResult::ok);
    }
    EXPECT_EQ(object.statistics().full, before + 20);
    object.isOpen = true;
    object.stop();
    awaitThat([&] { return object.hasEnded(); });
    // Its handler posts, too.
    const std::uint64_t closed = object.statistics().closed;
    EXPECT_EQ(object.postFor(std::chrono::hours(1), 1), SendResult::closed);
    EXPECT_EQ(object.statistics().closed, closed + 1);
}

// From outside of handlers, after the start, `block` waits as it says.
TEST_F(WaitingPostsTest, OtherThreadsWaitForRoom) {
    Running<Keeper<Blocks>> object;
    ASSERT_EQ(object.post(Hold{}), SendResult::ok);
    object.awaitHeld();
    while (object.tryPost(Add{0}) == SendResult::ok) {
    }
    EXPECT_NE(object.postFor(std::chrono::milliseconds(1), Add{1}), SendResult::ok);
    std::thread poster([&] { EXPECT_EQ(object.post(Add{1}), SendResult::ok); });
    object.open();
    poster.join();
}

}  // namespace waits
namespace pooled {

using namespace std::chrono_literals;
using Numbers = std::vector<int>;

struct Number {
    int value;
};
struct Fail {};
using Kept = std::shared_ptr<int>;

class Recorder : public PooledObject<Recorder, Messages<Number, Fail, Kept>> {
public:
    void handle(const Number& number, const Header& header) {
        numbers.push_back(number.value);
        senders.push_back(static_cast<int>(header.sender));
        isInside = isHere();
    }
    void handle(const Fail&) {
#if defined(__cpp_exceptions)
        throw 1;
#endif
    }
    void handle(const Kept&) {}
    void handlerFailed(const std::exception_ptr&) noexcept { ++told; }

    Numbers numbers;
    Numbers senders;
    int told = 0;
    bool isInside = false;
};

TEST(PooledObjectTest, HandlesInOrderHighPriorityFirst) {
    ManualExecutor executor;
    Running<Recorder> object(executor);
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(object.post(Number{i}), SendResult::ok);
        EXPECT_EQ(object.post(Number{10 + i}, {Priority::high, 7}), SendResult::ok);
    }
    EXPECT_EQ(object.tryPost(Number{5}, Priority::low), SendResult::ok);
    EXPECT_EQ(object.emplaceWith<Number>(Priority::low, Number{6}), SendResult::ok);
    EXPECT_EQ(object.sizeApprox(), 12U);
    EXPECT_EQ(executor.readyCount(), 1U);
    EXPECT_EQ(executor.runAll(), 1U);
    EXPECT_EQ(object.numbers, (Numbers{10, 11, 12, 13, 14, 0, 1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(object.senders, (Numbers{7, 7, 7, 7, 7, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_TRUE(object.isInside);
    EXPECT_FALSE(object.isHere());
    EXPECT_EQ(object.sizeApprox(), 0U);
    EXPECT_EQ(object.statistics().handled, 12U);
}

TEST(PooledObjectTest, TheRoomsOfABusLimitItsMailbox) {
    ManualExecutor executor;
    Running<Recorder> object(executor);
    int count = 0;
    for (const auto& [priority, limit] :
         {std::pair(Priority::low, 153), {Priority::medium, 204}, {Priority::high, 256}}) {
        for (; count < limit; ++count) {
            ASSERT_EQ(object.post(Number{count}, priority), SendResult::ok);
        }
        EXPECT_EQ(object.post(Number{0}, priority), SendResult::full);
    }
    EXPECT_EQ(executor.runAll(), 256U / 32 + 1) << "batches, and a look";
    EXPECT_EQ(object.numbers.size(), 256U);
}

TEST(PooledObjectTest, MemoryOfTheExecutorIsALimit) {
    ExecutorOptions options;
    options.maxMessages = 2;
    ManualExecutor executor(0, options);
    Running<Recorder> object(executor);
    const auto kept = std::make_shared<int>(1);
    EXPECT_EQ(object.post(kept), SendResult::ok);
    EXPECT_EQ(object.post(kept), SendResult::ok);
    EXPECT_EQ(object.post(kept), SendResult::full);
    EXPECT_EQ(kept.use_count(), 3);
    executor.runAll();
    EXPECT_EQ(kept.use_count(), 1);
    EXPECT_EQ(object.post(kept), SendResult::ok);
}

TEST(PooledObjectTest, StopDiscardsAndDrainHandles) {
    ManualExecutor executor;
    for (const bool isDrained : {false, true}) {
        Recorder object;
        EXPECT_EQ(object.post(Number{1}), SendResult::closed) << "not started";
        ASSERT_TRUE(object.start(executor));
        EXPECT_FALSE(object.start(executor));
        EXPECT_EQ(object.post(Number{1}), SendResult::ok);
        if (isDrained) {
            EXPECT_TRUE(object.stopAfterDrain(std::chrono::steady_clock::now() + 1h));
        } else {
            object.stop();
        }
        EXPECT_EQ(object.post(Number{2}), SendResult::closed);
        object.stop();
        EXPECT_TRUE(object.join());
        EXPECT_TRUE(object.join());
        EXPECT_EQ(object.statistics().handled, isDrained ? 1U : 0U);
        EXPECT_EQ(object.statistics().discarded, isDrained ? 0U : 1U);
        EXPECT_FALSE(object.start(executor));
    }
}

TEST(PooledObjectTest, ItsHandlerMayStopItAndNeitherWaitsNorJoins) {
    ManualExecutor executor;
    Running<test::Acting> object(executor, [&] {
        EXPECT_FALSE(object.join());
        EXPECT_FALSE(object.stopAfterDrain(test::late()));
    });
    EXPECT_EQ(object.post(test::Act{}), SendResult::ok);
    executor.runAll();
    EXPECT_TRUE(object.hasEnded());
}

#if defined(__cpp_exceptions)
TEST(PooledObjectTest, HandlerThatThrowsIsCountedAndTold) {
    ManualExecutor executor;
    Running<Recorder> object(executor);
    EXPECT_EQ(object.post(Fail{}), SendResult::ok);
    EXPECT_EQ(object.post(Number{1}), SendResult::ok);
    executor.runAll();
    EXPECT_EQ(object.told, 1);
    EXPECT_EQ(object.statistics().failed, 1U);
    EXPECT_EQ(object.statistics().handled, 2U);
    EXPECT_EQ(object.numbers, Numbers{1});
}

struct StopsOnFailure : PooledTraits {
    static constexpr OnFailure onFailure = OnFailure::stop;
};
class Fragile : public PooledObject<Fragile, Messages<Fail>, StopsOnFailure> {
public:
    void handle(const Fail&) { throw 1; }
};

TEST(PooledObjectTest, FailureMayStopTheObject) {
    ManualExecutor executor;
    Running<Fragile> object(executor);
    EXPECT_EQ(object.post(Fail{}), SendResult::ok);
    EXPECT_EQ(object.post(Fail{}), SendResult::ok);
    executor.runAll();
    EXPECT_TRUE(object.hasEnded());
    EXPECT_EQ(object.statistics().discarded, 1U);
}

struct ThrowsWhenCopied {
    ThrowsWhenCopied() = default;
    ThrowsWhenCopied(const ThrowsWhenCopied&) { throw 1; }
};
class Copies : public PooledObject<Copies, Messages<ThrowsWhenCopied>> {
public:
    void handle(const ThrowsWhenCopied&) {}
};

TEST(PooledObjectTest, MessageThatCannotBeCopiedTakesNoRoom) {
    ExecutorOptions options;
    options.maxMessages = 1;
    ManualExecutor executor(0, options);
    Running<Copies> object(executor);
    const ThrowsWhenCopied message;
    for (int i = 0; i < 3; ++i) {
        EXPECT_THROW((void)object.post(message), int);
    }
    EXPECT_EQ(object.sizeApprox(), 0U);
}
#endif

TEST(PooledObjectTest, IdleObjectTakesAtMost256Bytes) {
    class Empty : public PooledObject<Empty, Messages<Number>> {
    public:
        void handle(const Number&) {}
    };
    EXPECT_LE(sizeof(Empty), 256U);
}

TEST(PooledObjectDeathTest, IsNotDestroyedBeforeItHasEnded) {
    const auto destroy = [] {
        ThreadPool pool(1);
        Recorder object;
        (void)object.start(pool);
    };
    EXPECT_DEATH(destroy(), "call stop\\(\\) and join\\(\\) before");
}

#if defined(__cpp_exceptions)
TEST(PooledObjectTest, RefusesAnExecutorWithTooLittleRoomForItsMessages) {
    ExecutorOptions options;
    options.messageSize = 16;
    ManualExecutor executor(0, options);
    Recorder object;
    EXPECT_THROW((void)object.start(executor), std::invalid_argument);
    ManualExecutor another;
    EXPECT_TRUE(object.start(another));
    object.stop();
    EXPECT_TRUE(object.join());
}
#endif

struct alignas(64) Aligned {
    unsigned char bytes[64];
};
class Aligning : public PooledObject<Aligning, Messages<Aligned>> {
public:
    void handle(const Aligned& message) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&message) % alignof(Aligned), 0U);
        ++handled;
    }
    int handled = 0;
};

TEST(PooledObjectTest, MessagesLieWhereTheirAlignmentWants) {
    ExecutorOptions options;
    options.messageSize = 256;
#if defined(__cpp_exceptions)
    ManualExecutor tooSmall(0, options);
    Aligning refused;
    EXPECT_THROW((void)refused.start(tooSmall), std::invalid_argument);
#endif
    options.messageAlignment = alignof(Aligned);
    ManualExecutor executor(0, options);
    Running<Aligning> object(executor);
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(object.post(Aligned{}), SendResult::ok);
    }
    executor.runAll();
    EXPECT_EQ(object.handled, 5);
}

}  // namespace pooled
}  // namespace
}  // namespace sluice
