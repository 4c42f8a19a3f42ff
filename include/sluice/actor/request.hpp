#pragma once

#include <sluice/actor/detail/handler_wait.hpp>
#include <sluice/base/assert.hpp>
#include <sluice/base/expected.hpp>
#include <sluice/base/on_exit.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/bus/messages.hpp>
#include <sluice/wait/park.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace sluice::detail {

/// The current time of a manual executor, or of Clock if `executor` is null.
template <class Clock>
typename Clock::time_point timeOf(const HandlerWait* executor) {
    if constexpr (std::is_same_v<typename Clock::time_point, HandlerWait::TimePoint>) {
        if (executor != nullptr) {
            return executor->now();
        }
    }
    return Clock::now();
}

/// A callback that wakes a waiting coroutine. Called at most once per wait.
class Waker {
public:
    Waker(const Waker&) = delete;
    Waker& operator=(const Waker&) = delete;

    void wake() noexcept { wake_(*this); }

protected:
    explicit Waker(void (*function)(Waker&) noexcept) noexcept : wake_(function) {}
    ~Waker() = default;

private:
    void (*const wake_)(Waker&) noexcept;
};

/// The state that a request and its future share. The second call of drop() frees the state.
template <class Traits, class Reply>
class ReplyCell {
    template <class T>
    using Atomic = typename Traits::Platform::template Atomic<T>;

public:
    using Value = std::conditional_t<std::is_void_v<Reply>, std::monostate, Reply>;
    enum class State : unsigned char { waiting, replied, cancelled };

    ReplyCell() = default;
    ReplyCell(const ReplyCell&) = delete;
    ReplyCell& operator=(const ReplyCell&) = delete;

    // ---- The request: calls either reply() or cancel(), once

    template <class... Args>
    void reply(Args&&... args) {
        value_.emplace(std::forward<Args>(args)...);
        end(State::replied);
    }
    void cancel() noexcept { end(State::cancelled); }

    /// Returns true if the future still exists.
    [[nodiscard]] bool isAwaited() const noexcept {
        return users_.load(std::memory_order_relaxed) == 2;  // hint
    }

    // ---- The future

    [[nodiscard]] State state() const noexcept {
        const void* const state = state_.load(std::memory_order_acquire);  // E1 reply
        return state == mark(State::replied)     ? State::replied
               : state == mark(State::cancelled) ? State::cancelled
                                                 : State::waiting;
    }
    template <class TimePoint>
    void awaitUntil(TimePoint deadline) {
        (void)changed_.waitUntil([this] { return state() != State::waiting; }, deadline);
    }
    /// Registers a waker until detach(). Returns false if state() is `replied` or `cancelled`.
    [[nodiscard]] bool attach(Waker& waker) noexcept {
        void* expected = mark(State::waiting);
        return state_.compare_exchange_strong(expected, &waker,
                                              std::memory_order_release,   // E3 waker
                                              std::memory_order_relaxed);  // hint
    }
    /// Removes the waker, which may then be destroyed. Returns false if the waker has been called.
    bool detach(Waker& waker) {
        void* expected = &waker;
        // Relaxed: value only.
        if (state_.compare_exchange_strong(expected, mark(State::waiting),
                                           std::memory_order_relaxed, std::memory_order_relaxed)) {
            return true;
        }
        changed_.wait([this] { return isWakerDone_.load(std::memory_order_acquire); });  // E4 woken
        return false;
    }
    /// Requires that state() is `replied`.
    [[nodiscard]] Value& value() noexcept { return *value_; }

    // ---- The end of a request or a future

    /// The request and the future each call drop() once.
    void drop() noexcept {
        if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) {  // E2 drop
            delete this;
        }
    }

private:
    // Happens-before edges (table: docs/algorithms/actors.md):
    //   E1 reply: end -> state.
    //   E2 drop: drop -> drop.
    //   E3 waker: attach -> end.
    //   E4 woken: end -> detach.

    ~ReplyCell() = default;

    [[nodiscard]] void* mark(State state) const noexcept {
        return const_cast<char*>(&marks_[static_cast<unsigned char>(state)]);
    }

    void end(State state) noexcept {
        void* const before = state_.exchange(mark(state), std::memory_order_acq_rel);  // E1, E3
        if (before != mark(State::waiting)) {
            static_cast<Waker*>(before)->wake();
            isWakerDone_.store(true, std::memory_order_release);  // E4 woken
        }
        changed_.notifyAll();
        drop();
    }

    char marks_[3]{};  ///< the address of marks_[s] stands for State s
    /// The address of an element of marks_, or of the future's waker.
    Atomic<void*> state_{&marks_[0]};
    Atomic<bool> isWakerDone_{false};
    Atomic<unsigned> users_{2};
    std::optional<Value> value_;
    typename Traits::Wait changed_;
};

}  // namespace sluice::detail

