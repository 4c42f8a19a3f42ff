#include "support/crew.hpp"
#include "support/watchdog.hpp"

#include <sluice/event/callback_list.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>

// The work that a removal has finished when it returns. Other threads and other lists do not change
// this.

namespace sluice {
namespace {

using List = CallbackList<void()>;

void waitFor(const std::atomic<bool>& flag) {
    while (!flag.load(std::memory_order_acquire)) {
        std::this_thread::yield();
    }
}

/// Its destructor takes until somebody says so.
struct SlowEnd {
    std::atomic<bool>& isEnding;
    std::atomic<bool>& mayEnd;
    ~SlowEnd() {
        isEnding.store(true, std::memory_order_release);
        waitFor(mayEnd);
    }
};

TEST(CallbackListWaitTest, WaitsForTheEndOfACallbackThatAnotherThreadRemoved) {
    const test::Watchdog watchdog([](std::FILE*) {});
    List list;
    std::atomic<bool> isEnding{false};
    std::atomic<bool> mayEnd{false};
    std::atomic<bool> hasReturned{false};
    const auto handle =
        list.append([kept = std::shared_ptr<SlowEnd>(new SlowEnd{isEnding, mayEnd})] {});
    std::thread remover([&] { EXPECT_TRUE(list.remove(handle)); });
    waitFor(isEnding);
    std::thread waiting([&] {
        EXPECT_FALSE(list.removeAndWait(handle)) << "the other thread has removed it";
        hasReturned.store(true, std::memory_order_release);
    });
    for (int i = 0; i < 1000; ++i) {
        std::this_thread::yield();
        EXPECT_FALSE(hasReturned.load(std::memory_order_acquire));
    }
    mayEnd.store(true, std::memory_order_release);
    waiting.join();
    remover.join();
}

TEST(CallbackListWaitTest, WaitInTheDestructorOfTheCallbackItselfReturns) {
    const test::Watchdog watchdog([](std::FILE*) {});
    List list;
    List::Handle handle;
    bool hasRemoved = true;
    struct Waiting {
        List& list;
        List::Handle& handle;
        bool& hasRemoved;
        ~Waiting() { hasRemoved = list.removeAndWait(handle); }
    };
    handle =
        list.append([kept = std::shared_ptr<Waiting>(new Waiting{list, handle, hasRemoved})] {});
    EXPECT_TRUE(list.remove(handle));
    EXPECT_FALSE(hasRemoved);
}

// The thread whose call ends destroys Y, which another thread has removed, and waits there for a
// mutex of the thread that waits for X.
TEST(CallbackListWaitTest, WaitsForNoDestructorOfAnotherCallback) {
    const test::Watchdog watchdog([](std::FILE*) {});
    List list;
    std::mutex mutex;
    std::atomic<bool> isInside{false};
    std::atomic<bool> mayLeave{false};
    struct Locking {
        std::mutex& mutex;
        ~Locking() { const std::lock_guard<std::mutex> guard(mutex); }
    };
    const auto running = list.append([&] {
        isInside.store(true, std::memory_order_release);
        waitFor(mayLeave);
    });
    const auto x = list.append([] {});
    const auto y = list.append([kept = std::shared_ptr<Locking>(new Locking{mutex})] {});
    std::thread caller([&] { list(); });
    waitFor(isInside);
    EXPECT_TRUE(list.remove(y));
    {
        const std::lock_guard<std::mutex> guard(mutex);
        mayLeave.store(true, std::memory_order_release);
        EXPECT_TRUE(list.removeAndWait(x));
    }
    caller.join();
    EXPECT_TRUE(list.ownsHandle(running));
}

TEST(CallbackListWaitTest, RemovalsOfAnotherThreadFromAnotherListDelayNoEnd) {
    std::atomic<bool> isOver{false};
    std::atomic<bool> isBusy{false};
    std::thread other([&] {
        List busy;
        for (int i = 0; !isOver.load(std::memory_order_acquire); ++i) {
            busy();
            busy.remove(busy.append([] {}));
            isBusy.store(i > 1000, std::memory_order_release);
        }
    });
    waitFor(isBusy);
    int alive = 0;
    for (int i = 0; i < 200; ++i) {
        List idle;
        const auto captured = std::make_shared<int>(i);
        idle.remove(idle.append([captured] {}));
        alive += captured.use_count() == 1 ? 0 : 1;
    }
    EXPECT_EQ(alive, 0);
    isOver.store(true, std::memory_order_release);
    other.join();
}

}  // namespace
}  // namespace sluice
