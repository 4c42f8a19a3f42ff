#pragma once

#include <sluice/actor/actor_traits.hpp>
#include <sluice/actor/detail/coroutine_scheduler.hpp>
#include <sluice/actor/detail/handler_checks.hpp>
#include <sluice/actor/detail/object_timers.hpp>
#include <sluice/actor/detail/pooled_mailbox.hpp>
#include <sluice/actor/detail/pooled_posting.hpp>
#include <sluice/actor/executor.hpp>
#include <sluice/actor/handler_times.hpp>
#include <sluice/base/assert.hpp>
#include <sluice/base/counter.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/bus/bus_traits.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice {

/// The traits of an object on an executor.
struct PooledTraits : BareBusTraits, FailureTraits {
    static constexpr bool priorities = true;
    static constexpr bool senders = true;

    /// The number of messages that may be queued in the object. Messages of low and medium priority
    /// leave a quarter of it to high priority.
    static constexpr std::uint32_t depth = 256;
    /// The number of messages that the object handles before other objects run.
    static constexpr std::size_t batch = 32;
    // See ActorTraits.
    static constexpr std::size_t maxTimers = 0;
    template <class Message>
    static constexpr std::uint32_t maxInFlight = 0;
    static constexpr std::size_t maxCoroutines = 0;
    static constexpr bool awaitedPosts = false;
    static constexpr bool handlerTimes = false;
};

