#pragma once

#include <sluice/actor/actor_traits.hpp>
#include <sluice/actor/detail/awaited_posting.hpp>
#include <sluice/actor/detail/failure_handling.hpp>
#include <sluice/actor/detail/in_flight_limits.hpp>
#include <sluice/actor/detail/object_timers.hpp>
#include <sluice/actor/detail/pooled_mailbox.hpp>
#include <sluice/actor/executor.hpp>
#include <sluice/actor/handler_times.hpp>
#include <sluice/actor/request.hpp>
#include <sluice/base/assert.hpp>
#include <sluice/base/counter.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/messages.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// Plans and counts the restarts of an object on an executor. Any thread may call restarts(); only
/// the object's thread may call the other functions.
template <class Traits, bool IsOn = Traits::onFailure == OnFailure::restart>
class RestartPlan {
protected:
    using TimePoint = typename Traits::Platform::Clock::time_point;

    [[nodiscard]] static constexpr bool isRestartPlanned() noexcept { return false; }
    [[nodiscard]] static constexpr TimePoint restartTime() noexcept { return TimePoint::max(); }
    [[nodiscard]] static constexpr std::uint64_t restarts() noexcept { return 0; }
};

template <class Traits>
class RestartPlan<Traits, true> {
protected:
    using TimePoint = typename Traits::Platform::Clock::time_point;

    /// Returns false if Traits::restartLimit is reached.
    [[nodiscard]] bool planRestart(TimePoint now) {
        const auto wait = budget_.take(now);
        isPlanned_ = wait.has_value();
        time_ = isPlanned_ ? deadlineAfter(now, *wait) : TimePoint::max();
        return isPlanned_;
    }
    void restarted() noexcept {
        isPlanned_ = false;
        restarts_.add(1);
    }

    [[nodiscard]] bool isRestartPlanned() const noexcept { return isPlanned_; }
    [[nodiscard]] TimePoint restartTime() const noexcept {
        return isPlanned_ ? time_ : TimePoint::max();
    }
    [[nodiscard]] std::uint64_t restarts() const noexcept { return restarts_.get(); }

private:
    RestartBudget<Traits> budget_;
    bool isPlanned_ = false;
    TimePoint time_{};
    SingleWriterCounter<typename Traits::Platform> restarts_;
};

/// Fails to compile for traits that an object on an executor does not support.
template <class Base, class Traits>
constexpr bool arePooledTraits() noexcept {
    constexpr bool areDerived = std::is_base_of_v<Base, Traits>;
    static_assert(areDerived, "the traits of a PooledObject derive from PooledTraits; ActorTraits "
                              "are those of an ActiveObject");
    if constexpr (areDerived) {
        constexpr bool areHonoured =
            Traits::priorities && !Traits::ids && !Traits::expiry &&
            !hasPolicy<Traits>(Overflow::block) && !hasPolicy<Traits>(Overflow::dropOldest) &&
            Traits::service == Base::service &&
            Traits::rooms[0] + Traits::rooms[1] + Traits::rooms[2] == 0 &&
            Traits::producers == Base::producers && Traits::maxHandlers == Base::maxHandlers &&
            Traits::handlerSize == Base::handlerSize && Traits::weights[0] == Base::weights[0] &&
            Traits::weights[1] == Base::weights[1] && Traits::weights[2] == Base::weights[2] &&
            Traits::blockLimit == Base::blockLimit && &Traits::mayWait == &Base::mayWait &&
            Traits::maxMessageSize == Base::maxMessageSize &&
            std::is_same_v<typename Traits::Observer, typename Base::Observer> &&
            std::is_same_v<typename Traits::Wait, typename Base::Wait> &&
            std::is_same_v<typename Traits::Pacing, typename Base::Pacing>;
        static_assert(
            areHonoured,
            "a PooledObject has no ids, expiry, rooms, overflow policies, order of service, "
            "mayWait, Observer, handler tables, Wait or Pacing, and its executor limits "
            "the size of messages: its traits must not set them");
    }
    return areDerived;
}

