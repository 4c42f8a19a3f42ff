#pragma once

#include <sluice/actor/detail/awaited_posting.hpp>
#include <sluice/actor/detail/coroutine_scheduler.hpp>
#include <sluice/actor/request.hpp>
#include <sluice/base/assert.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/wait/event_count.hpp>

#if defined(__cpp_impl_coroutine)

#include <coroutine>
#include <exception>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace sluice {

namespace detail {

template <class Object, class... Args>
class CoroutinePromise;

/// A reply that a coroutine awaits.
template <class Scheduler, class Traits, class Reply>
class AwaitedFuture final : private Scheduler::Waiting {
public:
    AwaitedFuture(Scheduler& scheduler, CoroutineFrame& frame, typename Scheduler::TimePoint now,
                  BasicFuture<Traits, Reply>&& future) noexcept
        : Scheduler::Waiting(scheduler, frame),
          future_(std::move(future)),
          deadline_(future_.deadlineFrom(now)) {}
    AwaitedFuture(const AwaitedFuture&) = delete;
    AwaitedFuture& operator=(const AwaitedFuture&) = delete;
    ~AwaitedFuture() { detach(); }

    // The language requires these names.
    // NOLINTBEGIN(readability-identifier-naming)
    bool await_ready() const noexcept { return future_.isReady(); }
    bool await_suspend(std::coroutine_handle<> /*coroutine*/) noexcept {
        isAttached_ = future_.attach(*this);
        if (isAttached_) {
            this->begin(deadline_);
        }
        return isAttached_;
    }
    Expected<Reply, RequestError> await_resume() {
        detach();
        return future_.poll();
    }
    // NOLINTEND(readability-identifier-naming)

private:
    bool isDone() override { return true; }
    bool giveUp() override { return detach(); }
    /// Returns false if another thread has woken the coroutine.
    bool detach() { return !std::exchange(isAttached_, false) || future_.detach(*this); }

    BasicFuture<Traits, Reply> future_;
    const typename Scheduler::TimePoint deadline_;
    bool isAttached_ = false;
};

/// A post that a coroutine awaits.
template <class Scheduler, class Target, class T>
class AwaitedPost final : private Scheduler::Waiting {
public:
    AwaitedPost(Scheduler& scheduler, CoroutineFrame& frame, typename Scheduler::TimePoint now,
                PostToAwait<Target, T>&& post) noexcept
        : Scheduler::Waiting(scheduler, frame),
          post_(std::move(post)),
          deadline_(deadlineAfter(now, post_.timeout)) {}
    AwaitedPost(const AwaitedPost&) = delete;
    AwaitedPost& operator=(const AwaitedPost&) = delete;
    ~AwaitedPost() { detach(); }

    // The language requires these names.
    // NOLINTBEGIN(readability-identifier-naming)
    bool await_ready() { return isPosted(); }
    bool await_suspend(std::coroutine_handle<> /*coroutine*/) {
        if (!waitsForRoom()) {
            return false;
        }
        this->begin(deadline_);
        return true;
    }
    SendResult await_resume() {
        detach();
        if (isWithoutRoom(result_)) {
            // Once more: a thread that is stopped in room() may have kept the news of room.
            (void)isPosted();
        }
        return result_;
    }
    // NOLINTEND(readability-identifier-naming)

private:
    /// Posts the message. Returns false if there was no room.
    bool isPosted() {
        result_ = post_.object.tryPost(std::move(post_.message), post_.options);
        return !isWithoutRoom(result_);
    }
    /// Attaches to room(). Returns false if a post has a result meanwhile.
    bool waitsForRoom() {
        do {
            room_.emplace(post_.object.room());
            if (isPosted()) {
                return false;
            }
            isAttached_ = room_->attach(*this);
        } while (!isAttached_);  // there has been room
        return true;
    }
    bool isDone() override {
        detach();
#if defined(__cpp_exceptions)
        try {
            return isPosted() || !waitsForRoom();
        } catch (const std::bad_alloc&) {
            return true;  // there is no memory for another wait; await_resume() tries once more
        }
#else
        return isPosted() || !waitsForRoom();
#endif
    }
    bool giveUp() override { return detach(); }
    /// Returns false if another thread has woken the coroutine.
    bool detach() { return !std::exchange(isAttached_, false) || room_->detach(*this); }

    PostToAwait<Target, T> post_;
    const typename Scheduler::TimePoint deadline_;
    SendResult result_ = SendResult::full;
    std::optional<Future<void>> room_;
    bool isAttached_ = false;
};

}  // namespace detail

