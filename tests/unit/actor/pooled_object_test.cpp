#include "support/sanitizers.hpp"
#include "support/watchdog.hpp"
#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/actor/thread_pool.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using Numbers = std::vector<int>;

struct Number {
    int value;
};
struct Fail {};
struct PostOn {
    int left;
};
using Kept = std::shared_ptr<int>;

class Recorder : public PooledObject<Recorder, Messages<Number, Fail, PostOn, Kept>> {
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
    void handle(const PostOn& message) {
        EXPECT_FALSE(join());
        EXPECT_FALSE(stopInHandler && stopAfterDrain(std::chrono::steady_clock::now()));
        if (message.left != 0) {
            EXPECT_EQ(post(PostOn{message.left - 1}), SendResult::ok);
        }
        ++hops;
    }
    void handle(const Kept&) {}
    void handlerFailed(const std::exception_ptr&) noexcept { ++told; }

    Numbers numbers;
    Numbers senders;
    int hops = 0;
    int told = 0;
    bool isInside = false;
    bool stopInHandler = false;
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

TEST(PooledObjectTest, AnObjectThatWasDrainedBeforeItsStartDoesNotStart) {
    ManualExecutor executor;
    Recorder object;
    EXPECT_FALSE(object.stopAfterDrain(test::late()));
    EXPECT_FALSE(object.start(executor));
    EXPECT_EQ(object.post(Number{1}), SendResult::closed);
    EXPECT_TRUE(object.join());
}

TEST(PooledObjectTest, IdleObjectEndsWhenItIsStopped) {
    ManualExecutor executor;
    Recorder object;
    ASSERT_TRUE(object.start(executor));
    object.stop();
    EXPECT_FALSE(object.hasEnded());
    EXPECT_EQ(executor.runAll(), 1U);
    EXPECT_TRUE(object.hasEnded());
}

TEST(PooledObjectTest, MayBeStoppedByItsHandler) {
    ManualExecutor executor;
    Running<Recorder> object(executor);
    object.stopInHandler = true;
    EXPECT_EQ(object.post(PostOn{0}), SendResult::ok);
    executor.runAll();
    EXPECT_TRUE(object.hasEnded());
    EXPECT_EQ(object.hops, 1);
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

using namespace test::names;

class Familiar : public PooledObject<Familiar, test::names::All> {
public:
    void handle(const Message&) { ++handled; }
    void handle(const State&) { ++handled; }
    void handle(const Task&) { ++handled; }
    void handle(const Alarm&) { ++handled; }
    void handle(const Mailbox&) { ++handled; }
    int handled = 0;
};

TEST(PooledObjectTest, TakesNoNamesAwayFromAProgram) {
    ManualExecutor executor;
    Running<Familiar> object(executor);
    EXPECT_EQ(object.post(Message{}), SendResult::ok);
    EXPECT_EQ(object.post(Alarm{}), SendResult::ok);
    EXPECT_EQ(executor.runAll(), 1U);
    EXPECT_EQ(object.handled, 2);
}

}  // namespace
}  // namespace sluice
