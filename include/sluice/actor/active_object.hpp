#pragma once

#include <sluice/actor/actor_traits.hpp>
#include <sluice/actor/detail/awaited_posting.hpp>
#include <sluice/actor/detail/failure_handling.hpp>
#include <sluice/actor/detail/handler_wait.hpp>
#include <sluice/actor/detail/in_flight_limits.hpp>
#include <sluice/actor/detail/object_timers.hpp>
#include <sluice/actor/detail/own_thread.hpp>
#include <sluice/actor/handler_times.hpp>
#include <sluice/actor/request.hpp>
#include <sluice/actor/thread_options.hpp>
#include <sluice/base/assert.hpp>
#include <sluice/base/counter.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/bus/bus.hpp>
#include <sluice/wait/park.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// The mailbox of an active object, with the functions that post messages.
template <class MessageList, class Traits>
class Posting : public Requesting<Posting<MessageList, Traits>>,
                public AwaitedPosting<Posting<MessageList, Traits>, Traits> {
public:
    using Statistics = typename Bus<MessageList, Traits>::Statistics;

    /// Copies or moves a message into the mailbox, by default with medium priority. The parameter
    /// `options` may be a Priority.
    template <class T, class Options = PublishOptions>
    SendResult post(T&& message, const Options& options = {}) {
        return admit<std::decay_t<T>>(
            options, [&] { return mailbox_.publish(std::forward<T>(message), options); });
    }

    /// Constructs a T in a slot of the mailbox. If the post is refused, the arguments are
    /// untouched.
    template <class T, class... Args>
    SendResult emplace(Args&&... args) {
        return emplaceWith<T>(PublishOptions{}, std::forward<Args>(args)...);
    }
    template <class T, class Options = PublishOptions, class... Args>
    SendResult emplaceWith(const Options& options, Args&&... args) {
        return admit<T>(options, [&] {
            return mailbox_.template emplaceWith<T>(options, std::forward<Args>(args)...);
        });
    }

    /// Like post(), but never waits.
    template <class T, class Options = PublishOptions>
    SendResult tryPost(T&& message, const Options& options = {}) {
        return admit<std::decay_t<T>>(
            options, [&] { return mailbox_.tryPublish(std::forward<T>(message), options); });
    }
    /// Like post(), but waits up to `timeout` for a free slot in the mailbox. postFor() does not
    /// wait in a handler or before start().
    template <class T, class Rep, class Period, class Options = PublishOptions>
    SendResult postFor(std::chrono::duration<Rep, Period> timeout, T&& message,
                       const Options& options = {}) {
        return admit<std::decay_t<T>>(options, [&] {
            return mailbox_.publishFor(timeout, std::forward<T>(message), options);
        });
    }

    // ---- Any thread

    /// Returns true if the caller is the object's thread.
    [[nodiscard]] bool isHere() const noexcept {
        // Relaxed: value only.
        return servedBy_.load(std::memory_order_relaxed) == Traits::Platform::thisThread();
    }
    [[nodiscard]] bool isClosed() const noexcept { return mailbox_.isClosed(); }
    [[nodiscard]] Pressure pressure() const noexcept { return mailbox_.pressure(); }
    [[nodiscard]] std::size_t sizeApprox() const noexcept { return mailbox_.sizeApprox(); }
    [[nodiscard]] static constexpr std::size_t capacity() noexcept {
        return MailboxBus::capacity();
    }
    [[nodiscard]] Statistics statistics() const { return mailbox_.statistics(); }
    [[nodiscard]] typename Traits::Trace& trace() noexcept { return mailbox_.trace(); }
    /// For Requesting.
    [[nodiscard]] static HandlerWait* manualExecutor() noexcept { return nullptr; }

protected:
    using MailboxBus = Bus<MessageList, Traits>;

    /// A scope in which the calling thread is the object's thread.
    struct Serving {
        // Relaxed, both: value only.
        explicit Serving(Posting& o) noexcept : object(o) {
            object.servedBy_.store(Traits::Platform::thisThread(), std::memory_order_relaxed);
        }
        ~Serving() { object.servedBy_.store(nullptr, std::memory_order_relaxed); }
        Serving(const Serving&) = delete;
        Serving& operator=(const Serving&) = delete;
        Posting& object;
        const HandlerThread<typename Traits::Platform> handlers;
    };

    /// Posts before start() must not wait, because no thread would free a slot.
    Posting() noexcept { mailbox_.letPublishersWait(false); }
    ~Posting() = default;

    static typename MailboxBus::Clock::time_point now() noexcept {
        return MailboxBus::Clock::now();
    }
    /// Makes the object's thread check the object's timers.
    void wakeOwner() noexcept { mailbox_.waiting().notifyAll(); }

    MailboxBus mailbox_;
    InFlightLimits<MessageList, Traits> inFlight_;

private:
    /// Publishes a message unless its type has reached maxInFlight.
    template <class T, class Options, class Publish>
    SendResult admit([[maybe_unused]] const Options& options, const Publish& publish) {
        if constexpr (Traits::template maxInFlight<T> == 0) {
            return publish();
        } else {
            return inFlight_.template acquire<T>(publish, [&] {
                if (isClosed()) {
                    return publish();  // counts and returns `closed`
                }
                mailbox_.template countAsFull<T>(priorityOf(optionsOf<Traits>(options)));
                return SendResult::full;
            });
        }
    }

    /// The object's thread, or null while the object does not run.
    typename Traits::Platform::template Atomic<const void*> servedBy_{nullptr};
};

}  // namespace sluice::detail

