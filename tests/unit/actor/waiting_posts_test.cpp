#include "support/crew.hpp"
#include "support/watchdog.hpp"
#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/active_object.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/actor/thread_pool.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <thread>

// Posts that wait for room, and posts that are refused at once.

namespace sluice {
namespace {

using namespace test;

struct Blocks : ActorTraits {
    static constexpr std::size_t depth = 4;
    static constexpr std::array<Overflow, priorityCount> overflow{
        Overflow::block, Overflow::block, Overflow::block};
};

/// Fills the mailbox of another object until it has no room.
class Flooding : public ActiveObject<Flooding, Messages<int>, Blocks> {
public:
    void handle(const int& /*number*/) {
        while (other->post(0) == SendResult::ok) {
        }
        isRefused = true;
    }
    Flooding* other = nullptr;
    std::atomic<bool> isRefused{false};
};

// Each one's mailbox is full, and each one posts to the other: with waits neither would go on.
TEST(WaitingPostsTest, TwoObjectsWithFullMailboxesGoOn) {
    const Watchdog watchdog([](std::FILE*) {});
    Flooding first;
    Flooding second;
    first.other = &second;
    second.other = &first;
    ASSERT_EQ(first.post(0), SendResult::ok);
    ASSERT_EQ(second.post(0), SendResult::ok);
    ASSERT_TRUE(first.start());
    ASSERT_TRUE(second.start());
    while (!first.isRefused || !second.isRefused) {
        std::this_thread::yield();
    }
    first.stop();
    second.stop();
    EXPECT_TRUE(first.join());
    EXPECT_TRUE(second.join());
}

/// Its handler posts to an object whose mailbox is full and whose thread is held.
class PooledFlooding : public PooledObject<PooledFlooding, Messages<int>> {
public:
    explicit PooledFlooding(Keeper<Blocks>& full) : full_(full) {}
    void handle(const int& /*number*/) {
        while (full_.post(Add{0}) == SendResult::ok) {
        }
        EXPECT_NE(full_.postFor(std::chrono::hours(1), Add{0}), SendResult::ok);
    }

private:
    Keeper<Blocks>& full_;
};

TEST(WaitingPostsTest, NoThreadOfAPoolWaits) {
    const Watchdog watchdog([](std::FILE*) {});
    ThreadPool pool(1);
    Running<Keeper<Blocks>> full;
    ASSERT_EQ(full.post(Hold{}), SendResult::ok);
    full.awaitHeld();
    {
        Running<PooledFlooding> object(pool, full);
        ASSERT_EQ(object.post(0), SendResult::ok);
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

TEST(WaitingPostsTest, AnObjectThatFillsItsMailboxBeforeItsStartDoesNotHang) {
    const Watchdog watchdog([](std::FILE*) {});
    Running<Eager> object;
    EXPECT_GT(object.posted, 0U);
    EXPECT_NE(object.last, SendResult::ok);
    EXPECT_TRUE(object.stopAfterDrain(late()));
    EXPECT_EQ(object.statistics().total().delivered, object.posted);
}

TEST(WaitingPostsTest, AnObjectWhoseThreadWasRefusedStillDoesNotHang) {
    const Watchdog watchdog([](std::FILE*) {});
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

TEST(WaitingPostsTest, PostForWaitsForAPooledObjectOutsideOfHandlers) {
    const Watchdog watchdog([](std::FILE*) {});
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

TEST(WaitingPostsTest, APostThatWaitsCountsOnceInThePool) {
    const Watchdog watchdog([](std::FILE*) {});
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
TEST(WaitingPostsTest, OtherThreadsWaitForRoom) {
    const Watchdog watchdog([](std::FILE*) {});
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

}  // namespace
}  // namespace sluice