template <class Traits>
inline constexpr bool hasAlarm =
    Traits::maxTimers != 0 || Traits::maxCoroutines != 0 || Traits::onFailure == OnFailure::restart;

/// The numbers of refused posts. Any thread may call any member. Relaxed: value only.
template <class Platform, bool IsOn>
class Refusals {
public:
    SendResult counted(SendResult result) noexcept {
        if (result != SendResult::ok) {
            (result == SendResult::closed ? closed_ : full_)
                .fetch_add(1, std::memory_order_relaxed);
        }
        return result;
    }
    [[nodiscard]] std::uint64_t full() const noexcept {
        return full_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t closed() const noexcept {
        return closed_.load(std::memory_order_relaxed);
    }

private:
    typename Platform::template Atomic<std::uint64_t> full_{0};
    typename Platform::template Atomic<std::uint64_t> closed_{0};
};

template <class Platform>
class Refusals<Platform, false> {
public:
    static SendResult counted(SendResult result) noexcept { return result; }
    [[nodiscard]] static std::uint64_t full() noexcept { return 0; }
    [[nodiscard]] static std::uint64_t closed() noexcept { return 0; }
};

/// The base class through which an executor runs an object.
template <class Traits, bool HasAlarm = hasAlarm<Traits>>
class PooledTask : protected ExecutorTask {
protected:
    using ExecutorTask::ExecutorTask;
    ~PooledTask() = default;
};
template <class Traits>
class PooledTask<Traits, true> : protected TimedExecutorTask {
protected:
    using TimedExecutorTask::TimedExecutorTask;
    ~PooledTask() = default;