/// \file
/// Request and Future: a thread queries an active object, and receives a reply or an error.
///
///     struct CurrentSpeed {};
///     using SpeedRequest = sluice::Request<CurrentSpeed, double>;
///     class Motor : public sluice::ActiveObject<Motor, sluice::Messages<SpeedRequest>> {
///     public:
///         void handle(const SpeedRequest& request) { request.reply(speed_); }
///     private: double speed_ = 0;
///     };
///     auto future = motor.request<double>(CurrentSpeed{}, std::chrono::milliseconds(100));
///     const auto speed = future.get();
///     use(speed ? *speed : 0);  // without a reply, speed.error() is a RequestError
///
/// Use a request if a thread waits for the reply; otherwise, let the object post the reply.
///
/// Thread safety: one thread at a time may use a Request or a Future, which may also be moved to
/// another thread. reply() never waits. get() waits until the reply, the cancellation or the
/// deadline. If objects wait for each other in a cycle, each wait ends at its deadline.
///
/// Errors: a request that is destroyed without a reply is cancelled, for example if its handler
/// threw. std::bad_alloc and exceptions from moving the question or the reply propagate.
///
/// Performance: one allocation per request.

namespace sluice {

struct RequestTraits {
    using Platform = StdPlatform;
    using Wait = Park;
};

/// The reason why a request has no reply.
enum class RequestError : unsigned char {
    full,       ///< the object's mailbox was full
    closed,     ///< the object was stopped, or is an unstarted PooledObject
    ownObject,  ///< a handler sent the request to its own object, which cannot wait for itself
    cancelled,  ///< the request was discarded, or handled without a reply
    timedOut,   ///< the deadline passed; a later reply is dropped
};

[[nodiscard]] constexpr const char* toString(RequestError error) noexcept {
    switch (error) {
    case RequestError::full:
        return "full";
    case RequestError::closed:
        return "closed";
    case RequestError::ownObject:
        return "ownObject";
    case RequestError::cancelled:
        return "cancelled";
    case RequestError::timedOut:
        return "timedOut";
    }
    return "unknown RequestError";
}

template <class Traits, class Question, class Reply>
class BasicRequest;

/// A reply that may arrive later. The destructor abandons the reply.
template <class Traits, class Reply>
class [[nodiscard]] BasicFuture {
    using Cell = detail::ReplyCell<Traits, Reply>;
    using TimePoint = typename Traits::Wait::Clock::time_point;

public:
    explicit BasicFuture(RequestError error) noexcept : error_(error) {}

    BasicFuture(BasicFuture&& other) noexcept
        : cell_(std::exchange(other.cell_, nullptr)),
          deadline_(other.deadline_),
          executor_(other.executor_),
          error_(other.error_) {}
    BasicFuture& operator=(BasicFuture&& other) noexcept {
        BasicFuture taken(std::move(other));  // its destructor abandons the old reply of *this
        std::swap(cell_, taken.cell_);
        std::swap(deadline_, taken.deadline_);
        std::swap(executor_, taken.executor_);
        std::swap(error_, taken.error_);
        return *this;
    }
    ~BasicFuture() {
        if (cell_ != nullptr) {
            cell_->drop();
        }
    }

    /// Returns true if get() would not wait.
    [[nodiscard]] bool isReady() const noexcept {
        return cell_ == nullptr || cell_->state() != Cell::State::waiting;
    }

    [[nodiscard]] bool attach(detail::Waker& waker) noexcept {
        return cell_ != nullptr && cell_->attach(waker);
    }
    bool detach(detail::Waker& waker) { return cell_->detach(waker); }
    /// Converts the future's deadline to another clock, whose current time is `now`.
    template <class OtherTimePoint>
    [[nodiscard]] OtherTimePoint deadlineFrom(OtherTimePoint now) const {
        if (deadline_ == TimePoint::max()) {
            return OtherTimePoint::max();
        }
        if (isReady()) {
            return now;  // does not read *executor_, which may already be destroyed
        }
        const TimePoint here = detail::timeOf<typename Traits::Wait::Clock>(executor_);
        return deadlineAfter(now, std::max(deadline_, here) - here);
    }

    /// Waits for the reply until the deadline. After `timedOut`, get() may be called again, because
    /// the reply may still arrive. get() returns the reply only once.
    Expected<Reply, RequestError> get() {
        if constexpr (std::is_same_v<TimePoint, detail::HandlerWait::TimePoint>) {
            if (executor_ != nullptr && !isReady()) {
                (void)executor_->runUntil([this] { return isReady(); }, deadline_);
                return poll();
            }
        }
        if (!isReady()) {
            detail::HandlerWait::beforeWaitInHandler();
            cell_->awaitUntil(deadline_);
        }
        return poll();
    }

