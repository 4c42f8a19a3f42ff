#include "support/crew.hpp"
#include "support/watchdog.hpp"
#include "unit/event/event_queue_suites.hpp"

#include <sluice/event/event_queue.hpp>
#include <sluice/eventpp/any_data.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

// Coroutines that wait for events.

namespace sluice {
namespace {

using namespace test;

/// A coroutine that begins at once. Its frame goes when it ends, or with the Task.
class Task {
public:
    // The names that the language wants.
    // NOLINTBEGIN(readability-identifier-naming)
    struct promise_type {
        Task get_return_object() {
            return Task(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    // NOLINTEND(readability-identifier-naming)

    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
    ~Task() {
        if (handle_) {
            handle_.destroy();
        }
    }

    bool isDone() const { return handle_.done(); }

private:
    explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

    std::coroutine_handle<promise_type> handle_;
};

using Numbers = std::vector<int>;

template <class Queue>
Task collect(Queue& queue, Numbers& seen) {
    while (const auto event = co_await queue.next()) {
        seen.push_back(event->template getArgument<0>());
    }
    seen.push_back(-1);
}

template <class Policies>
class EventQueueNextTest : public testing::Test {
protected:
    using Queue = EventQueue<int, void(int), Policies>;
    Queue queue_;
    Numbers seen_;
};
TYPED_TEST_SUITE(EventQueueNextTest, CommonQueuePolicies, QueuePolicyNames);

TYPED_TEST(EventQueueNextTest, TakesWhatIsThereWithoutWaiting) {
    this->queue_.enqueue(1, 10);
    this->queue_.enqueue(2, 20);
    this->queue_.close();
    const Task task = collect(this->queue_, this->seen_);
    EXPECT_TRUE(task.isDone());
    EXPECT_EQ(this->seen_, (Numbers{10, 20, -1}));
    EXPECT_TRUE(this->queue_.emptyQueue());
}

TYPED_TEST(EventQueueNextTest, GoesOnWithinEnqueue) {
    const Task task = collect(this->queue_, this->seen_);
    EXPECT_EQ(this->seen_, Numbers{});
    this->queue_.enqueue(1, 10);
    EXPECT_EQ(this->seen_, (Numbers{10}));
    this->queue_.enqueue(1, 11);
    EXPECT_EQ(this->seen_, (Numbers{10, 11}));
    EXPECT_FALSE(this->queue_.process()) << "there is nothing left for others";
    EXPECT_FALSE(task.isDone());
    this->queue_.close();
    EXPECT_TRUE(task.isDone());
    EXPECT_EQ(this->seen_, (Numbers{10, 11, -1}));
}

TYPED_TEST(EventQueueNextTest, ThoseWhoWaitAreServedInOrder) {
    Numbers others;
    const Task first = collect(this->queue_, this->seen_);
    const Task second = collect(this->queue_, others);
    for (int i = 0; i < 4; ++i) {
        this->queue_.enqueue(1, i);
    }
    EXPECT_EQ(this->seen_, (Numbers{0, 2}));
    EXPECT_EQ(others, (Numbers{1, 3}));
    this->queue_.close();
    EXPECT_TRUE(first.isDone());
    EXPECT_TRUE(second.isDone());
}

TYPED_TEST(EventQueueNextTest, SleepsOnWhileNotificationIsDisabled) {
    const Task task = collect(this->queue_, this->seen_);
    {
        const typename TestFixture::Queue::DisableQueueNotify outer(&this->queue_);
        {
            const typename TestFixture::Queue::DisableQueueNotify inner(&this->queue_);
            this->queue_.enqueue(1, 1);
            this->queue_.enqueue(1, 2);
        }
        EXPECT_EQ(this->seen_, Numbers{});
    }
    EXPECT_EQ(this->seen_, (Numbers{1, 2}));
}

TYPED_TEST(EventQueueNextTest, HearsOfEventsThatAreGivenBack) {
    std::optional<Task> task;
    this->queue_.appendListener(1, [&](int) { task.emplace(collect(this->queue_, this->seen_)); });
    this->queue_.enqueue(1, 1);
    this->queue_.enqueue(2, 2);
    bool isAnyProcessed = this->queue_.processIf([](int number) { return number == 1; });
    EXPECT_TRUE(isAnyProcessed);
    EXPECT_EQ(this->seen_, (Numbers{2}));
}

TYPED_TEST(EventQueueNextTest, EndsWhenTheLastEventHasBeenDealtWith) {
    std::optional<Task> task;
    this->queue_.appendListener(1, [&](int) {
        this->queue_.close();
        task.emplace(collect(this->queue_, this->seen_));
        EXPECT_FALSE(task->isDone()) << "this event may come back";
    });
    this->queue_.enqueue(1, 1);
    EXPECT_TRUE(this->queue_.process());
    ASSERT_TRUE(task.has_value());
    EXPECT_TRUE(task->isDone());
    EXPECT_EQ(this->seen_, (Numbers{-1}));
}

TYPED_TEST(EventQueueNextTest, CoroutineThatIsDestroyedWaitsNoMore) {
    Numbers others;
    const Task first = collect(this->queue_, others);
    {
        const Task gone = collect(this->queue_, this->seen_);
        const Task goneToo = collect(this->queue_, this->seen_);
    }
    const Task last = collect(this->queue_, others);
    for (int i = 0; i < 3; ++i) {
        this->queue_.enqueue(1, i);
    }
    EXPECT_EQ(others, (Numbers{0, 1, 2}));
    EXPECT_EQ(this->seen_, Numbers{});
}

TYPED_TEST(EventQueueNextTest, CoroutineMayAddToTheQueueItTakesFrom) {
    const Task task = [](auto& queue, Numbers& seen) -> Task {
        while (const auto event = co_await queue.next()) {
            seen.push_back(event->event);
            if (event->event < 3) {
                queue.enqueue(event->event + 1, 0);
            }
        }
    }(this->queue_, this->seen_);
    this->queue_.enqueue(0, 0);
    EXPECT_EQ(this->seen_, (Numbers{0, 1, 2, 3}));
}

TYPED_TEST(EventQueueNextTest, ResumesWhereItIsTold) {
    std::vector<std::coroutine_handle<>> ready;
    const Task task = [](auto& queue, auto& handles, Numbers& seen) -> Task {
        const auto resume = [&handles](std::coroutine_handle<> handle) {
            handles.push_back(handle);
        };
        while (const auto event = co_await queue.next(resume)) {
            seen.push_back(event->event);
        }
    }(this->queue_, ready, this->seen_);
    this->queue_.enqueue(5, 0);
    EXPECT_EQ(this->seen_, Numbers{});
    EXPECT_TRUE(this->queue_.emptyQueue()) << "the event is the coroutine's already";
    ASSERT_EQ(ready.size(), 1U);
    ready[0].resume();
    EXPECT_EQ(this->seen_, (Numbers{5}));
}

TYPED_TEST(EventQueueNextTest, ArgumentsAreMovedAndNeverCopied) {
    EventQueue<int, void(const std::unique_ptr<int>&), TypeParam> queue;
    int sum = 0;
    const Task task = [](auto& source, int& total) -> Task {
        while (const auto event = co_await source.next()) {
            total += *std::get<0>(event->arguments);
        }
    }(queue, sum);
    queue.enqueue(1, std::make_unique<int>(4));
    queue.enqueue(1, std::make_unique<int>(5));
    EXPECT_EQ(sum, 9);
}

TYPED_TEST(EventQueueNextTest, GivesAnyDataOut) {
    EventQueue<int, void(const AnyData<16>&), TypeParam> queue;
    int sum = 0;
    const Task task = [](auto& source, int& total) -> Task {
        while (const auto event = co_await source.next()) {
            total += std::get<0>(event->arguments).template get<int>();
        }
    }(queue, sum);
    queue.enqueue(1, 4);
    EXPECT_EQ(sum, 4);
}

#if defined(__cpp_exceptions)
TEST(EventQueueNextDeathTest, ResumeThatThrowsEndsTheProgram) {
    EventQueue<int, void(int)> queue;
    const Task task = [](auto& source) -> Task {
        (void)co_await source.next([](std::coroutine_handle<>) { throw std::bad_alloc(); });
    }(queue);
    EXPECT_DEATH((void)queue.enqueue(1, 10), "bad_alloc");
}
#endif

TYPED_TEST(EventQueueNextTest, QueueMayGoBeforeACoroutineThatWasDestroyedInTime) {
    std::optional<typename TestFixture::Queue> queue(std::in_place);
    const Task task = collect(*queue, this->seen_);
    queue.reset();
    EXPECT_FALSE(task.isDone());
}

template <class Policies>
class SharedEventQueueNextTest : public testing::Test {};
TYPED_TEST_SUITE(SharedEventQueueNextTest, CommonSharedQueuePolicies, QueuePolicyNames);

TYPED_TEST(SharedEventQueueNextTest, EachEventIsTakenOnceWhoeverAddsIt) {
    constexpr int each = 3000;
    EventQueue<int, void(int), TypeParam> queue;
    std::vector<std::atomic<int>> taken(std::size_t{3} * each);
    const Watchdog watchdog{[](std::FILE*) {}};
    const auto consume = [](auto& source, auto& counts) -> Task {
        while (const auto event = co_await source.next()) {
            ++counts.at(std::size_t(event->template getArgument<0>()));
        }
    };
    const Task first = consume(queue, taken);
    const Task second = consume(queue, taken);
    queue.appendListener(1, [&taken](int number) { ++taken.at(std::size_t(number)); });
    {
        Crew crew;
        for (int self = 0; self < 3; ++self) {
            crew.add([&queue, self] {
                for (int i = 0; i < each; ++i) {
                    EXPECT_TRUE(queue.enqueue(1, self * each + i));
                    if (self == 0) {
                        (void)queue.processIf([](int number) { return number % 2 == 0; });
                    }
                }
            });
        }
    }
    queue.close();
    EXPECT_TRUE(first.isDone());
    EXPECT_TRUE(second.isDone());
    for (const auto& count : taken) {
        ASSERT_EQ(count.load(), 1);
    }
}

}  // namespace
}  // namespace sluice
