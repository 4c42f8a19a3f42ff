#pragma once

#include <sluice/actor/detail/awaited_posting.hpp>
#include <sluice/actor/detail/coroutine_scheduler.hpp>
#include <sluice/actor/request.hpp>
#include <sluice/base/assert.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/wait/park.hpp>

#if defined(__cpp_impl_coroutine)

#include <coroutine>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

namespace sluice {

namespace detail {

template <class Object, class... Args>
class CoroutinePromise;

/// The awaiter of a Future.
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

/// The awaiter of awaitPost().
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
    ~AwaitedPost() { post_.object.roomWaiters().end(wait_); }

    // The language requires these names.
    // NOLINTBEGIN(readability-identifier-naming)
    bool await_ready() { return isPosted(); }
    bool await_suspend(std::coroutine_handle<> /*coroutine*/) {
        if (isDone()) {
            return false;
        }
        this->begin(deadline_);
        return true;
    }
    SendResult await_resume() {
        if (isWithoutRoom(result_)) {
            (void)isPosted();  // the last attempt, at the deadline
        }
        return result_;
    }
    // NOLINTEND(readability-identifier-naming)

private:
    /// Posts the message. Returns false if the mailbox was full.
    bool isPosted() {
        result_ = post_.object.tryPost(std::move(post_.message), post_.options);
        return !isWithoutRoom(result_);
    }
    bool isDone() override {
        for (;;) {
            const std::uint32_t seen = post_.object.roomWaiters().notifications();
            if (isPosted()) {
                return true;
            }
            if (post_.object.roomWaiters().add(wait_, seen)) {
                return false;
            }
        }
    }
    bool giveUp() override { return post_.object.roomWaiters().remove(wait_); }

    PostToAwait<Target, T> post_;
    const typename Scheduler::TimePoint deadline_;
    SendResult result_ = SendResult::full;
    RoomWaiters<StdPlatform>::Wait wait_{*this};
};

}  // namespace detail

/// The return type of an object's coroutine (C++20). While a coroutine waits, its object handles
/// other messages. The destructor destroys a coroutine that was not started.
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
/// Use a coroutine if a handler must wait for a reply, or for a free slot in another mailbox. A
/// coroutine is a member function of an object whose traits set maxCoroutines. A coroutine must
/// take its arguments by value. A handler starts a coroutine with run(). The coroutine continues on
/// the object's thread, between two handlers.
///
/// co_await `request<Reply>(question, timeout)` returns an Expected<Reply, RequestError>. co_await
/// `awaitPost(message, timeout)` returns a SendResult; the traits of the receiving object must set
/// awaitedPosts. Timeouts use the clock of the coroutine's object.
///
/// Errors: run() returns false if the object is closed, or if Traits::maxCoroutines coroutines
/// exist. An exception of a coroutine counts as an exception of a handler. The object destroys
/// waiting coroutines before it calls `ended()`. With g++ 12, an unnamed aggregate in a co_await
/// expression is destroyed twice, so give the message a name or a constructor.
///
/// Performance: allocates one frame per coroutine and one block per request.
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

    /// For ActiveObject::run() and PooledObject::run().
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
