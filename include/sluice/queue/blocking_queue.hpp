#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/queue/queue_traits.hpp>
#include <sluice/wait/batch_pacing.hpp>
#include <sluice/wait/event_count.hpp>
#include <sluice/wait/park.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

namespace sluice {

namespace detail {

/// Whether a queue has a handle for each producer.
template <class Queue, class = void>
inline constexpr bool hasProducers = false;
template <class Queue>
inline constexpr bool hasProducers<Queue, std::void_t<typename Queue::Producer>> = true;

/// Whether several threads may consume from a queue at once: its member `manyConsumers` says so.
template <class Queue, class = void>
inline constexpr bool hasManyConsumers = false;
template <class Queue>
inline constexpr bool hasManyConsumers<Queue, std::void_t<decltype(Queue::manyConsumers)>> =
    Queue::manyConsumers;

/// Whether the consumer of a queue may look at the oldest message before it takes it out.
template <class Queue, class = void>
inline constexpr bool hasFront = false;
template <class Queue>
inline constexpr bool hasFront<Queue, std::void_t<decltype(std::declval<Queue&>().front()),
                                                  decltype(std::declval<Queue&>().popFront())>> =
    true;

/// In place of a RoleCheck, for a role that any number of threads may hold.
struct AnyNumber {
    struct Scope {
        Scope(AnyNumber&, const char*) noexcept {}
    };
};

}  // namespace detail

/// Makes producers and consumers of any Sluice queue wait for each other: push and pop that wait,
/// timed forms, close and drain.
///
///     sluice::BlockingQueue<sluice::SpscRing<Reading, 256>> queue;
///     (void)queue.push(Reading{21.5});  // the producer; waits while the queue is full
///     queue.consume([](const Reading& reading) { ... });  // the consumer; waits while it is empty
///     queue.close();
///
/// Use it if a thread has no other work while the queue is full or empty. Use the queue itself if
/// the thread can act on `full` or empty.
///
/// Threads: as for the queue inside. Any thread calls close() and the sizes. Any thread calls
/// drain(), except the consumer, because drain() waits for the consumer. A handler may tryPush()
/// into its own queue. A push() there would wait for its own caller.
///
/// Progress: a wait ends when the other side acts or the queue is closed. With Park no thread spins
/// for long, and there is no system call while the other side is awake. A message wakes one
/// consumer, and room wakes one producer. With MpscLanes each producer has its own room, so room
/// wakes all producers.
///
/// Memory promise, capacity, allocation, exceptions: those of the queue inside. An exception of a
/// constructor or handler passes through. Before that, the other side is woken for all that was
/// done. If the move of a message throws, pop(), popFor() and tryPop() leave the message in the
/// queue. With MpscLanes and MpmcRing these calls do not compile for such a message; consume()
/// does.
///
/// Shutdown: close() refuses later and waiting pushes. The consumer still receives the accepted
/// messages. Then its calls return 0 or an empty result. A BlockingQueue must outlive the calls on
/// it and its producers.
///
/// Origin: the wait strategies as a part of their own, apart from the queue, follow the LMAX
/// Disruptor.
///
/// Invariant: every change that can end a wait is followed by a notification of the side that may
/// wait for it. Messages and slots become available out of order: a woken thread may find nothing,
/// and one change may then be enough for two threads. So a thread that waited, and leaves a message
/// or room, wakes the next one.
///
/// Edges: none of its own. The queue has the edges of data, the wait strategy those of wake-ups.
///
/// Tests: tests/unit/queue/blocking_queue_test.cpp, tests/conformance, tests/stress.
///
/// `Wait` is the wait strategy of both sides. `Pacing` pauses after a consume call, and in a
/// producer that finds the queue full. pop() takes single messages and is not paced.
template <class Queue, class Wait = Park, class Pacing = BatchPacing>
class BlockingQueue {
public:
    using value_type = typename Queue::value_type;
    using Clock = typename Wait::Clock;
    template <class Q>
    class BasicProducer;

    BlockingQueue() = default;

    /// For queues with a capacity or a limit. The arguments are those of the queue inside.
    template <class... Args>
    explicit BlockingQueue(std::size_t capacity, Args&&... args)
        : queue_(capacity, std::forward<Args>(args)...) {}

