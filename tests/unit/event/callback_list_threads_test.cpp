#include "support/crew.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"

#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>

#include "support/testing.hpp"
#include <thread>

// Lists that share nothing do not disturb each other, whatever their callbacks do.

namespace sluice {
namespace {

using List = CallbackList<void()>;

/// A thread that calls a list, in a callback that it leaves when it is told to.
template <class L>
class BlockedCall {
public:
    explicit BlockedCall(L& list)
        : handle_(list.append([this] {
              isInside_ = true;
              test::awaitThat([this] { return mayLeave_.load(); });
          })),
          thread_([&list] { list(); }) {
        test::awaitThat([this] { return isInside_.load(); });
    }
    BlockedCall(const BlockedCall&) = delete;
    BlockedCall& operator=(const BlockedCall&) = delete;
    ~BlockedCall() { end(); }

    const typename L::Handle& handle() const { return handle_; }

    void allowToLeave() { mayLeave_ = true; }
    void end() {
        allowToLeave();
        if (thread_.joinable()) {
            thread_.join();
        }
    }

private:
    std::atomic<bool> isInside_{false};
    std::atomic<bool> mayLeave_{false};
    typename L::Handle handle_;
    std::thread thread_;
};

class CallbackListNeighboursTest : public testing::Test {
protected:
    List::Handle appendOwner(List& list) const {
        return list.append([kept = captured] {});
    }
    long owned() const { return captured.use_count() - 1; }