/// An object that handles its messages one at a time, on threads that it shares with other objects.
/// So a program can have thousands of objects with a state of their own, and a few threads.
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
/// Use it for many objects whose handlers are short. Use ActiveObject for an object that waits or
/// computes for long in a handler: it has a thread of its own.
///
/// Threads: any thread and the object's own handlers may call every function. Inside a handler
/// stopAfterDrain() and join() do not wait. One thread calls start() and the destructor. It calls
/// the destructor after join() or before start(). By then the calls of all other threads have
/// returned. An own handler never calls the destructor: see Running.
///
/// Progress: post() never waits. A message without room is refused, so objects that post to each
/// other cannot wait for each other. The object handles at most Traits::batch messages, then other
/// objects run.
///
/// Order: messages of high priority first; messages of one poster and one priority in order.
///
/// Memory promise: a handler sees the writes of the poster before the post, and the writes of
/// earlier handlers of the object on all threads. After join() the caller sees all of these writes.
///
/// Capacity: Traits::depth messages, with a quarter reserved for high priority, and the capacity of
/// the executor for all of its objects. An idle object with its mailbox takes sizeof(PooledObject)
/// bytes, at most 256 without timers. Allocation: none by the object; see BlockPool for the
/// executor's messages.
///
/// Exceptions: if a handler throws, the message counts as handled and failed. The object calls
/// `handlerFailed(std::exception_ptr)` of the class, if there is one, and acts by
/// Traits::onFailure. With `restart` it handles no message until restartBackOff has passed. Its
/// thread runs other objects meanwhile.
///
/// End: after stop() and the last handler, the object calls `ended()` of the class, if there is
/// one. Then hasEnded() is true.
///
/// Edges: those of PooledPosting, PooledMailbox and TimerSlots.
///
/// Tests: tests/unit/actor/pooled_object_test.cpp, tests/stress/pooled_object_stress_test.cpp,
/// tests/model/pooled_mailbox_model_test.cpp.
template <class Derived, class MessageList, class Traits = PooledTraits>
class PooledObject
    : public detail::Coroutines<
          detail::Timing<detail::PooledPosting<MessageList, Traits>, MessageList, Traits>, Traits>,
      private detail::RestartPlan<Traits> {
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
        std::uint64_t handled = 0;    ///< handlers that have run, also for timers
        std::uint64_t failed = 0;     ///< handlers that have thrown
        std::uint64_t discarded = 0;  ///< accepted messages that stop() discarded
        std::uint64_t restarts = 0;   ///< successful restarts
        // With Traits::statistics.
        std::uint64_t full = 0;    ///< posts without room, also without room for their type
        std::uint64_t closed = 0;  ///< posts to an object that was not running
    };

    PooledObject(const PooledObject&) = delete;
    PooledObject& operator=(const PooledObject&) = delete;

    // ---- Posting: post, emplace, emplaceWith, tryPost, postFor, awaitPost, see PooledPosting
    // ---- Requests: request, see Requesting
    // ---- Timers: postAfter, postAt, postEvery, postEveryFrom, cancel, firedTimers, see Timing
    // ---- Coroutines: run, resumptions, see Coroutine

    // ---- Start and end

    /// Lets the object accept messages. Returns false if it was started or stopped before.
    bool start(Executor& executor) {
        static_assert(detail::handlesAll<Derived, Header, MessageList>,
                      "an object has a public `void handle(const T&)` or `void handle(const T&, "
                      "const Header&)` for each type of its Messages: one is missing");
        static_assert(Traits::onFailure != OnFailure::restart || detail::hasRestart<Derived>,
                      "with OnFailure::restart the class has a public `restart()`");
        static_assert(Traits::batch != 0, "a batch is at least one message");
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

    /// Refuses later messages. Discards the queued messages after the running handler has returned.
    void stop() noexcept { (void)this->close(Closing::discarding); }

    /// Refuses later messages, and waits until the queued messages have been handled. Then it
    /// returns true. If the deadline comes first, or if the object was never started, it acts as
    /// stop() and returns false. Inside an own handler it returns false at once, and the object
    /// ends when all messages have been handled.
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

    /// Waits until the object has ended. Inside an own handler it returns false at once.
    bool join() { return !isHere() && awaitEnd(Clock::time_point::max()); }

    // ---- Any thread: isHere, isClosed, hasEnded, sizeApprox, capacity, see PooledPosting

    [[nodiscard]] HandlerTimes handlerTimes() const noexcept { return book_.times(); }
    /// The number of called handlers and of discarded messages: see Watchdog.
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
    /// The members of Derived are destroyed before this, so the object must have ended.
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
            return true;  // the executor may have been destroyed since the end
        }
        Executor::beforeWaitInHandler();  // the handler may be of another executor
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
        for (std::size_t i = 0; i < Traits::batch; ++i) {
            if (!object.serveOne()) {
                return;
            }
        }
        object.scheduleAgain();
    }
    static bool wakeTask(TimedExecutorTask& task) noexcept {
        return static_cast<PooledObject&>(task).wake();
    }

    void scheduleAgain() {
        this->leave();
        this->executor()->scheduleLast(*this);
    }

    /// After false, another thread may run or destroy the object: the caller must not use it.
    bool serveOne() {
        for (;;) {
            if (mailbox_.hasNew()) {
                takeNew();
            }
            if (!isResting()) {
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

    /// Called when the object has no messages. Returns false if a message has come. After true, the
    /// caller must not use the object, because another thread may run or destroy it.
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

    /// Ends an object that has no messages. Returns false if a message has come.
    bool end() {
        Executor& executor = *this->executor();
        const auto tell = [&] {
            this->endCoroutines();
            detail::tellEnd(static_cast<Derived&>(*this));
            this->leave();
            executor.removeObject();
        };
        if (!this->endTelling(tell)) {
            return false;
        }
        executor.tellEnd();
        return true;
    }

    /// Sets the alarm for the earliest timer or the restart. Returns false if this time has come.
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
        const auto news = Posting::takeNew([&](MailboxMessage& message) {
            chains[message.header.priority == Priority::high ? 1 : 0].prepend(message);
        });
        isEnding_ = isEnding_ || news.isClosed;
        if constexpr (detail::hasAlarm<Traits>) {
            if (news.isAlarm) {
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
        struct Release {
            PooledObject& object;
            MailboxMessage& message;
            ~Release() {
                message.visit([this](const auto& content, const Header& /*header*/) {
                    object.flights_.template land<std::decay_t<decltype(content)>>();
                });
                object.release(message);
            }
        } const release{*this, message};
        if (isDiscarding()) {
            discarded_.add(1);
            return;
        }
        surviving([&] {
            message.visit([this](const auto& content, const Header& header) {
                this->handle(content, header);
            });
        });
    }

    void fireDue() {
        if constexpr (detail::hasTimers<Traits> || Traits::maxCoroutines != 0) {
            if (isResting()) {
                return;
            }
            surviving([this] {
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

    /// Calls a function that calls handlers. If a handler throws, it handles the failure.
    template <class Handling>
    void surviving(const Handling& handling) {
#if defined(__cpp_exceptions)
        try {
            handling();
        } catch (...) {
            failed_.add(1);
            detail::tellFailure(static_cast<Derived&>(*this));
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

    /// Whether the object waits for its restart. Restarts it if the restart is due.
    bool isResting() {
        if constexpr (Traits::onFailure == OnFailure::restart) {
            while (this->isRestartPlanned() && !isDiscarding()) {
                if (!this->isClosed() && this->now() < this->restartTime()) {
                    return true;
                }
                surviving([this] {
                    static_cast<Derived&>(*this).restart();
                    this->restarted();
                });
            }
        }
        return false;
    }

    using Posting::book_;
    using Posting::flights_;
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