    BlockingQueue(const BlockingQueue&) = delete;
    BlockingQueue& operator=(const BlockingQueue&) = delete;

    // ---- Producers

    /// For queues with a handle per producer: returns a handle whose pushes wait like those below.
    template <class Q = Queue>
    [[nodiscard]] BasicProducer<Q> producer() {
        return BasicProducer<Q>(*this);
    }

    /// Never waits.
    SendResult tryPush(const value_type& value) { return tryPushInto(queue_, value); }
    SendResult tryPush(value_type&& value) { return tryPushInto(queue_, std::move(value)); }

    /// Constructs the message in its slot. Never waits.
    template <class... Args>
    SendResult tryEmplace(Args&&... args) {
        return tryPushInto(queue_, std::forward<Args>(args)...);
    }

    /// Waits for room, and constructs the message in its slot. The result is `ok` or `closed`.
    template <class... Args>
    SendResult emplace(Args&&... args) {
        return pushInto(queue_, std::forward<Args>(args)...);
    }

    /// Waits for room. The result is `ok` or `closed`.
    SendResult push(const value_type& value) { return pushInto(queue_, value); }
    SendResult push(value_type&& value) { return pushInto(queue_, std::move(value)); }

    /// Waits for room, at most for `atMost`.
    template <class Rep, class Period>
    SendResult pushFor(const value_type& value, std::chrono::duration<Rep, Period> atMost) {
        return pushUntil(deadlineAfter<Clock>(atMost), queue_, value);
    }
    template <class Rep, class Period>
    SendResult pushFor(value_type&& value, std::chrono::duration<Rep, Period> atMost) {
        return pushUntil(deadlineAfter<Clock>(atMost), queue_, std::move(value));
    }

    // ---- Consumer

    /// Never waits.
    [[nodiscard]] std::optional<value_type> tryPop() {
        std::optional<value_type> value;
        (void)popAttempt(value);
        return value;
    }

    /// Waits for a message. The result is empty only if the queue is closed and drained.
    [[nodiscard]] std::optional<value_type> pop() {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        std::optional<value_type> value;
        awaitMessage([&] { return popAttempt(value); });
        return value;
    }

    /// Waits for a message, at most for `atMost`. The result is empty if no message came, or if the
    /// queue is closed and drained.
    template <class Rep, class Period>
    [[nodiscard]] std::optional<value_type> popFor(std::chrono::duration<Rep, Period> atMost) {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        std::optional<value_type> value;
        awaitMessage([&] { return popAttempt(value); }, deadlineAfter<Clock>(atMost));
        return value;
    }

    /// Waits for messages, and hands the queued messages, at most `max`, to handler(T&). Returns
    /// their number. It is 0 only if the queue is closed and drained, or if `max` is 0.
    template <class Handler>
    std::size_t consume(Handler&& handler, std::size_t max = unlimited) {
        return consumeWaiting(max, [&] { return queue_.consume(handler, max); });
    }

    /// As consume(), but waits at most for `atMost`. The result is also 0 if no message came.
    template <class Rep, class Period, class Handler>
    std::size_t consumeFor(std::chrono::duration<Rep, Period> atMost, Handler&& handler,
                           std::size_t max = unlimited) {
        return consumeWaiting(
            max, [&] { return queue_.consume(handler, max); }, deadlineAfter<Clock>(atMost));
    }

    /// As consume(), in the order of keyOf(const T&). For queues that merge by key.
    template <class KeyOf, class Handler>
    std::size_t consumeOrdered(KeyOf&& keyOf, Handler&& handler, std::size_t max = unlimited) {
        return consumeWaiting(max, [&] { return queue_.consumeOrdered(keyOf, handler, max); });
    }

    /// Waits for messages, and takes all queued messages. The result is empty only if the queue is
    /// closed and drained. For queues that hand over all messages at once.
    template <class Q = Queue>
    [[nodiscard]] auto takeAll() -> decltype(std::declval<Q&>().takeAll()) {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        decltype(std::declval<Q&>().takeAll()) batch;
        std::size_t count = 0;
        const auto take = [&] {
            batch = queue_.takeAll();
            return batch.size();
        };
        awaitMessage([&] { return harvest(count, take); });
        return batch;
    }

