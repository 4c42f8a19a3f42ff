#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/queue/queue_traits.hpp>
#include <sluice/wait/park.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace sluice {

namespace detail {

template <class Queue, class = void>
inline constexpr bool hasProducers = false;
template <class Queue>
inline constexpr bool hasProducers<Queue, std::void_t<typename Queue::Producer>> = true;

template <class Queue, class = void>
inline constexpr bool hasManyConsumers = false;
template <class Queue>
inline constexpr bool hasManyConsumers<Queue, std::void_t<decltype(Queue::manyConsumers)>> =
    Queue::manyConsumers;

/// True if a consumer can hold a lane and so hide the lane's messages from other consumers.
template <class Queue>
inline constexpr bool hasHeldLanes = hasProducers<Queue> && hasManyConsumers<Queue>;

/// True if a push may drop old messages. Dropping a message can drain a closed queue.
template <class Queue, class = void>
inline constexpr bool hasDrops = false;
template <class Queue>
inline constexpr bool
    hasDrops<Queue, std::void_t<decltype(std::declval<const Queue&>().dropped())>> = true;

template <class Queue, class = void>
struct PlatformOfQueue {
    using Type = StdPlatform;
    static constexpr bool canCountBatches = false;  // sizeApprox() may be inexact
};
template <class Queue>
struct PlatformOfQueue<Queue, std::void_t<typename Queue::Platform>> {
    using Type = typename Queue::Platform;
    static constexpr bool canCountBatches = !hasProducers<Queue> && !hasManyConsumers<Queue>;
};

/// Means that a function such as push() or pop() waits without a time limit.
struct Forever {};

/// The push functions of BlockingQueue and its producer handles. A refused push leaves its
/// arguments unchanged.
template <class Self, class T>
class BlockingPushes {
public:
    /// tryPush() and tryEmplace() never wait.
    SendResult tryPush(const T& value) { return tryEmplace(value); }
    SendResult tryPush(T&& value) { return tryEmplace(std::move(value)); }
    template <class U, IfConverts<U, T> = 0>
    SendResult tryPush(U&& value) {
        return tryEmplace(std::forward<U>(value));
    }
    template <class... Args>
    SendResult tryEmplace(Args&&... args) {
        return self().owner().tryPushTo(self().target(), std::forward<Args>(args)...);
    }

    /// push() and emplace() wait while the queue is full. The result is `ok` or `closed`.
    SendResult push(const T& value) { return emplace(value); }
    SendResult push(T&& value) { return emplace(std::move(value)); }
    template <class U, IfConverts<U, T> = 0>
    SendResult push(U&& value) {
        return emplace(std::forward<U>(value));
    }
    template <class... Args>
    SendResult emplace(Args&&... args) {
        return pushWithin(Forever(), std::forward<Args>(args)...);
    }

    /// pushFor() waits while the queue is full, but at most for `atMost`.
    template <class Rep, class Period>
    SendResult pushFor(const T& value, std::chrono::duration<Rep, Period> atMost) {
        return pushWithin(atMost, value);
    }
    template <class Rep, class Period>
    SendResult pushFor(T&& value, std::chrono::duration<Rep, Period> atMost) {
        return pushWithin(atMost, std::move(value));
    }
    template <class U, class Rep, class Period, IfConverts<U, T> = 0>
    SendResult pushFor(U&& value, std::chrono::duration<Rep, Period> atMost) {
        return pushWithin(atMost, std::forward<U>(value));
    }

private:
    Self& self() noexcept { return static_cast<Self&>(*this); }
    template <class Limit, class... Args>
    SendResult pushWithin(Limit limit, Args&&... args) {
        return self().owner().pushTo(self().target(), limit, std::forward<Args>(args)...);
    }
};

}  // namespace detail