namespace sluice {

/// An object whose own thread handles its messages one at a time, so its members need no lock. Any
/// thread may post messages to the object.
///
///     class Motor : public sluice::ActiveObject<Motor, sluice::Messages<Speed, Stop>> {
///     public:
///         void handle(const Speed& speed) { speed_ = speed.value; }
///         void handle(const Stop&) { speed_ = 0; }
///     private: double speed_ = 0;
///     };
///     sluice::Running<Motor> motor;  // starts the thread; its destructor stops and joins it
///     (void)motor.post(Stop{}, sluice::Priority::high);
///
/// Use PooledObject for many objects with short handlers. Use ActiveEventQueue for handlers added
/// at run time. Use Bus for parts of a program that share a thread.
///
/// Order: as for Bus. A due timer of high priority fires before the next message. Due timers of
/// lower priority fire after the queued messages, or directly after a due timer of high priority.
///
/// Thread safety: any thread and the object's own handlers may call every function. The object may
/// be destroyed after join() or before start(), but not by its own handlers: see Running.
///
/// Errors: posts return the results of Bus::publish(). If a handler throws, the object calls
/// `Derived::handlerFailed(std::exception_ptr)`, if declared, and acts according to
/// Traits::onFailure. Before the object's thread ends, it calls `Derived::ended()`, if declared.
///
/// Performance: a post costs as much as Bus::publish(). The object contains its mailbox.
template <class Derived, class MessageList, class Traits = ActorTraits>
class ActiveObject
    : public detail::Coroutines<
          detail::Timing<detail::Posting<MessageList, Traits>, MessageList, Traits>, Traits> {
    using Posting = detail::Posting<MessageList, Traits>;
    using Platform = typename Traits::Platform;

public:
    using MessageTypes = MessageList;
    using Header = typename Posting::MailboxBus::Header;
    using Clock = typename Posting::MailboxBus::Clock;
    using Posting::isClosed;
    using Posting::isHere;

    ActiveObject(const ActiveObject&) = delete;
    ActiveObject& operator=(const ActiveObject&) = delete;

    // ---- Posting: post, emplace, emplaceWith, tryPost, postFor, awaitPost
    // ---- Requests: request, see Requesting
    // ---- Timers: postAfter, postAt, postEvery, postEveryFrom, cancel, firedTimers, see Timing
    // ---- Coroutines: run, resumptions, see Coroutine

    // ---- The thread

    /// Starts the object's thread. Returns false if the object was started or stopped before. If
    /// the system refuses a thread, start() calls setupError() and leaves the object unchanged.
    bool start(const ThreadOptions& options = {}) {
        constexpr bool isHandled = detail::handlesAll<Derived, Header, MessageList>;
        constexpr bool canRestart =
            Traits::onFailure != OnFailure::restart || detail::hasRestart<Derived>;
        static_assert(isHandled,
                      "an active object has a public `void handle(const T&)` or `void handle(const "
                      "T&, const Header&)` for each type of its Messages: one is missing");
        static_assert(!detail::InFlightLimits<MessageList, Traits>::any ||
                          !detail::hasPolicy<Traits>(Overflow::dropOldest),
                      "a type with maxInFlight and Overflow::dropOldest do not go together");
        static_assert(canRestart, "with OnFailure::restart the class has a public `restart()`");
        if constexpr (isHandled && canRestart) {  // avoids follow-up compile errors
            return begin(options,
                         [](void* self) noexcept { static_cast<ActiveObject*>(self)->serve(); });
        } else {
            return false;
        }
    }

    /// Makes posts return `closed`, and discards queued messages when the running handler returns.
    void stop() {
        mailbox_.stop();
        lifecycle_.changed().notifyAll();  // ends the delay before a restart
        (void)endUnstarted();
    }

    /// Makes later posts return `closed`, and waits until queued messages are handled. After the
    /// deadline, or if the object was never started, calls stop() and returns false. In a handler
    /// of the object, returns false without waiting; the object ends when all messages are handled.
    bool stopAfterDrain(typename Clock::time_point deadline) {
        mailbox_.close();
        lifecycle_.changed().notifyAll();  // ends the delay before a restart
        if (isHere()) {
            return false;
        }
        detail::HandlerWait::beforeWaitInHandler();
        if (endUnstarted() || !mailbox_.drain(deadline)) {
            stop();
            return false;
        }
        return !mailbox_.isStopped();
    }

    /// Waits until stop() or stopAfterDrain() has ended the object's thread. In a handler of the
    /// object, returns false without waiting.
    bool join() {
        if (isHere()) {
            return false;
        }
        detail::HandlerWait::beforeWaitInHandler();
        lifecycle_.join();
        return true;
    }

    // ---- Any thread: isHere, isClosed, pressure, sizeApprox, capacity, statistics, see Posting

    [[nodiscard]] HandlerTimes handlerTimes() const {
        HandlerTimes times = book_.times();
        if constexpr (Traits::statistics) {
            times.handled = this->statistics().total().delivered;
            if constexpr (detail::hasTimers<Traits>) {
                times.handled += this->firedTimers();
            }
        }
        return times;
    }
    /// A number for Watchdog that changes with each handler call, resumption or discarded message,
    /// and when the thread falls asleep or wakes. Discarded messages need Traits::statistics.
    [[nodiscard]] std::uint64_t progress() const {
        std::uint64_t progress = handlerTimes().handled + turns_.get();
        if constexpr (Traits::statistics) {
            progress += this->statistics().total().discarded;
        }
        if constexpr (Traits::maxCoroutines != 0) {
            progress += this->resumptions();
        }
        return progress;
    }
    /// Returns false while the object's thread waits for messages.
    [[nodiscard]] bool isAwake() const noexcept { return turns_.get() % 2 != 0; }
    /// The number of exceptions thrown by handlers or `restart()`.
    [[nodiscard]] std::uint64_t failures() const noexcept { return failures_.get(); }
    /// The number of successful restarts.
    [[nodiscard]] std::uint64_t restarts() const noexcept { return restarts_.get(); }

protected:
    using MailboxBus = typename Posting::MailboxBus;

    ActiveObject() = default;
    /// The object's thread must have ended, because Derived is already destroyed.
    ~ActiveObject() {
        if (!lifecycle_.isIdleOrEnded()) {
            failAssertion({"thread has ended",
                           "an active object is destroyed while its thread may run: call stop() "
                           "and join() before, outside of its handlers, or hold it in a Running",
                           __FILE__, __LINE__});
        }
        if (this->hasCoroutines()) {
            failAssertion({"no coroutine waits",
                           "an active object that was run by handleQueued() is destroyed while "
                           "its coroutines wait: call stop() before, which destroys them",
                           __FILE__, __LINE__});
        }
    }

    /// Returns the mailbox, which LastValue<T, MailboxBus> members of Derived need.
    [[nodiscard]] MailboxBus& mailbox() noexcept { return mailbox_; }

    /// Handles queued messages and due timers on the calling thread, to test an object that is
    /// never started. Returns the number of handler calls. An exception ends the batch (messages or
    /// timers), which counts as one call. Call stop() before the destructor if coroutines wait.
    std::size_t handleQueued() {
        SLUICE_ASSERT(lifecycle_.isIdle(), "handleQueued() is for an object that is never started");
        const typename Posting::Serving serving(*this);
        return handleDue();
    }

private:
    using Posting::mailbox_;

    /// Calls a handler. IsPosted is false for timer messages, which maxInFlight does not count.
    template <bool IsPosted>
    struct Receiver {
        ActiveObject& object;

        template <class T>
        void operator()(const T& message, const Header& header) const {
            if constexpr (IsPosted && Traits::awaitedPosts) {
                object.notifyOneOfRoom();  // the previous message has freed its slot
            }
            const detail::OnExit release{[&] {
                if constexpr (IsPosted && Traits::template maxInFlight<T> != 0) {
                    object.inFlight_.template release<T>();
                }
            }};
            object.book_.call(header, &Posting::now,
                              [&] { detail::callHandler(object.derived(), message, header); });
        }
    };

    Derived& derived() noexcept { return static_cast<Derived&>(*this); }

    bool begin(const ThreadOptions& options, detail::OwnThread::Work work) {
        return !isClosed() && lifecycle_.start(options, work, this, [this](bool isStarting) {
            mailbox_.letPublishersWait(isStarting);
        });
    }

    /// Discards the messages of a closed object that has no thread. Returns false if the object has
    /// a thread, or if another thread is ending the object. Waits for a running start().
    bool endUnstarted() {
        if (isHere() || !lifecycle_.takeUnstarted()) {
            return false;
        }
        mailbox_.stop();
        mailbox_.runWith([](const auto&) {});  // discards the queued messages
        this->endCoroutines();
        this->notifyRoom();
        lifecycle_.endedWithoutThread();
        return true;
    }

    void serve() noexcept {
        const typename Posting::Serving serving(*this);
        const typename Traits::Pacing pacing;
        turns_.add(1);
        while (!mailbox_.isDrained()) {
            const std::size_t count = handleDue();
            if (count != 0) {
                pacing.polled(count);
            } else {
                awaitWork();
            }
        }
        this->endCoroutines();
        this->notifyRoom();
        detail::notifyEnd(derived());
        turns_.add(1);
    }

    void awaitWork() {
        turns_.add(1);  // asleep
        (void)mailbox_.waitUntil(this->nextDeadline(), [this] { return this->hasTimerChanges(); });
        turns_.add(1);
    }

    /// Returns the number of handled messages, fired timers and resumed coroutines.
    std::size_t handleDue() {
        // A due timer ends the batch only after one message, so that timers cannot starve messages.
        [[maybe_unused]] bool mayInterrupt = false;
        const auto isInterrupted = [&] {
            if constexpr (detail::hasTimers<Traits>) {
                if (std::exchange(mayInterrupt, true) && this->isHighTimerDue()) {
                    return true;
                }
            }
            return false;
        };
        std::size_t count =
            catching([&] { return mailbox_.processUntil(isInterrupted, Receiver<true>{*this}); });
        if constexpr (Traits::awaitedPosts) {
            this->notifyRoom();
        }
        if constexpr (detail::hasTimers<Traits> || Traits::maxCoroutines != 0) {
            count += catching([&] {
                return this->fireTimers([this] { return mailbox_.isStopped(); },
                                        Receiver<false>{*this});
            });
        }
        return count;
    }

    /// Calls handling(). If a handler throws, acts according to Traits::onFailure and returns 1.
    template <class Handling>
    std::size_t catching(const Handling& handling) {
#if defined(__cpp_exceptions)
        try {
            return handling();
        } catch (...) {
            failed();
            if constexpr (Traits::onFailure == OnFailure::stop) {
                stop();
            } else if constexpr (Traits::onFailure == OnFailure::restart) {
                restart();
            }
            return 1;
        }
#else
        return handling();
#endif
    }

#if defined(__cpp_exceptions)
    void failed() noexcept {
        failures_.add(1);
        detail::notifyFailure(derived());
    }

    void restart() noexcept {
        while (!mailbox_.isStopped()) {
            const auto wait = budget_.take(Clock::now());
            if (!wait) {
                stop();
                return;
            }
            turns_.add(1);  // asleep
            (void)lifecycle_.changed().waitUntil([this] { return isClosed(); },
                                                 deadlineAfter<Clock>(*wait));
            turns_.add(1);
            if (mailbox_.isStopped()) {
                return;
            }
            try {
                derived().restart();
                restarts_.add(1);
                return;
            } catch (...) {
                failed();
            }
        }
    }
#endif

    detail::ThreadLifecycle<Platform, typename Traits::Wait> lifecycle_;
    detail::RestartBudget<Traits> budget_;
    detail::HandlerBook<Traits, !Traits::statistics> book_;
    /// Counts how often the object's thread has fallen asleep or woken up; odd while awake.
    SingleWriterCounter<Platform> turns_;
    SingleWriterCounter<Platform> failures_;  ///< written by the object's thread
    SingleWriterCounter<Platform> restarts_;  ///< written by the object's thread
};

}  // namespace sluice