    // ---- Anybody

    /// Frees unused memory. For queues that keep memory for later bursts.
    template <class Q = Queue>
    auto trim() noexcept -> decltype(std::declval<Q&>().trim()) {
        return queue_.trim();
    }

    /// Refuses later and waiting pushes, and wakes a waiting consumer.
    void close() {
        queue_.close();
        notifyEverybody();
    }

    /// Waits until all messages accepted before the call have been consumed. If the queue is
    /// closed, it waits until the queue is drained. While producers go on pushing, it waits for a
    /// moment without any message, so call close() first.
    void drain() {
        consumed_.wait([this] { return isAtRest(); });
    }

    /// As drain(), but waits at most for `atMost`. Returns false if messages were left then.
    template <class Rep, class Period>
    [[nodiscard]] bool drainFor(std::chrono::duration<Rep, Period> atMost) {
        return consumed_.waitUntil([this] { return isAtRest(); }, deadlineAfter<Clock>(atMost));
    }

    [[nodiscard]] bool isClosed() const noexcept { return queue_.isClosed(); }
    [[nodiscard]] bool isDrained() const noexcept { return queue_.isDrained(); }
    [[nodiscard]] std::size_t sizeApprox() const noexcept { return queue_.sizeApprox(); }
    [[nodiscard]] std::size_t capacity() const noexcept { return queue_.capacity(); }

private:
    void notifyEverybody() noexcept {
        roomMade_.notifyAll();
        consumed_.notifyAll();
        arrived_.notifyAll();
    }
    void notifyOfRoom() noexcept {
        if constexpr (detail::hasProducers<Queue>) {
            roomMade_.notifyAll();
        } else {
            notifyOneOf(roomMade_);
        }
    }

    /// Wakes a producer and drain(), whether the call returns or throws. At the end of a closed
    /// queue it wakes other consumers too: the end comes when the last handler has returned.
    struct EndOfHarvest {
        BlockingQueue& queue;
        ~EndOfHarvest() {
            queue.notifyOfRoom();
            queue.consumed_.notifyAll();
            if constexpr (detail::hasManyConsumers<Queue>) {
                if (queue.isDrained()) {
                    queue.arrived_.notifyAll();
                }
            }
        }
    };

    /// Wakes one consumer for an accepted message. If the queue was closed or the constructor
    /// threw, it wakes all threads, because some may wait for the end of this push. If the queue
    /// was full, it wakes no thread: otherwise the two sides could keep waking each other.
    struct EndOfPush {
        BlockingQueue& queue;
        SendResult result = SendResult::closed;  // stays so if a constructor throws
        ~EndOfPush() {
            if (result == SendResult::ok) {
                notifyOneOf(queue.arrived_);
            } else if (result == SendResult::closed) {
                queue.notifyEverybody();
            }
        }
    };

    bool isAtRest() const noexcept {
        return queue_.sizeApprox() == 0 && (!queue_.isClosed() || queue_.isDrained());
    }

    template <class Target, class... Args>
    SendResult tryPushInto(Target& target, Args&&... args) {
        constexpr bool needsHandle = std::is_same_v<Target, Queue> && detail::hasProducers<Queue>;
        static_assert(!needsHandle,
                      "each producer of this queue has a handle: push through `producer()`");
        EndOfPush push{*this};
        if constexpr (!needsHandle) {
            push.result = target.tryEmplace(std::forward<Args>(args)...);
        }
        return push.result;
    }

    /// Pushes until there was room, or the queue was closed, or `wait` gives up. A refused push
    /// leaves its arguments as they were, so the attempt may be repeated with them.
    template <class Waiting, class Target, class... Args>
    SendResult pushWith(Waiting wait, typename Clock::time_point deadline, Target& target,
                        Args&&... args) {
        SendResult result = SendResult::full;
        unsigned pauses = 0;
        wait([&] {
            result = tryPushInto(target, std::forward<Args>(args)...);
            // A pause is of no use when no attempt follows, or when the consumer is slow.
            if (result == SendResult::full && pauses < mostPauses && Clock::now() < deadline) {
                pacing_.full();
                ++pauses;
            }
            return result != SendResult::full;
        });
        if (!detail::hasProducers<Queue> && pauses != 0 && sizeApprox() < capacity()) {
            notifyOfRoom();
        }
        return result;
    }

