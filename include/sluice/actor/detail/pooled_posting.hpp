#pragma once

#include <sluice/actor/detail/awaited_posting.hpp>
#include <sluice/actor/detail/in_flight_limits.hpp>
#include <sluice/actor/detail/pooled_mailbox.hpp>
#include <sluice/actor/detail/posted_message.hpp>
#include <sluice/actor/detail/restart_budget.hpp>
#include <sluice/actor/executor.hpp>
#include <sluice/actor/handler_times.hpp>
#include <sluice/actor/request.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/bus/message_header.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// Counts the posts that an object on an executor has refused. Any thread may call any member. If
/// IsOn is false, it counts nothing.
///
/// Relaxed, all: no other data depends on a count.
template <class Platform, bool IsOn>
class Refusals {
public:
    /// Counts the result if it is a refusal, and returns it.
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

/// The base of an object that its executor knows. An object with an alarm has more members.
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

    MailboxNews<typename Traits::Platform> alarmNews_;
    /// The time to which the executor's alarm is set. time_point::min() if the alarm may have fired
    /// since. Written by the consumer.
    Executor::TimePoint alarm_ = Executor::TimePoint::max();
};

/// The mailbox of an object on an executor, and its posting functions.
///
/// Edges: E1 start: begin() writes the executor and the mailbox -> closing_ released .. acquired ->
/// a post by another thread. E2 told: `ended()` of the class -> isTelling_ released -> hasEnded().
/// The other edges are those of PooledMailbox and MailboxNews.
template <class MessageList, class Traits>
class PooledPosting : public Requesting<PooledPosting<MessageList, Traits>>,
                      public AwaitedPosting<PooledPosting<MessageList, Traits>, Traits>,
                      protected PooledTask<Traits> {

public:
    /// Posts a message: copies or moves it into the mailbox. It never waits. The default priority
    /// is medium. `options` may be a Priority.
    template <class T, class Options = PublishOptions>
    SendResult post(T&& message, const Options& options = {}) {
        return emplaceWith<std::decay_t<T>>(options, std::forward<T>(message));
    }
    /// The same as post(), under the name that ActiveObject uses.
    template <class T, class Options = PublishOptions>
    SendResult tryPost(T&& message, const Options& options = {}) {
        return post(std::forward<T>(message), options);
    }
    /// Posts a message. Waits for room for at most `timeout`. In a handler it does not wait.
    template <class T, class Rep, class Period, class Options = PublishOptions>
    SendResult postFor(std::chrono::duration<Rep, Period> timeout, T&& message,
                       const Options& options = {}) {
        return refusals_.counted(this->tryFor(timeout, [&] {
            return tryOnce<std::decay_t<T>>(optionsOf<Traits>(options), std::forward<T>(message));
        }));
    }

    /// Posts a T, which it builds from the arguments. If the message is refused, it does not touch
    /// the arguments, except if the object is stopped at the same time.
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

    /// Whether the caller is a handler of this object.
    [[nodiscard]] bool isHere() const noexcept {
        // Relaxed: the values are equal only if this thread wrote servedBy_.
        return servedBy_.load(std::memory_order_relaxed) == Platform::thisThread();
    }
    /// Whether some thread runs the object.
    [[nodiscard]] bool isAwake() const noexcept {
        // Relaxed: no other data depends on it.
        return servedBy_.load(std::memory_order_relaxed) != nullptr;
    }
    /// Whether the object refuses messages, because it was not started or was stopped.
    [[nodiscard]] bool isClosed() const noexcept { return closing() != Closing::no; }
    /// Whether the object has ended, and its function `ended` has returned.
    [[nodiscard]] bool hasEnded() const noexcept {
        return mailbox_.hasEnded() && !isTelling_.load(std::memory_order_acquire);  // E2 told
    }
    /// The number of accepted messages that have not been handled. Posts that are running count,
    /// too.
    [[nodiscard]] std::size_t sizeApprox() const noexcept {
        return queued_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] static constexpr std::size_t capacity() noexcept { return Traits::depth; }

protected:
    using Platform = typename Traits::Platform;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;
    struct MailboxMessage : MailboxNode<Platform>, PostedMessage<MessageList, Traits> {
        using PostedMessage<MessageList, Traits>::PostedMessage;
    };
    /// The states before the end, in this order. After `draining` the object handles the earlier
    /// messages; after `discarding` it discards them.
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

    /// The executor. Null before the start.
    [[nodiscard]] Executor* executor() const noexcept {
        return executor_.load(std::memory_order_acquire);  // E1 start
    }
    [[nodiscard]] typename Platform::Clock::time_point now() const { return executor()->now(); }

    /// Starts the object on an executor. False if it was started or stopped before.
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
        // Another thread has stopped the object meanwhile. No thread has posted, because the object
        // was never open.
        if constexpr (hasAlarm<Traits>) {
            executor.removeAlarm(*this);
        }
        executor.removeObject();
        mailbox_.cancelBegin();
        executor.tellEnd();  // a thread may have seen the mailbox begun
        return false;
    }

    /// Called by the consumer. Ends the mailbox and calls tell(). After the return the object has
    /// ended, and another thread may have destroyed it. If a message has come, it does nothing and
    /// returns false.
    template <class Tell>
    bool endTelling(Tell tell) noexcept {
        // Relaxed: end() of the mailbox releases this write.
        isTelling_.store(true, std::memory_order_relaxed);
        const bool isEnded = mailbox_.end();
        if (isEnded) {
            tell();
        }
        isTelling_.store(false, std::memory_order_release);  // E2 told
        return isEnded;
    }

    /// Closes the object: it refuses later posts. False if the object was not started; then it
    /// cannot be started later.
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

    /// Makes the object check its alarm. True if the caller must schedule the object.
    bool wake() noexcept { return this->alarmNews_.send(mailbox_); }
    /// The same, and schedules the object. In a handler of the object it does nothing, because the
    /// object checks its timers before it leaves its thread.
    void tell() noexcept {
        if (!isHere() && wake()) {
            executor()->schedule(*this);
        }
    }

    /// Destroys a message and frees its room.
    void release(MailboxMessage& message) noexcept {
        message.~MailboxMessage();
        executor()->deallocate(&message);
        queued_.fetch_sub(1, std::memory_order_relaxed);
    }

    /// What takeNew() has found besides messages.
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
            take(static_cast<MailboxMessage&>(node));
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
    InFlightLimits<MessageList, Traits> flights_;
    Refusals<Platform, Traits::statistics> refusals_;
    /// Whether the consumer has seen that the object is closed; written by the consumer.
    bool isEnding_ = false;