/// A wrapper that lets producers and consumers of any queue wait for each other.
///
///     sluice::BlockingQueue<sluice::SpscRing<Reading, 256>> queue;
///     (void)queue.push(Reading{21.5});  // the producer; waits while the queue is full
///     queue.consume([](const Reading& reading) { ... });  // the consumer; waits while it is empty
///     queue.close();
///
/// Thread safety: as for `Queue`. Any thread except the consumer may call drain(). A handler may
/// call tryPush() on its own queue. A push() in a handler may deadlock, because only the handler's
/// own thread can free a slot. A BlockingQueue must outlive all calls of its members, and the
/// pushes of its producer handles.
///
/// Errors: exceptions of constructors and handlers propagate after waiting threads were notified.
/// If moving a message throws, the pop functions leave the message in the queue. MpscLanes,
/// MpmcLanes and MpmcRing require a noexcept move.
///
/// Performance: a push notifies a consumer. A consume call notifies a producer of each freed slot;
/// in a queue with lanes, it notifies all producers. A notification costs a load and a light fence
/// if no thread sleeps.
///
/// `Wait` is the wait strategy of producers and consumers. `Pacing` pauses a consumer after each
/// consume call, and a producer before each new attempt to push into a full queue. pop() never
/// pauses. All threads share one const Pacing.
template <class Queue, class Wait = Park, class Pacing = BatchPacing>
class BlockingQueue : public detail::BlockingPushes<BlockingQueue<Queue, Wait, Pacing>,
                                                    typename Queue::value_type> {
public:
    using value_type = typename Queue::value_type;
    using Clock = typename Wait::Clock;
    template <class Q>
    class BasicProducer;

    BlockingQueue() = default;

    /// Constructs the wrapped `Queue` from its capacity or limit and further arguments.
    template <class... Args>
    explicit BlockingQueue(std::size_t capacity, Args&&... args)
        : queue_(capacity, std::forward<Args>(args)...) {}

    BlockingQueue(const BlockingQueue&) = delete;  // in containers: std::deque
    BlockingQueue& operator=(const BlockingQueue&) = delete;

    // ---- Producers: the push functions of BlockingPushes, and producer()

    /// Returns a handle with the push functions. Exists only for queues with producer handles.
    template <class Q = Queue>
    [[nodiscard]] BasicProducer<Q> producer() {
        return BasicProducer<Q>(*this);
    }

    // ---- Consumer

    /// Removes and returns the oldest message, if any. Never waits.
    [[nodiscard]] std::optional<value_type> tryPop() {
        std::optional<value_type> value;
        (void)poll([&] { return queue_.tryPop(value) ? 1U : 0U; });
        return value;
    }

    /// Waits for a message. The result is empty only if the queue is closed and drained.
    [[nodiscard]] std::optional<value_type> pop() { return popWithin(Forever()); }

    /// Waits for a message, but at most for `atMost`.
    template <class Rep, class Period>
    [[nodiscard]] std::optional<value_type> popFor(std::chrono::duration<Rep, Period> atMost) {
        return popWithin(atMost);
    }

    /// Calls handler(T&) for up to `max` messages, and returns their number. Never waits.
    template <class Handler>
    std::size_t tryConsume(Handler&& handler, std::size_t max = unlimited) {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        return poll([&] { return queue_.consume(notifying(handler), max); });
    }

    /// Waits for messages, and calls handler(T&) for up to `max` messages. Returns the number of
    /// messages, which is 0 only if the queue is closed and drained, or `max` is 0.
    template <class Handler>
    std::size_t consume(Handler&& handler, std::size_t max = unlimited) {
        return consumeWithin(Forever(), max,
                             [&] { return queue_.consume(notifying(handler), max); });
    }

    /// Like consume(), but waits for at most `atMost`.
    template <class Rep, class Period, class Handler>
    std::size_t consumeFor(std::chrono::duration<Rep, Period> atMost, Handler&& handler,
                           std::size_t max = unlimited) {
        return consumeWithin(atMost, max, [&] { return queue_.consume(notifying(handler), max); });
    }

    /// Like consume(), but first waits until the queue holds `minimum` messages. consumeBatch()
    /// stops waiting if `atMost` has passed since the first message arrived, or if the queue is
    /// closed. Only the first message and the `minimum`-th message wake the consumer. Only
    /// SpscRing, MpscRing and SegmentQueue support batches. Calls setupError() if the minimum is 0
    /// or above `max` or the capacity, or `atMost` is negative.
    template <class Rep, class Period, class Handler>
    std::size_t consumeBatch(std::size_t minimum, std::chrono::duration<Rep, Period> atMost,
                             Handler&& handler, std::size_t max = unlimited) {
        static_assert(countsBatches, "consumeBatch() is for SpscRing, MpscRing and SegmentQueue: "
                                     "other queues have no single count of messages");
        constexpr const char* what = "BlockingQueue: minimum of a batch";
        detail::requireAtLeast(what, minimum, 1);
        detail::requireAtMost(what, minimum, std::min(max, capacity()));
        const double below = -std::chrono::duration<double, std::nano>(atMost).count();
        detail::requireAtMost("BlockingQueue: nanoseconds below zero of a batch",
                              below > 0 ? static_cast<std::uint64_t>(std::min(below, 1e18)) : 0, 0);
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        const auto has = [this](std::size_t count) {
            return [this, count] { return sizeApprox() >= count || isClosed(); };
        };
        notEmpty_.wait(has(1));
        awaited_.store(minimum, std::memory_order_relaxed);  // by E1 of Park
        const auto deadline = deadlineAfter<Clock>(atMost);
        (void)notEmpty_.waitUntil(has(minimum), deadline);
        awaited_.store(1, std::memory_order_relaxed);  // value only
        std::size_t count = 0;
        const auto take = [&] { return queue_.consume(notifying(handler), max - count); };
        count = pollWithin(Forever(), take);
        // Polls again, because sizeApprox(), which ended the wait, also counts unfinished pushes.
        for (auto now = Clock::now(); count < minimum && !isClosed() && now < deadline;
             now = Clock::now()) {
            count += pollWithin(deadline - now, take);
        }
        return count;
    }

    /// Like consume(), but in the order of keyOf(const T&); for queues that have consumeOrdered().
    template <class KeyOf, class Handler>
    std::size_t consumeOrdered(KeyOf&& keyOf, Handler&& handler, std::size_t max = unlimited) {
        return consumeWithin(Forever(), max,
                             [&] { return queue_.consumeOrdered(keyOf, notifying(handler), max); });
    }

    // ---- Any thread

    /// Frees memory that the queue keeps for later messages; for queues that have trim().
    template <class Q = Queue>
    auto trim() noexcept -> decltype(std::declval<Q&>().trim()) {
        return queue_.trim();
    }

    /// Refuses waiting and later pushes, and wakes waiting consumers.
    void close() {
        queue_.close();
        notifyEverybody();
    }

    /// Closes the queue, and waits until all accepted messages have been consumed.
    void drain() {
        close();
        drained_.wait([this] { return queue_.isDrained(); });
    }

    /// Like drain(), but waits for at most `atMost`. Returns false if messages are left.
    template <class Rep, class Period>
    [[nodiscard]] bool drainFor(std::chrono::duration<Rep, Period> atMost) {
        close();
        return drained_.waitUntil([this] { return queue_.isDrained(); },
                                  deadlineAfter<Clock>(atMost));
    }

    [[nodiscard]] bool isClosed() const noexcept { return queue_.isClosed(); }
    [[nodiscard]] bool isDrained() const noexcept { return queue_.isDrained(); }
    [[nodiscard]] std::size_t sizeApprox() const noexcept { return queue_.sizeApprox(); }
    [[nodiscard]] std::size_t capacity() const noexcept { return queue_.capacity(); }

    /// The wait strategy of the consumer, for example to access an EventFdWait's descriptor. When
    /// consumeFor() returns 0, the EventFdWait is armed.
    [[nodiscard]] Wait& waiting() noexcept { return notEmpty_; }

private:
    template <class Self, class T>
    friend class detail::BlockingPushes;
    using Forever = detail::Forever;

    // Invariant: a notification follows each change that can end a wait. A thread that has waited
    // wakes another thread if messages or slots are left.

    template <class Ready>
    void wait(Wait& side, const Ready& ready, Forever) {
        side.wait(ready);
    }
    template <class Ready, class Rep, class Period>
    void wait(Wait& side, const Ready& ready, std::chrono::duration<Rep, Period> atMost) {
        // A consumer waits even for a duration of 0, because only a wait arms an EventFdWait.
        if (&side == &notEmpty_ || atMost > atMost.zero()) {
            (void)side.waitUntil(ready, deadlineAfter<Clock>(atMost));
        }
    }

    void notifyEverybody() noexcept {
        notFull_.notifyAll();
        drained_.notifyAll();
        notEmpty_.notifyAll();
    }
    /// Wakes a consumer, unless its consumeBatch() waits for more messages than are queued. Proof
    /// that no wake-up is lost: docs/algorithms/parking.md.
    void notifyNotEmpty() noexcept {
        if constexpr (countsBatches) {
            notifyOneOf(notEmpty_, [this] {
                return sizeApprox() >= awaited_.load(std::memory_order_relaxed);  // by E1 of Park
            });
        } else {
            notifyOneOf(notEmpty_);
        }
    }
    void notifyNotFull() noexcept {
        if constexpr (detail::hasProducers<Queue>) {
            notFull_.notifyAll();
        } else {
            notifyOneOf(notFull_);
        }
    }

    // ---- Producers

    BlockingQueue& owner() noexcept { return *this; }
    Queue& target() noexcept { return queue_; }

    /// Notifies a consumer after an accepted push, and all threads if the queue is closed or a
    /// message's constructor threw. A push that a full queue refused must not notify, because
    /// producers and consumers could wake each other forever.
    struct PushEnd {
        BlockingQueue& queue;
        SendResult result = SendResult::closed;  // stays `closed` if T's constructor throws
        ~PushEnd() {
            if (result == SendResult::ok) {
                queue.notifyNotEmpty();
            }
            bool isForAll = result == SendResult::closed;
            if constexpr (detail::hasDrops<Queue>) {
                // A drop may have drained a closed queue. If the queue is open, close() notifies.
                isForAll = isForAll || queue.isClosed();
            }
            if (isForAll) {
                queue.notifyEverybody();
            }
        }
    };

    template <class Target, class... Args>
    SendResult tryPushTo(Target& target, Args&&... args) {
        constexpr bool needsHandle = std::is_same_v<Target, Queue> && detail::hasProducers<Queue>;
        static_assert(!needsHandle,
                      "each producer of this queue has a handle: push through `producer()`");
        PushEnd end{*this};
        if constexpr (!needsHandle) {
            end.result = target.tryEmplace(std::forward<Args>(args)...);
        }
        return end.result;
    }

    template <class Target, class Limit, class... Args>
    SendResult pushTo(Target& target, Limit limit, Args&&... args) {
        SendResult result = tryPushTo(target, std::forward<Args>(args)...);
        if (result == SendResult::full) {
            unsigned pauses = 0;
            // A refused push leaves its arguments unchanged, so the arguments can be pushed again.
            const auto retry = [&] {
                // After maxPauses pauses the consumer is slow, so further pauses would not help.
                if (pauses < maxPauses) {
                    pacing_.full();
                    ++pauses;
                }
                result = tryPushTo(target, std::forward<Args>(args)...);
                return result != SendResult::full;
            };
            wait(notFull_, retry, limit);
            if (!detail::hasProducers<Queue> && sizeApprox() < capacity()) {
                notifyNotFull();
            }
        }
        return result;
    }

    // ---- Consumer

    /// Wakes a producer and drain() after a consume call, even if the call throws. Also wakes all
    /// consumers of a drained queue, and one consumer if a lane still has messages.
    struct PollEnd {
        BlockingQueue& queue;
        std::size_t count = 1;  // stays 1 if a handler throws
        ~PollEnd() {
            queue.notifyNotFull();
            queue.drained_.notifyAll();
            if constexpr (detail::hasHeldLanes<Queue>) {
                if (count != 0 && queue.queue_.hasArrival()) {
                    notifyOneOf(queue.notEmpty_);
                }
            }
            if constexpr (detail::hasManyConsumers<Queue>) {
                if (queue.isDrained()) {
                    queue.notEmpty_.notifyAll();
                }
            }
        }
    };

    /// Wraps `handler`: each call first notifies producers that the previous slot is free.
    template <class Handler>
    auto notifying(Handler& handler) noexcept {
        return [this, &handler, isFirst = true](value_type& message) mutable {
            if (!std::exchange(isFirst, false)) {
                notifyNotFull();
            }
            handler(message);
        };
    }

    template <class Take>
    std::size_t poll(const Take& take) {
        PollEnd end{*this};
        end.count = take();
        return end.count;
    }

    /// Polls until a message is taken, the queue is drained, or the time limit has passed.
    template <class Limit, class Take>
    std::size_t pollWithin(Limit limit, const Take& take) {
        std::size_t count = poll(take);
        if (count == 0) {
            const auto retry = [&] {
                count = poll(take);
                return count != 0 || queue_.isDrained();
            };
            wait(notEmpty_, retry, limit);
            if constexpr (detail::hasManyConsumers<Queue> && !detail::hasHeldLanes<Queue>) {
                if (sizeApprox() != 0) {
                    notifyOneOf(notEmpty_);
                }
            }
        }
        return count;
    }

    template <class Limit, class Take>
    std::size_t consumeWithin(Limit limit, std::size_t max, const Take& take) {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        const std::size_t count = max == 0 ? 0 : pollWithin(limit, take);
        pacing_.polled(count);
        return count;
    }

    template <class Limit>
    std::optional<value_type> popWithin(Limit limit) {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        std::optional<value_type> value;
        pollWithin(limit, [&] { return queue_.tryPop(value) ? 1U : 0U; });
        return value;
    }

    // RoleCheck uses StdPlatform, because it checks callers of BlockingQueue, not of `Queue`.
    using RoleCheck = std::conditional_t<detail::hasManyConsumers<Queue>, detail::AnyNumber,
                                         sluice::RoleCheck<StdPlatform>>;
    using Platform = typename detail::PlatformOfQueue<Queue>::Type;
    static constexpr bool countsBatches = detail::PlatformOfQueue<Queue>::canCountBatches;
    static constexpr std::size_t line = cacheLineSize;
    static constexpr unsigned maxPauses = 8;  // per push into a full queue

    alignas(line) alignas(Wait) Wait notEmpty_;                   // consumers wait
    typename Platform::template Atomic<std::size_t> awaited_{1};  // size at which pushes notify
    alignas(line) alignas(Wait) Wait notFull_;                    // producers wait
    Wait drained_;                                                // drain() waits
    // Destroyed before the wait strategies, because a message's destructor may notify waiters.
    alignas(line) alignas(Queue) Queue queue_;
    const Pacing pacing_{};
    RoleCheck consumerRole_;
};

/// A producer handle. close() and the destructor release the producer's lane, but pushed messages
/// are still delivered.
template <class Queue, class Wait, class Pacing>
template <class Q>
class BlockingQueue<Queue, Wait, Pacing>::BasicProducer
    : public detail::BlockingPushes<BasicProducer<Q>, typename Q::value_type> {
public:
    /// Closes the handle; idempotent. The consumer frees the lane after the lane's last message.
    void close() noexcept { handle_.close(); }

    [[nodiscard]] bool isOpen() const noexcept { return handle_.isOpen(); }

private:
    friend class BlockingQueue;
    friend detail::BlockingPushes<BasicProducer<Q>, typename Q::value_type>;
    explicit BasicProducer(BlockingQueue& queue)
        : queue_(&queue), handle_(queue.queue_.producer()) {}

    BlockingQueue& owner() noexcept { return *queue_; }
    typename Q::Producer& target() noexcept { return handle_; }

    BlockingQueue* queue_;
    typename Q::Producer handle_;
};

}  // namespace sluice
