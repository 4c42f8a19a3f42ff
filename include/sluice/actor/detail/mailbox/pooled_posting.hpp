#pragma once

#include <sluice/actor/detail/failure/restart_plan.hpp>
#include <sluice/actor/detail/mailbox/admission.hpp>
#include <sluice/actor/detail/mailbox/flight_limits.hpp>
#include <sluice/actor/detail/mailbox/pooled_mailbox.hpp>
#include <sluice/actor/detail/mailbox/posted_message.hpp>
#include <sluice/actor/detail/mailbox/refusals.hpp>
#include <sluice/actor/detail/replies/requesting.hpp>
#include <sluice/actor/detail/replies/room_requests.hpp>
#include <sluice/actor/executor.hpp>
#include <sluice/actor/handler_times.hpp>
#include <sluice/bus/message_header.hpp>
#include <sluice/bus/publish_result.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// An object as its executor sees it, and the parts that only an object with an alarm has.
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

    MailboxSignal<typename Traits::Platform> alarmNews_;
    /// The time to which the executor's alarm is set; time_point::min() if it may have been due
    /// since. Written by the consumer.
    Executor::TimePoint alarm_ = Executor::TimePoint::max();
};

/// The mailbox of an object on an executor, and its posting functions.
///
/// Edges: E1 start: executor and mailbox written by begin() -> closing_ released .. acquired -> a
/// post by another thread. E2 told: `ended()` of the class -> isTelling_ released -> hasEnded().
/// The others are those of PooledMailbox and MailboxSignal.
template <class MessageList, class Traits>
class PooledPosting : public Requesting<PooledPosting<MessageList, Traits>>,
                      public RoomRequests<PooledPosting<MessageList, Traits>, Traits>,
                      protected PooledTask<Traits> {

public:
    /// Posts a message, which it copies or moves. Never waits. The default priority is medium. Here
    /// and below, the options may be a Priority alone.
    template <class T, class Options = PublishOptions>
    PublishResult post(T&& message, const Options& options = {}) {
        return emplaceWith<std::decay_t<T>>(options, std::forward<T>(message));
    }
    /// The same as post(), with the name that ActiveObject has.
    template <class T, class Options = PublishOptions>
    PublishResult tryPost(T&& message, const Options& options = {}) {
        return post(std::forward<T>(message), options);
    }

    /// Builds a T. The arguments are used only if the message is accepted, or if the object is
    /// stopped at the same time.
    template <class T, class... Args>
    PublishResult emplace(Args&&... args) {
        return emplaceWith<T>(PublishOptions{}, std::forward<Args>(args)...);
    }
    template <class T, class Options = PublishOptions, class... Args>
    PublishResult emplaceWith(const Options& given, Args&&... args) {
        const PublishOptions& options = optionsOf<Traits>(given);
        static_assert(MessageList::template contains<T>,
                      "this type is not among the Messages of the object");
        if (isClosed()) {
            return refusals_.counted(PublishResult::closed);
        }
        return refusals_.counted(flights_.template takeOff<T>(
            [&] {
                if (!tryAdmit(queued_, limitOf(options.priority))) {
                    return fullFor(options.priority);
                }
                void* const memory = executor()->tryAllocate();
                if (memory == nullptr) {
                    return giveUp(PublishResult::full);
                }
                return push(*build<T>(memory, options, std::forward<Args>(args)...));
            },
            [] { return PublishResult::full; }));
    }

    // ---- Any thread

    /// Whether a handler of this object calls this.
    [[nodiscard]] bool isHere() const noexcept {
        // Relaxed: equal only if this thread wrote it.
        return servedBy_.load(std::memory_order_relaxed) == Platform::thisThread();
    }
    /// Whether a thread runs the object.
    [[nodiscard]] bool isAwake() const noexcept {
        return servedBy_.load(std::memory_order_relaxed) != nullptr;  // relaxed: no data follows
    }
    /// Whether the object refuses messages: it has not been started, or it has been stopped.
    [[nodiscard]] bool isClosed() const noexcept { return closing() != Closing::no; }
    [[nodiscard]] bool hasEnded() const noexcept {
        return mailbox_.hasEnded() && !isTelling_.load(std::memory_order_acquire);  // E2 told
    }
    /// The number of accepted messages that have not been handled. Running posts count, too.
    [[nodiscard]] std::size_t sizeApprox() const noexcept {
        return queued_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] static constexpr std::size_t capacity() noexcept { return Traits::depth; }

protected:
    using Platform = typename Traits::Platform;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;
    struct QueuedMessage : MailboxNode<Platform>, PostedMessage<MessageList, Traits> {
        using PostedMessage<MessageList, Traits>::PostedMessage;
    };
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
        return closing_.load(std::memory_order_acquire);  // E1 start
    }

    /// Null before the start.
    [[nodiscard]] Executor* executor() const noexcept {
        return executor_.load(std::memory_order_acquire);  // E1 start
    }
    [[nodiscard]] typename Platform::Clock::time_point now() const { return executor()->now(); }

    /// False if it was begun or stopped before.
    bool begin(Executor& executor) {
        if (closing() != Closing::unstarted) {
            return false;
        }
        if constexpr (hasAlarm<Traits>) {
            executor.addAlarm(*this);
        }
        executor.addObject();
        executor_.store(&executor, std::memory_order_release);  // E1 start
        mailbox_.begin();
        Closing before = Closing::unstarted;
        if (closing_.compare_exchange_strong(before, Closing::no, std::memory_order_release,
                                             std::memory_order_relaxed)) {  // E1 start
            return true;
        }
        // No thread has posted: the object was closed all the time.
        if constexpr (hasAlarm<Traits>) {
            executor.removeAlarm(*this);
        }
        executor.removeObject();
        mailbox_.cancelBegin();
        executor.tellEnd();  // a thread may have seen the mailbox begun
        return false;
    }

    /// Called by the consumer when the mailbox has ended. Calls tell(). Then the object has ended,
    /// and may have been destroyed. False, without effect, if a message has come.
    template <class Tell>
    bool endTelling(Tell tell) noexcept {
        // Relaxed: end() of the mailbox releases it.
        isTelling_.store(true, std::memory_order_relaxed);
        const bool isEnded = mailbox_.end();
        if (isEnded) {
            tell();
        }
        isTelling_.store(false, std::memory_order_release);  // E2 told
        return isEnded;
    }

    /// False if the object was not started. It cannot be started afterwards.
    bool close(Closing how) noexcept {
        Closing before = closing();
        while (before < how &&
               !closing_.compare_exchange_weak(before, how, std::memory_order_relaxed,
                                               std::memory_order_acquire)) {  // E1 start
        }
        if (before == Closing::no &&
            mailbox_.push(closingNode_) == PooledMailbox<Platform>::Pushed::first) {
            executor()->schedule(*this);
        }
        return before != Closing::unstarted;
    }

    /// Makes the object check its alarm. True if it must be scheduled for that.
    bool wake() noexcept { return this->alarmNews_.send(mailbox_); }
    /// The same, and schedules it. A handler of the object need not call it: the object checks its
    /// timers before it leaves its thread.
    void tell() noexcept {
        if (!isHere() && wake()) {
            executor()->schedule(*this);
        }
    }

    void release(QueuedMessage& message) noexcept {
        message.~QueuedMessage();
        executor()->deallocate(&message);
        queued_.fetch_sub(1, std::memory_order_relaxed);
    }

    /// Calls take(message) for each new message, the newest first. Returns the other news.
    struct News {
        bool isClosed = false;
        bool isAlarm = false;
    };
    template <class Take>
    News takeNew(Take take) noexcept {
        News news;
        mailbox_.takeAll([&](MailboxNode<Platform>& node) {
            if (&node == &closingNode_) {
                news.isClosed = true;
                return;
            }
            if constexpr (hasAlarm<Traits>) {
                if (this->alarmNews_.is(node)) {
                    this->alarmNews_.wasTaken();
                    news.isAlarm = true;
                    return;
                }
            }
            take(static_cast<QueuedMessage&>(node));
        });
        return news;
    }

    // Relaxed, both: see isHere().
    void enter() noexcept { servedBy_.store(Platform::thisThread(), std::memory_order_relaxed); }
    void leave() noexcept {
        servedBy_.store(nullptr, std::memory_order_relaxed);
        this->tellRoom();
    }

    PooledMailbox<Platform> mailbox_;
    HandlerBook<Traits, true> book_;
    FlightLimits<MessageList, Traits> flights_;
    Refusals<Platform, Traits::statistics> refusals_;
    bool isEnding_ = false;  ///< the object has been closed; written by the consumer