private:
    Atomic<Closing> closing_{Closing::unstarted};
    Atomic<Executor*> executor_{nullptr};  ///< written by begin()
    /// Whether `ended()` of the class is running; written by the consumer.
    Atomic<bool> isTelling_{false};
    /// Accepted messages that are not handled, and running posts. Any thread writes it.
    Atomic<std::uint32_t> queued_{0};
    /// The thread that runs the object, or null. Written by that thread.
    Atomic<const void*> servedBy_{nullptr};

    MailboxNode<Platform> closingNode_;  ///< pushed once, by the thread that closes the object

    /// The room of a priority: a quarter of the depth is for high messages only.
    static constexpr std::uint32_t limitOf(Priority priority) noexcept {
        return priority == Priority::high ? Traits::depth : Traits::depth - Traits::depth / 4;
    }
    SendResult giveUp(SendResult result) noexcept {
        queued_.fetch_sub(1, std::memory_order_relaxed);
        return result;
    }

    /// Posts a message, and does not count a refusal.
    template <class T, class... Args>
    SendResult tryOnce(const PublishOptions& options, Args&&... args) {
        static_assert(MessageList::template contains<T>,
                      "this type is not among the Messages of the object");
        if (isClosed()) {
            return SendResult::closed;
        }
        return flights_.template takeOff<T>(
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
        struct Guard {
            PooledPosting& object;
            void* memory;
            ~Guard() {
                if (memory != nullptr) {
                    object.executor()->deallocate(memory);
                    (void)object.giveUp(SendResult::closed);
                }
            }
        } guard{*this, memory};
        auto* const message = ::new (memory)
            MailboxMessage(std::in_place_type<T>, options, std::forward<Args>(args)...);
        if constexpr (MessageHeader<Traits>::hasTimeStamp) {
            message->header.timeStamp = now();
        }
        guard.memory = nullptr;
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
    /// Out of line, because it is rare and would keep compilers from inlining push().
    [[gnu::cold, gnu::noinline]] SendResult refuse(MailboxMessage& message) noexcept {
        release(message);
        return SendResult::closed;
    }
};

}  // namespace sluice::detail