/// Lets a handler wait while its object handles other messages. For C++20.
///
///     struct Awaits : sluice::ActorTraits { static constexpr std::size_t maxCoroutines = 8; };
///     class Robot : public sluice::ActiveObject<Robot, sluice::Messages<Plan>, Awaits> {
///     public:
///         void handle(const Plan& plan) { (void)run(follow(plan)); }
///     private:
///         sluice::Coroutine follow(Plan plan) {
///             const auto speed = co_await motor_.request<double>(CurrentSpeed{}, 100ms);
///             if (speed) co_await motor_.awaitPost(Speed{*speed / 2}, 10ms);
///         }
///     };
///
/// Use it for a handler that needs a reply, or room in another object's mailbox. Future::get() in a
/// handler would make the thread of the object or of the pool wait.
///
/// A coroutine is a member function of an object whose traits set maxCoroutines. It takes its
/// arguments by value, because the message is destroyed when the handler returns. `run(coroutine)`
/// starts it in a handler. It continues on the object's own thread, between two handlers, so the
/// members need no lock. The object handles other messages while the coroutine waits.
///
/// g++ 12 destroys a message twice that is made within the expression of co_await, if it is an
/// aggregate that owns memory. Give it a name before, or a constructor.
///
/// A coroutine can await two things. `request<Reply>(question, timeout)` gives an Expected<Reply,
/// RequestError>. `awaitPost(message, timeout)` of an object whose traits set awaitedPosts gives a
/// SendResult. After the timeout the results are `timedOut`, and `full` or `refused`. The clock
/// of the coroutine's object measures the timeouts. `awaitPost` tries several times, and the
/// statistics of the target count each try without room as a refused post.
///
/// Progress: no thread waits. A thread that is stopped inside reply() delays the object that the
/// reply wakes. If the memory of an executor is used up, a post waits until its object has handled
/// a message, or until the timeout.
///
/// Capacity: an object has at most Traits::maxCoroutines coroutines. At this limit, and for a
/// closed object, run() returns false and does nothing. Allocation: the frame of each coroutine,
/// one block for each request, and two for each wait for room. Exceptions: an exception that leaves
/// a coroutine is a failure of the object, like an exception that leaves a handler.
///
/// Shutdown: stop() and stopAfterDrain() do not wait for coroutines. The object's thread destroys
/// the waiting coroutines before it calls `ended()`.
///
/// Tests: tests/cpp20/coroutine_test.cpp, tests/cpp20/awaited_room_test.cpp,
/// tests/model/coroutine_scheduler_model_test.cpp.
///
/// The result of a coroutine of an object. Its destructor ends a coroutine that was not started.
class [[nodiscard]] Coroutine {
public:
    Coroutine(Coroutine&& other) noexcept
        : frame_(std::exchange(other.frame_, nullptr)), scheduler_(other.scheduler_) {}
    Coroutine& operator=(Coroutine&&) = delete;
    ~Coroutine() {
        if (frame_ != nullptr) {
            frame_->destroy(*frame_);
        }
    }

    /// Passes the coroutine on to run() of its object.
    detail::CoroutineFrame& release([[maybe_unused]] const void* scheduler) noexcept {
        SLUICE_ASSERT(scheduler == scheduler_, "an object runs its own coroutines");
        return *std::exchange(frame_, nullptr);
    }

private:
    template <class Object, class... Args>
    friend class detail::CoroutinePromise;
    Coroutine(detail::CoroutineFrame& frame, const void* scheduler) noexcept
        : frame_(&frame), scheduler_(scheduler) {}

    detail::CoroutineFrame* frame_;
    const void* scheduler_;
};

namespace detail {

template <class Object, class... Args>
class CoroutinePromise : public CoroutineFrame {
    static_assert((!std::is_reference_v<Args> && ...),
                  "a coroutine takes its arguments by value: a message goes when its handler "
                  "returns");
    using Handle = std::coroutine_handle<CoroutinePromise>;
    using Scheduler =
        std::remove_reference_t<decltype(coroutineSchedulerOf(std::declval<Object&>()))>;

public:
    template <class... Any>
    explicit CoroutinePromise(Object& object, Any&&...) noexcept
        : CoroutineFrame{&resumeHere, &destroyHere}, object_(object) {}

    // The language requires these names.
    // NOLINTBEGIN(readability-identifier-naming)
    Coroutine get_return_object() noexcept { return Coroutine(*this, &scheduler()); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { failure_ = std::current_exception(); }

    template <class Traits, class Reply>
    auto await_transform(BasicFuture<Traits, Reply>&& future) {
        return AwaitedFuture<Scheduler, Traits, Reply>(scheduler(), *this, object_.coroutineClock(),
                                                       std::move(future));
    }
    template <class Target, class T>
    auto await_transform(PostToAwait<Target, T>&& post) {
        return AwaitedPost<Scheduler, Target, T>(scheduler(), *this, object_.coroutineClock(),
                                                 std::move(post));
    }
    // NOLINTEND(readability-identifier-naming)

private:
    Scheduler& scheduler() noexcept { return coroutineSchedulerOf(object_); }

    static bool resumeHere(CoroutineFrame& frame) {
        auto& self = static_cast<CoroutinePromise&>(frame);
        const Handle coroutine = Handle::from_promise(self);
        coroutine.resume();
        if (!coroutine.done()) {
            return false;
        }
        const std::exception_ptr failure = std::move(self.failure_);
        coroutine.destroy();
        if (failure) {
            std::rethrow_exception(failure);
        }
        return true;
    }
    static void destroyHere(CoroutineFrame& frame) noexcept {
        Handle::from_promise(static_cast<CoroutinePromise&>(frame)).destroy();
    }

    Object& object_;
    std::exception_ptr failure_;
};

}  // namespace detail

}  // namespace sluice

template <class Object, class... Args>
struct std::coroutine_traits<sluice::Coroutine, Object&, Args...> {
    // The language requires this name.
    // NOLINTNEXTLINE(readability-identifier-naming)
    using promise_type = sluice::detail::CoroutinePromise<Object, Args...>;
};

#endif