    MailboxSignal<typename Traits::Platform> alarmSignal_;
    /// The time passed to Executor::setAlarm(), or time_point::min() if the alarm may have fired.
    Executor::TimePoint alarm_ = Executor::TimePoint::max();
};

/// The mailbox and the posting functions of an object on an executor.
template <class MessageList, class Traits>
class PooledPosting : public Requesting<PooledPosting<MessageList, Traits>>,
                      public AwaitedPosting<PooledPosting<MessageList, Traits>, Traits>,
                      protected PooledTask<Traits> {

public:
    /// Copies or moves a message into the mailbox, by default with medium priority. post() never
    /// waits. The parameter `options` may be a Priority.
    template <class T, class Options = PublishOptions>
    SendResult post(T&& message, const Options& options = {}) {
        return emplaceWith<std::decay_t<T>>(options, std::forward<T>(message));
    }
    template <class T, class Options = PublishOptions>
    SendResult tryPost(T&& message, const Options& options = {}) {
        return post(std::forward<T>(message), options);
    }
    /// Like post(), but waits up to `timeout` for a free slot, unless a handler calls postFor().
    template <class T, class Rep, class Period, class Options = PublishOptions>
    SendResult postFor(std::chrono::duration<Rep, Period> timeout, T&& message,
                       const Options& options = {}) {
        const auto tryNow = [&] {
            return tryOnce<std::decay_t<T>>(optionsOf<Traits>(options), std::forward<T>(message));
        };
        return refusals_.counted(this->tryFor(timeout, tryNow, manualExecutor()));
    }

    /// Posts a T constructed from the arguments. If the post is refused, the arguments are
    /// untouched, except if another thread stops the object during the call.
    template <class T, class... Args>
    SendResult emplace(Args&&... args) {
        return emplaceWith<T>(PublishOptions{}, std::forward<Args>(args)...);
    }
    template <class T, class Options = PublishOptions, class... Args>
    SendResult emplaceWith(const Options& options, Args&&... args) {
        return refusals_.counted(
            tryOnce<T>(optionsOf<Traits>(options), std::forward<Args>(args)...));
    }

    // ---- Any thread

    /// Returns true if the caller is a handler of this object.
    [[nodiscard]] bool isHere() const noexcept {
        return servedBy_.load(std::memory_order_relaxed) == Platform::thisThread();  // value only
    }
    [[nodiscard]] bool isAwake() const noexcept {
        return servedBy_.load(std::memory_order_relaxed) != nullptr;  // value only
    }
    [[nodiscard]] bool isClosed() const noexcept { return closing() != Closing::no; }
    /// Returns true if the object has ended and `Derived::ended()` has returned.
    [[nodiscard]] bool hasEnded() const noexcept {
        return mailbox_.hasEnded() && !isNotifyingEnd_.load(std::memory_order_acquire);  // E7 ended
    }
    /// The number of unhandled messages plus the number of running posts.
    [[nodiscard]] std::size_t sizeApprox() const noexcept {
        return queued_.load(std::memory_order_relaxed);  // value only
    }
    [[nodiscard]] static constexpr std::size_t capacity() noexcept { return Traits::depth; }
    /// Returns the object's ManualExecutor, or null if the object runs on another executor.
    [[nodiscard]] HandlerWait* manualExecutor() const noexcept {
        Executor* const executor = this->executor();
        return executor != nullptr && executor->isManual() ? executor : nullptr;
    }

protected:
    using Platform = typename Traits::Platform;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;
    struct MailboxMessage : MailboxNode<Platform>, PostedMessage<MessageList, Traits> {
        using PostedMessage<MessageList, Traits>::PostedMessage;
    };
    /// The closing state of an object, which changes only in the order of the enumerators.
    enum class Closing : unsigned char {
        unstarted,
        no,
        draining,
        discarding,
    };

    template <class... Functions>
    explicit PooledPosting(Functions... functions) noexcept : PooledTask<Traits>(functions...) {}
    ~PooledPosting() = default;

    [[nodiscard]] Closing closing() const noexcept {
        return closing_.load(std::memory_order_acquire);  // E6 begin
    }

    /// Null before the start.
    [[nodiscard]] Executor* executor() const noexcept {
        return executor_.load(std::memory_order_acquire);  // E6 begin
    }
    [[nodiscard]] typename Platform::Clock::time_point now() const { return executor()->now(); }

    bool begin(Executor& executor) {
        if (closing() != Closing::unstarted) {
            return false;
        }
        if constexpr (hasAlarm<Traits>) {
            executor.addAlarm(*this);
        }
        executor.addObject();
        executor_.store(&executor, std::memory_order_release);  // E6 begin
        mailbox_.begin();
        Closing before = Closing::unstarted;
        if (closing_.compare_exchange_strong(before, Closing::no,
                                             std::memory_order_release,     // E6 begin
                                             std::memory_order_relaxed)) {  // value only
            return true;
        }
        // close() ran during begin(). No message was posted, because isClosed() was never false.
        if constexpr (hasAlarm<Traits>) {
            executor.removeAlarm(*this);
        }
        executor.removeObject();
        mailbox_.cancelBegin();
        executor.notifyEnd(this);  // another thread may already be in awaitEnd()
        return false;
    }

    /// Ends the mailbox and calls atEnd(); another thread may then destroy the object. If a message
    /// has arrived, does nothing and returns false.
    template <class AtEnd>
    bool endThen(AtEnd atEnd) noexcept {
        isNotifyingEnd_.store(true, std::memory_order_relaxed);  // by E3 of PooledMailbox
        const bool isEnded = mailbox_.end();
        if (isEnded) {
            atEnd();
        }
        isNotifyingEnd_.store(false, std::memory_order_release);  // E7 ended
        return isEnded;
    }

    /// Makes posts return `closed`. Returns false for an unstarted object, which then cannot start.
    bool close(Closing how) noexcept {
        Closing before = closing();
        while (before < how &&
               !closing_.compare_exchange_weak(before, how,
                                               std::memory_order_relaxed,     // acquired before
                                               std::memory_order_acquire)) {  // E6 begin
        }
        if (before == Closing::no &&
            mailbox_.push(closingNode_) == PooledMailbox<Platform>::Pushed::first) {
            executor()->schedule(*this);
        }
        return before != Closing::unstarted;
    }

    /// Makes the object check its timers. Returns true if the caller must schedule the object.
    bool wake() noexcept { return this->alarmSignal_.send(mailbox_); }
    /// Like wake(), but also schedules the object. Does nothing in a handler of the object, because
    /// the object checks its timers after each handler.
    void wakeOwner() noexcept {
        if (!isHere() && wake()) {
            executor()->schedule(*this);
        }
    }

    void release(MailboxMessage& message) noexcept {
        message.~MailboxMessage();
        executor()->deallocate(&message);
        queued_.fetch_sub(1, std::memory_order_relaxed);  // value only
        this->notifyOneOfRoom();
    }

    struct Taken {
        bool isClosed = false;
        bool isAlarm = false;
    };
    template <class Take>
    Taken takeNew(Take take) noexcept {
        Taken taken;
        mailbox_.takeAll([&](MailboxNode<Platform>& node) {
            if (&node == &closingNode_) {
                taken.isClosed = true;
                return;
            }
            if constexpr (hasAlarm<Traits>) {
                if (this->alarmSignal_.is(node)) {
                    this->alarmSignal_.clear();
                    taken.isAlarm = true;
                    return;
                }
            }
            take(static_cast<MailboxMessage&>(node));
        });
        return taken;
    }

    // Relaxed, both: value only.
    void enter() noexcept { servedBy_.store(Platform::thisThread(), std::memory_order_relaxed); }
    void leave() noexcept {
        servedBy_.store(nullptr, std::memory_order_relaxed);
        this->notifyRoom();
    }

    PooledMailbox<Platform> mailbox_;
    HandlerBook<Traits, true> book_;
    InFlightLimits<MessageList, Traits> inFlight_;
    Refusals<Platform, Traits::statistics> refusals_;
    /// True if the consumer has seen that the object is closed; written by the consumer.
    bool isEnding_ = false;

private:
    // Happens-before edges, besides those of PooledMailbox (proof: docs/algorithms/actors.md):
    //   E6 begin: begin -> closing/executor.
    //   E7 ended: endThen -> hasEnded.

    Atomic<Closing> closing_{Closing::unstarted};
    Atomic<Executor*> executor_{nullptr};  ///< written by begin()
    /// True while `Derived::ended()` is running; written by the consumer.
    Atomic<bool> isNotifyingEnd_{false};
    /// The number of unhandled messages and running posts; written by any thread.
    Atomic<std::uint32_t> queued_{0};
    /// The thread that runs the object, or null; written by that thread.
    Atomic<const void*> servedBy_{nullptr};

    MailboxNode<Platform> closingNode_;  ///< makes the consumer see close(); pushed once

    /// The default quota of a bus; but here, messages of all priorities count towards each quota.
    static constexpr std::uint32_t limitOf(Priority priority) noexcept {
        return static_cast<std::uint32_t>(roomOf(Traits::depth, priority));
    }
    SendResult giveUp(SendResult result) noexcept {
        queued_.fetch_sub(1, std::memory_order_relaxed);  // value only
        return result;
    }

    template <class T, class... Args>
    SendResult tryOnce(const PublishOptions& options, Args&&... args) {
        static_assert(MessageList::template contains<T>,
                      "this type is not among the Messages of the object");
        if (isClosed()) {
            return SendResult::closed;
        }
        return inFlight_.template acquire<T>(
            [&] {
                if (!tryAdmit(queued_, limitOf(options.priority))) {
                    return SendResult::full;
                }
                void* const memory = executor()->tryAllocate();
                if (memory == nullptr) {
                    return giveUp(SendResult::full);
                }
                return push(*build<T>(memory, options, std::forward<Args>(args)...));
            },
            [] { return SendResult::full; });
    }

    template <class T, class... Args>
    MailboxMessage* build(void* memory, const PublishOptions& options, Args&&... args) {
        bool isBuilt = false;
        const OnExit giveBack{[&] {
            if (!isBuilt) {
                executor()->deallocate(memory);
                (void)giveUp(SendResult::closed);
                this->notifyOneOfRoom();
            }
        }};
        auto* const message = ::new (memory)
            MailboxMessage(std::in_place_type<T>, options, std::forward<Args>(args)...);
        if constexpr (MessageHeader<Traits>::hasTimeStamp) {
            message->header.timeStamp = now();
        }
        isBuilt = true;
        return message;
    }

    SendResult push(MailboxMessage& message) noexcept {
        switch (mailbox_.push(message)) {
        case PooledMailbox<Platform>::Pushed::first:
            executor()->schedule(*this);
            return SendResult::ok;
        case PooledMailbox<Platform>::Pushed::queued:
            return SendResult::ok;
        case PooledMailbox<Platform>::Pushed::refused:
            break;
        }
        return refuse(message);
    }
    /// Out of line, so that compilers inline push().
    [[gnu::cold, gnu::noinline]] SendResult refuse(MailboxMessage& message) noexcept {
        release(message);
        return SendResult::closed;
    }
};

}  // namespace sluice::detail