    /// Like get(), but returns `timedOut` instead of waiting.
    Expected<Reply, RequestError> poll() {
        if (cell_ == nullptr) {
            SLUICE_ASSERT(error_ != noError, "a future gives its reply out once");
            return Unexpected(error_);
        }
        if (cell_->state() == Cell::State::waiting) {
            return Unexpected(RequestError::timedOut);
        }
        if (cell_->state() == Cell::State::cancelled) {
            return Unexpected(RequestError::cancelled);
        }
        const detail::OnExit drop{[this] { std::exchange(cell_, nullptr)->drop(); }};
        if constexpr (std::is_void_v<Reply>) {
            return {};
        } else {
            return Expected<Reply, RequestError>(std::in_place, std::move(cell_->value()));
        }
    }

private:
    template <class T, class Question, class R>
    friend class BasicRequest;

    static constexpr auto noError = static_cast<RequestError>(255);

    BasicFuture(Cell& cell, TimePoint deadline, detail::HandlerWait* executor) noexcept
        : cell_(&cell), deadline_(deadline), executor_(executor) {}

    Cell* cell_ = nullptr;
    TimePoint deadline_{};
    detail::HandlerWait* executor_ = nullptr;  ///< the clock of deadline_; null for Wait::Clock
    RequestError error_ = noError;             ///< the result of poll() if cell_ is null
};

/// A message that contains a question to an active object.
template <class Traits, class Question, class Reply>
class BasicRequest {
    using Cell = detail::ReplyCell<Traits, Reply>;

public:
    using Future = BasicFuture<Traits, Reply>;
    using TimePoint = typename Traits::Wait::Clock::time_point;

    BasicRequest(BasicRequest&& other) noexcept(std::is_nothrow_move_constructible_v<Question>)
        : question(std::move(other.question)), cell_(std::exchange(other.cell_, nullptr)) {}
    BasicRequest& operator=(BasicRequest&&) = delete;
    ~BasicRequest() {
        if (cell_ != nullptr) {
            cell_->cancel();
        }
    }

    /// Posts a request by calling post(BasicRequest&&), which returns a SendResult. `executor` is
    /// the object's manual executor, or null.
    template <class Post>
    static Future make(Question&& question, TimePoint deadline, Post post,
                       detail::HandlerWait* executor = nullptr) {
        BasicRequest request(std::move(question));
        request.cell_ = new Cell;
        Future future(*request.cell_, deadline, executor);
        switch (post(std::move(request))) {
        case SendResult::ok:
            return future;
        case SendResult::closed:
            return Future(RequestError::closed);
        case SendResult::full:
            break;
        }
        return Future(RequestError::full);
    }

    /// Sends a reply constructed from the arguments. After reply() or take(), does nothing and
    /// returns false.
    template <class... Args>
    bool reply(Args&&... args) const {
        if (cell_ == nullptr) {
            return false;
        }
        cell_->reply(std::forward<Args>(args)...);
        cell_ = nullptr;
        return true;
    }

    /// Returns false if no future can receive the reply, so that a handler may skip the work.
    [[nodiscard]] bool isAwaited() const noexcept { return cell_ != nullptr && cell_->isAwaited(); }

    /// Moves the request out of the handled message, so that the reply can be sent later.
    [[nodiscard]] BasicRequest take() const {
        BasicRequest result(std::move(question));
        result.cell_ = std::exchange(cell_, nullptr);
        return result;
    }

    // The members of a request are mutable, because handlers receive const references to messages.
    mutable Question question;

private:
    // Allocates no ReplyCell, because it would leak if moving the question threw.
    explicit BasicRequest(Question&& q) : question(std::move(q)) {}

    mutable Cell* cell_ = nullptr;  ///< null after reply(), take() or a move
};

template <class Question, class Reply>
using Request = BasicRequest<RequestTraits, Question, Reply>;
template <class Reply>
using Future = BasicFuture<RequestTraits, Reply>;

}  // namespace sluice

namespace sluice::detail {

/// Adds request() to an object that has `tryPost`, `isHere` and `manualExecutor`.
template <class Object>
class Requesting {
public:
    /// Posts a Request<Question, Reply>, which must be one of the object's Messages, and returns
    /// the future of the reply. request() never waits for a free slot. If the object runs on a
    /// ManualExecutor, `deadline` uses the clock of that executor.
    template <class Reply, class Question, class Options = PublishOptions>
    Future<Reply> request(Question question, StdPlatform::Clock::time_point deadline,
                          const Options& options = {}) {
        using Message = Request<Question, Reply>;
        auto& object = static_cast<Object&>(*this);
        if (object.isHere()) {
            return Future<Reply>(RequestError::ownObject);
        }
        return Message::make(
            std::move(question), deadline,
            [&](Message&& message) { return object.tryPost(std::move(message), options); },
            object.manualExecutor());
    }
    template <class Reply, class Question, class Rep, class Period, class Options = PublishOptions>
    Future<Reply> request(Question question, std::chrono::duration<Rep, Period> timeout,
                          const Options& options = {}) {
        const auto now = timeOf<StdPlatform::Clock>(static_cast<Object&>(*this).manualExecutor());
        return request<Reply>(std::move(question), deadlineAfter(now, timeout), options);
    }
};

}  // namespace sluice::detail