    const test::Watchdog watchdog{[](std::FILE*) {}};
    const std::shared_ptr<int> captured = std::make_shared<int>(0);
};

TEST_F(CallbackListNeighboursTest, RemovedCallbacksGoAtOnceWhileAnotherListIsCalled) {
    List blocked;
    List list;
    const BlockedCall call(blocked);
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(list.remove(appendOwner(list)));
        ASSERT_EQ(owned(), 0) << i;
    }
    EXPECT_EQ(list.removedSizeApprox(), 0U);
}

/// The time is that of the test, and heavy fences are counted.
struct CountedFences : StdPlatform {
    struct Clock : std::chrono::steady_clock {
        inline static std::atomic<std::chrono::nanoseconds::rep> time{0};
        static time_point now() noexcept { return time_point(std::chrono::nanoseconds(time)); }
    };
    struct Fence : StdPlatform::Fence {
        inline static std::atomic<int> count{0};
        static void heavy() noexcept {
            ++count;
            StdPlatform::Fence::heavy();
        }
    };
};
struct CountedPolicies : DefaultPolicies {
    struct Threading : MultipleThreading {
        using Platform = CountedFences;
    };
};

TEST_F(CallbackListNeighboursTest, RemovalsDuringManyCallsShareFences) {
    CallbackList<void(), CountedPolicies> list;
    CountedFences::Clock::time = 1'000'000'000;
    const auto removeDuringACall = [this](auto& called) {
        BlockedCall call(called);
        CountedFences::Fence::count = 0;
        EXPECT_TRUE(called.remove(called.append([kept = captured] {})));
        EXPECT_TRUE(called.remove(call.handle()));
        call.end();
        return CountedFences::Fence::count.load();
    };
    EXPECT_GT(removeDuringACall(list), 0);
    EXPECT_EQ(owned(), 0) << "the first ones go at the end of the call";
    for (int i = 1; i < 10; ++i) {
        EXPECT_EQ(removeDuringACall(list), 0);
        EXPECT_EQ(owned(), i);
    }
    CountedFences::Clock::time += 200'000;
    list.append([] {});
    list();
    EXPECT_EQ(owned(), 0);

    auto own = std::make_unique<CallbackList<void(), CountedPolicies>>();
    own->append([&, kept = captured] {
        own->remove(own->append([] {}));  // a period has begun
        own.reset();
    });
    (*own)();
    EXPECT_EQ(owned(), 0) << "a list that ends in its own call";

    struct OneEvent : EventDispatcher<int, void(), CountedPolicies> {
        Handle append(Callback callback) { return appendListener(1, std::move(callback)); }
        bool remove(const Handle& handle) { return removeListener(1, handle); }
        void operator()() { dispatch(1); }
    } event;
    EXPECT_GT(removeDuringACall(event), 0);
    EXPECT_EQ(removeDuringACall(event), 0);
    EXPECT_EQ(owned(), 1);
    EXPECT_EQ(event.trimEvents(), 1U);
    EXPECT_EQ(owned(), 0);
}

TEST_F(CallbackListNeighboursTest, BlockedCallKeepsAndCountsWhatItsOwnListRemoved) {
    List list;
    BlockedCall call(list);
    for (int i = 0; i < 1000; ++i) {
        EXPECT_TRUE(list.remove(appendOwner(list)));
    }
    EXPECT_EQ(owned(), 1000);
    EXPECT_EQ(list.removedSizeApprox(), 1000U);
    call.end();
    EXPECT_EQ(owned(), 0);
    EXPECT_EQ(list.removedSizeApprox(), 0U);
}

TEST_F(CallbackListNeighboursTest, OverlappingCallsLetRemovedCallbacksGo) {
    List list;
    // At any time one of two threads is inside: each leaves when the other one has entered.
    std::atomic<unsigned> entered{0};
    std::atomic<bool> isOver{false};
    list.append([&] {
        const unsigned own = ++entered;
        test::awaitThat([&] { return entered != own || isOver; });
    });
    test::Crew crew;
    for (int i = 0; i < 2; ++i) {
        crew.add([&] {
            while (!isOver) {
                list();
            }
        });
    }
    crew.start();
    test::awaitThat([&] { return entered > 1; });
    EXPECT_TRUE(list.remove(appendOwner(list)));
    test::awaitThat([&] { return owned() == 0; });
    isOver = true;
}

TEST_F(CallbackListNeighboursTest, RemoveAndWaitInsideItsOwnCallDoesNotWaitForItself) {
    List list;
    List::Handle handle;
    handle = list.append([&, kept = captured] {
        EXPECT_TRUE(list.removeAndWait(handle));
        EXPECT_EQ(owned(), 1) << "it is running";
    });
    std::thread([&] { list(); }).join();
    EXPECT_EQ(owned(), 0);
}

TEST_F(CallbackListNeighboursTest, RemoveAndWaitInsideACallOfAnotherListWaits) {
    List outer;
    List list;
    BlockedCall call(list);
    const auto handle = call.handle();
    outer.append([&] {
        call.allowToLeave();
        EXPECT_TRUE(list.removeAndWait(handle));
        EXPECT_TRUE(list.empty());
    });
    outer();
}

// ---- The work that a removal has finished when it returns. Other threads and other lists do not
// change this.

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
    struct NeedsTheMutex {
        std::mutex& mutex;
        ~NeedsTheMutex() { const std::lock_guard<std::mutex> guard(mutex); }
    };
    const auto running = list.append([&] {
        isInside.store(true, std::memory_order_release);
        waitFor(mayLeave);
    });
    const auto x = list.append([] {});
    const auto y =
        list.append([kept = std::shared_ptr<NeedsTheMutex>(new NeedsTheMutex{mutex})] {});
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

// clear() has removed both. The destructor of the first waits for a thread that waits for the
// second one.
TEST(CallbackListWaitTest, ThreadThatWaitsForACallbackDestroysIt) {
    const test::Watchdog watchdog([](std::FILE*) {});
    List list;
    List::Handle second;
    struct Joining {
        std::function<void()> wait;
        ~Joining() { std::thread(wait).join(); }
    };
    const auto captured = std::make_shared<int>(0);
    const auto wait = [&] {
        EXPECT_FALSE(list.removeAndWait(second));
        EXPECT_EQ(captured.use_count(), 1);
    };
    list.append([kept = std::shared_ptr<Joining>(new Joining{wait})] {});
    second = list.append([captured] {});
    list.clear();
}

TEST(CallbackListClearTest, RemovalsAndInsertionsMayMeetIt) {
    CallbackList<void()> list;
    const auto captured = std::make_shared<int>(0);
    std::atomic<bool> isOver{false};
    test::Crew crew;
    crew.add([&] {
        while (!isOver) {
            list.clear();
        }
    });
    crew.add([&] {
        while (!isOver) {
            list();
        }
    });
    crew.start();
    const std::size_t rounds = test::scaled(2000);
    for (std::size_t round = 0; round < rounds; ++round) {
        std::vector<CallbackList<void()>::Handle> handles;
        for (int i = 0; i < 20; ++i) {
            handles.push_back(list.append([captured] {}));
        }
        list.insert([captured] {}, handles[10]);
        for (const auto& handle : handles) {
            list.remove(handle);
        }
        EXPECT_FALSE(handles[5]);
        list.removeAndWait(handles[7]);
    }
    isOver = true;
    crew.join();
    list.clear();
    EXPECT_EQ(captured.use_count(), 1);
    EXPECT_EQ(list.removedSizeApprox(), 0U);
    list.append([captured] {});
    list();
    EXPECT_EQ(captured.use_count(), 2);
}

}  // namespace
}  // namespace sluice