private:
    Atomic<Closing> closing_{Closing::unstarted};
    Atomic<Executor*> executor_{nullptr};  ///< written by begin()
    Atomic<bool> isTelling_{false};  ///< `ended()` of the class is running; written by the consumer
    Atomic<std::uint32_t> queued_{0};
    /// The thread that runs the object. Written by that thread.
    Atomic<const void*> servedBy_{nullptr};

    MailboxNode<Platform> closingNode_;  ///< pushed once, by the thread that closes the object

    static constexpr std::uint32_t limitOf(Priority priority) noexcept {
        return priority == Priority::high ? Traits::depth : Traits::depth - Traits::depth / 4;
    }
    static constexpr PublishResult fullFor(Priority priority) noexcept {
        return priority == Priority::high ? PublishResult::full : PublishResult::refused;
    }
    PublishResult giveUp(PublishResult result) noexcept {
        queued_.fetch_sub(1, std::memory_order_relaxed);
        return result;
    }

    template <class T, class... Args>
    QueuedMessage* build(void* memory, const PublishOptions& options, Args&&... args) {
        struct Guard {
            PooledPosting& object;
            void* memory;
            ~Guard() {
                if (memory != nullptr) {
                    object.executor()->deallocate(memory);
                    (void)object.giveUp(PublishResult::closed);
                }
            }
        } guard{*this, memory};
        auto* const message = ::new (memory)
            QueuedMessage(std::in_place_type<T>, options, std::forward<Args>(args)...);
        if constexpr (MessageHeader<Traits>::hasTimeStamp) {
            message->header.timeStamp = now();
        }
        guard.memory = nullptr;
        return message;
    }

    PublishResult push(QueuedMessage& message) noexcept {
        switch (mailbox_.push(message)) {
        case PooledMailbox<Platform>::Pushed::first:
            executor()->schedule(*this);
            return PublishResult::ok;
        case PooledMailbox<Platform>::Pushed::queued:
            return PublishResult::ok;
        case PooledMailbox<Platform>::Pushed::refused:
            break;
        }
        release(message);
        return PublishResult::closed;
    }
};

}  // namespace sluice::detail