    template <class Target, class... Args>
    SendResult pushInto(Target& target, Args&&... args) {
        return pushWith([this](auto attempt) { roomMade_.wait(attempt); }, Clock::time_point::max(),
                        target, std::forward<Args>(args)...);
    }

    template <class Target, class... Args>
    SendResult pushUntil(typename Clock::time_point deadline, Target& target, Args&&... args) {
        return pushWith([&](auto attempt) { (void)roomMade_.waitUntil(attempt, deadline); },
                        deadline, target, std::forward<Args>(args)...);
    }

    /// Repeats attempt(), which takes messages or sees the end, until it is true or `deadline`.
    template <class Attempt, class... Deadline>
    void awaitMessage(Attempt attempt, Deadline... deadline) {
        bool hasWaited = false;
        const auto ready = [&] {
            const bool isOver = attempt();
            hasWaited = hasWaited || !isOver;
            return isOver;
        };
        if constexpr (sizeof...(Deadline) == 0) {
            arrived_.wait(ready);
        } else {
            (void)arrived_.waitUntil(ready, deadline...);
        }
        if (detail::hasManyConsumers<Queue> && hasWaited && sizeApprox() != 0) {
            notifyOneOf(arrived_);
        }
    }

    // Does not assign the result of tryPop(): a message may be movable but not assignable.
    bool popAttempt(std::optional<value_type>& value) {
        std::size_t count = 0;
        return harvest(count, [&]() -> std::size_t {
            if constexpr (mayKeepMessage) {
                value_type* const oldest = queue_.front();
                if (oldest != nullptr) {
                    value.emplace(std::move(*oldest));  // if it throws, the message stays
                    queue_.popFront();
                }
                return value.has_value() ? 1 : 0;
            } else {
                static_assert(
                    std::is_nothrow_move_constructible_v<value_type>,
                    "pop() of a BlockingQueue around MpscLanes or an MpmcRing would lose a "
                    "message whose move constructor throws: declare the move constructor "
                    "noexcept, or use consume()");
                return queue_.consume(
                    [&value](value_type& message) { value.emplace(std::move(message)); }, 1);
            }
        });
    }

    /// Consumes by take(), which returns a number. Returns whether the wait for messages is over.
    template <class Take>
    bool harvest(std::size_t& count, Take&& take) {
        const EndOfHarvest end{*this};
        count = take();
        return count != 0 || queue_.isDrained();
    }

    template <class Take, class... Deadline>
    std::size_t consumeWaiting(std::size_t max, Take&& take, Deadline... deadline) {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        std::size_t count = 0;
        awaitMessage([&] { return max == 0 || harvest(count, take); }, deadline...);
        pacing_.polled(count);
        return count;
    }

    // It uses StdPlatform, because it checks threads that wait, not the queue inside.
    using RoleCheck = std::conditional_t<detail::hasManyConsumers<Queue>, detail::AnyNumber,
                                         sluice::RoleCheck<StdPlatform>>;
    static constexpr std::size_t line = cacheLineSize;
    static constexpr unsigned mostPauses = 8;  // of a producer that finds the queue full
    static constexpr bool mayKeepMessage =
        !std::is_nothrow_move_constructible_v<value_type> && detail::hasFront<Queue>;

    alignas(line) alignas(Wait) Wait arrived_;   // waits of consumers
    alignas(line) alignas(Wait) Wait roomMade_;  // waits of producers
    Wait consumed_;                              // waits of drain
    // Destroyed before the waits, because a destructor of a message may call this object.
    alignas(line) alignas(Queue) Queue queue_;
    Pacing pacing_;
    RoleCheck consumerRole_;
};

}  // namespace sluice

#include <sluice/queue/detail/blocking_producer.hpp>