namespace sluice {

/// The default traits of objects on an executor. Unsupported bus settings are compile-time errors.
struct PooledTraits : BareBusTraits, ObjectTraits {
    static constexpr bool priorities = true;
    static constexpr bool senders = true;

    /// The capacity of the mailbox. Messages of low priority are refused when 60 % of the capacity
    /// is in use, and messages of medium priority when 80 % is in use.
    static constexpr std::uint32_t depth = 256;
    /// The maximum number of messages that an object handles before other objects run.
    static constexpr std::size_t batch = 32;
};

/// An object that handles its messages one at a time, on the threads of an executor. Thousands of
/// objects can share a few threads.
///
///     class Session : public sluice::PooledObject<Session, sluice::Messages<Packet, Hangup>> {
///     public:
///         void handle(const Packet& packet);
///         void handle(const Hangup&) { stop(); }
///     };
///     sluice::ThreadPool pool(2);
///     sluice::Running<Session> session(pool);
///     (void)session.post(Packet{...});
///
/// Use PooledObject for many objects whose handlers are short. Use ActiveObject for an object whose
/// handlers wait or compute for long.
///
/// Order: messages of high priority are handled first. Messages that one thread posts with the same
/// priority stay in order. The object handles at most Traits::batch messages before other objects
/// run. Due timers of high priority fire before the next message, other due timers before the next
/// batch of messages.
///
/// Thread safety: any thread and the object's own handlers may call every function. Only one thread
/// may call start() and the destructor. The object may be destroyed when it has ended or was never
/// started, but not by its own handlers: see Running.
///
/// Errors: post() never waits, and returns `full` if the mailbox is full. If a handler throws, the
/// object calls `Derived::handlerFailed(std::exception_ptr)`, if declared, and acts according to
/// Traits::onFailure. While an object waits for a restart, its thread runs other objects. At its
/// end, the object calls `Derived::ended()`, if declared.
///
/// Performance: an idle object without timers takes at most 256 bytes. Each message takes a block
/// of the executor's BlockPool.
template <class Derived, class MessageList, class Traits = PooledTraits>
class PooledObject
    : public detail::Coroutines<
          detail::Timing<detail::PooledPosting<MessageList, Traits>, MessageList, Traits>, Traits>,
      private detail::RestartPlan<Traits> {
    static constexpr bool areTraits = detail::arePooledTraits<PooledTraits, Traits>();
    using Posting = detail::PooledPosting<MessageList, Traits>;
    using Waiting = detail::Coroutines<detail::Timing<Posting, MessageList, Traits>, Traits>;
    using typename Posting::Closing;
    using typename Posting::MailboxMessage;
    using Platform = typename Traits::Platform;

public:
    using MessageTypes = MessageList;
    using Header = MessageHeader<Traits>;
    using Clock = typename Platform::Clock;
    using Posting::hasEnded;
    using Posting::isHere;

    struct Statistics {
        std::uint64_t handled = 0;    ///< handler calls, including those for timers
        std::uint64_t failed = 0;     ///< handlers that have thrown
        std::uint64_t discarded = 0;  ///< accepted messages that stop() discarded
        std::uint64_t restarts = 0;   ///< successful restarts
        // `full` and `closed` are counted only with Traits::statistics.
        std::uint64_t full = 0;    ///< posts refused because of a full mailbox or maxInFlight
        std::uint64_t closed = 0;  ///< posts to an object that was not running
    };

    PooledObject(const PooledObject&) = delete;
    PooledObject& operator=(const PooledObject&) = delete;

    // ---- Posting: post, emplace, emplaceWith, tryPost, postFor, awaitPost, see PooledPosting
    // ---- Requests: request, see Requesting
    // ---- Timers: postAfter, postAt, postEvery, postEveryFrom, cancel, firedTimers, see Timing
    // ---- Coroutines: run, resumptions, see Coroutine

    // ---- Start and end

    /// Makes the object accept messages. Returns false if the object was started or stopped before.
    bool start(Executor& executor) {
        static_assert(detail::handlesAll<Derived, Header, MessageList>,
                      "an object has a public `void handle(const T&)` or `void handle(const T&, "
                      "const Header&)` for each type of its Messages: one is missing");
        static_assert(Traits::onFailure != OnFailure::restart || detail::hasRestart<Derived>,
                      "with OnFailure::restart the class has a public `restart()`");
        static_assert(batch() != 0, "a batch is at least one message");
        if (sizeof(MailboxMessage) > executor.messageSize()) {
            setupError("size of an object's message with 32 bytes for the mailbox",
                       sizeof(MailboxMessage), executor.messageSize());
        }
        if (alignof(MailboxMessage) > executor.messageAlignment()) {
            setupError("alignment of an object's message", alignof(MailboxMessage),
                       executor.messageAlignment());
        }
        return this->begin(executor);
    }

    /// Makes posts return `closed`, and discards queued messages when the running handler returns.
    void stop() noexcept { (void)this->close(Closing::discarding); }

    /// Makes later posts return `closed`, and waits until queued messages are handled. After the
    /// deadline, or if the object was never started, calls stop() and returns false. In a handler
    /// of the object, returns false without waiting; the object ends when all messages are handled.
    bool stopAfterDrain(typename Clock::time_point deadline) {
        const bool isStarted = this->close(Closing::draining);
        if (isHere()) {
            return false;
        }
        if (!isStarted || !awaitEnd(deadline)) {
            stop();
            return false;
        }
        return this->closing() == Closing::draining;
    }

    /// Waits until the object has ended. In a handler of the object, returns false without waiting.
    bool join() { return !isHere() && awaitEnd(Clock::time_point::max()); }

    // ---- Any thread. PooledPosting has isHere(), isClosed(), hasEnded(), sizeApprox(), capacity()

    [[nodiscard]] HandlerTimes handlerTimes() const noexcept { return book_.times(); }
    /// The number of handler calls, discarded messages and resumptions, for Watchdog.
    [[nodiscard]] std::uint64_t progress() const noexcept {
        std::uint64_t progress = book_.handled() + discarded_.get();
        if constexpr (Traits::maxCoroutines != 0) {
            progress += this->resumptions();
        }
        return progress;
    }
    [[nodiscard]] Statistics statistics() const noexcept {
        return {book_.handled(),  failed_.get(),
                discarded_.get(), detail::RestartPlan<Traits>::restarts(),
                refusals_.full(), refusals_.closed()};
    }

protected:
    PooledObject() noexcept : PooledObject(std::bool_constant<detail::hasAlarm<Traits>>{}) {}
    /// The object must have ended, because the members of Derived are already destroyed.
    ~PooledObject() {
        if (!hasEnded()) {
            failAssertion({"object has ended",
                           "an object is destroyed while its executor may run it: call stop() and "
                           "join() before, outside of its handlers, or hold it in a Running",
                           __FILE__, __LINE__});
        }
    }

private:
    using MailboxBatch = detail::MailboxBatch<MailboxMessage, Platform>;

    explicit PooledObject(std::false_type /*hasAlarm*/) noexcept : Waiting(&PooledObject::serve) {}
    explicit PooledObject(std::true_type /*hasAlarm*/) noexcept
        : Waiting(&PooledObject::serve, &PooledObject::wakeTask) {}

    bool awaitEnd(typename Clock::time_point deadline) {
        Executor* const executor = this->executor();
        if (executor == nullptr || hasEnded()) {
            return true;  // without *executor, which may be destroyed after the object's end
        }
        Executor::beforeWaitInHandler();  // the calling handler may belong to another executor
        return executor->awaitEnd(
            *this,
            [](const ExecutorTask& task) {
                return static_cast<const PooledObject&>(task).hasEnded();
            },
            deadline);
    }

    // ---- The consumer: the thread that runs the object

    static void serve(ExecutorTask& task) {
        auto& object = static_cast<PooledObject&>(task);
        const Executor::Current current(*object.executor());
        object.enter();
        object.takeNew();
        object.fireDue();
        for (std::size_t i = 0; i < batch(); ++i) {
            if (!object.serveOne()) {
                return;
            }
            if (object.isHighTimerDue()) {
                object.fireDue();
            }
        }
        object.scheduleAgain();
    }
    static bool wakeTask(TimedExecutorTask& task) noexcept {
        return static_cast<PooledObject&>(task).wake();
    }

    /// Avoids follow-up compile errors if the traits do not derive from PooledTraits.
    static constexpr std::size_t batch() noexcept {
        if constexpr (areTraits) {
            return Traits::batch;
        } else {
            return 1;
        }
    }

    void scheduleAgain() {
        this->leave();
        this->executor()->scheduleLast(*this);
    }

    /// After serveOne() returns false, another thread may run or destroy the object.
    bool serveOne() {
        for (;;) {
            if (mailbox_.hasNew()) {
                takeNew();
            }
            if (!isBackingOff()) {
                MailboxMessage* message = high_.pop();
                message = message != nullptr ? message : others_.pop();
                if (message != nullptr) {
                    consume(*message);
                    return true;
                }
            }
            if (goIdle()) {
                return false;
            }
        }
    }

    /// Returns false if a message has arrived. After goIdle() returns true, another thread may run
    /// or destroy the object.
    bool goIdle() {
        if constexpr (detail::hasAlarm<Traits>) {
            if (!setAlarm()) {
                scheduleAgain();
                return true;
            }
        }
        if (isEnding_) {
            return end();
        }
        this->leave();
        if (!mailbox_.goIdle()) {
            this->enter();
            return false;
        }
        return true;
    }

    bool end() {
        Executor& executor = *this->executor();
        const auto notifyEnd = [&] {
            this->endCoroutines();
            detail::notifyEnd(static_cast<Derived&>(*this));
            this->leave();
            executor.removeObject();
        };
        const ExecutorTask* const task = this;
        if (!this->endThen(notifyEnd)) {
            return false;
        }
        executor.notifyEnd(task);
        return true;
    }

    /// Sets the alarm to the planned restart or, if none is planned, to the earliest deadline.
    /// Returns false if the time of the alarm has already passed.
    bool setAlarm() {
        if (isEnding_) {
            this->executor()->removeAlarm(*this);
            return true;
        }
        this->takeTimers();
        const auto next = this->isRestartPlanned() ? this->restartTime() : this->nextDeadline();
        if (next != Clock::time_point::max() && next <= this->now()) {
            return false;
        }
        if (next != this->alarm_) {
            this->executor()->setAlarm(*this, next);
            this->alarm_ = next;
        }
        return true;
    }

    void takeNew() noexcept {
        struct Chain {
            MailboxMessage* first = nullptr;
            MailboxMessage* last = nullptr;
            void prepend(MailboxMessage& message) noexcept {
                message.next = first;
                first = &message;
                last = last == nullptr ? &message : last;
            }
        } chains[2];
        const auto taken = Posting::takeNew([&](MailboxMessage& message) {
            chains[message.header.priority == Priority::high ? 1 : 0].prepend(message);
        });
        if (taken.isClosed) {
            isEnding_ = true;
        }
        if constexpr (detail::hasAlarm<Traits>) {
            if (taken.isAlarm) {
                this->alarm_ = Clock::time_point::min();
            }
        }
        for (int i = 0; i < 2; ++i) {
            if (chains[i].first != nullptr) {
                (i == 1 ? high_ : others_).append(*chains[i].first, *chains[i].last);
            }
        }
    }

    [[nodiscard]] bool isDiscarding() const noexcept {
        return this->closing() == Closing::discarding;
    }

    void consume(MailboxMessage& message) {
        const detail::OnExit release{[&] {
            message.visit([this](const auto& content, const Header& /*header*/) {
                inFlight_.template release<std::decay_t<decltype(content)>>();
            });
            this->Posting::release(message);
        }};
        if (isDiscarding()) {
            discarded_.add(1);
            return;
        }
        catching([&] {
            message.visit([this](const auto& content, const Header& header) {
                this->handle(content, header);
            });
        });
    }

    void fireDue() {
        if constexpr (detail::hasTimers<Traits> || Traits::maxCoroutines != 0) {
            if (isBackingOff()) {
                return;
            }
            catching([this] {
                (void)this->fireTimers([this] { return isDiscarding(); },
                                       [this](const auto& content, const Header& header) {
                                           this->handle(content, header);
                                       });
            });
        }
    }

    template <class T>
    void handle(const T& content, const Header& header) {
        book_.call(
            header, [this] { return this->now(); },
            [&] { detail::callHandler(static_cast<Derived&>(*this), content, header); });
    }

    /// Calls handling(). If a handler throws, acts according to Traits::onFailure.
    template <class Handling>
    void catching(const Handling& handling) {
#if defined(__cpp_exceptions)
        try {
            handling();
        } catch (...) {
            failed_.add(1);
            detail::notifyFailure(static_cast<Derived&>(*this));
            if constexpr (Traits::onFailure == OnFailure::stop) {
                stop();
            } else if constexpr (Traits::onFailure == OnFailure::restart) {
                if (!this->planRestart(this->now())) {
                    stop();
                }
            }
        }
#else
        handling();
#endif
    }

    /// Restarts the object if a restart is due. Returns true while the object waits for a restart.
    bool isBackingOff() {
        if constexpr (Traits::onFailure == OnFailure::restart) {
            while (this->isRestartPlanned() && !isDiscarding()) {
                if (!this->isClosed() && this->now() < this->restartTime()) {
                    return true;
                }
                catching([this] {
                    static_cast<Derived&>(*this).restart();
                    this->restarted();
                });
            }
        }
        return false;
    }

    using Posting::book_;
    using Posting::inFlight_;
    using Posting::isEnding_;
    using Posting::mailbox_;
    using Posting::refusals_;
    // Written by the consumer.
    MailboxBatch high_;
    MailboxBatch others_;
    SingleWriterCounter<Platform> failed_;
    SingleWriterCounter<Platform> discarded_;
};

}  // namespace sluice
