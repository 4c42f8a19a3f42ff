#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/ring_storage.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/queue/queue_traits.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <optional>
#include <type_traits>
#include <utility>

namespace sluice {

template <class T, class Traits>
class MpscLanes;

/// Consecutive messages in the memory of a ring.
template <class T>
struct Span {
    T* data = nullptr;
    std::size_t size = 0;

    [[nodiscard]] T* begin() const noexcept { return data; }
    [[nodiscard]] T* end() const noexcept { return data + size; }
};

/// A bounded single-producer, single-consumer queue.
///
///     sluice::SpscRing<Reading, 256> ring;
///     if (ring.tryPush(reading) != sluice::SendResult::ok) { ... }  // producer; it is unchanged
///     ring.consume([](const Reading& reading) { show(reading); });  // the consumer
///
/// Use MpscRing or MpscLanes for several producers, and SegmentQueue for unlimited messages.
/// BlockingQueue adds functions that wait.
///
/// Thread safety: only one thread at a time may push, and only one thread at a time may consume.
/// Any thread may call all members except those of producer and consumer. Handing over the role of
/// producer or consumer needs synchronization. A handler may push into its own queue if its thread
/// is also the producer.
///
/// Errors: if a constructor of T throws, the queue is unchanged. Noexcept constructors make pushes
/// faster. A constructor of T must not push into the queue that constructs the T.
///
/// Performance: every operation is wait-free. After close(), each isDrained() runs a heavy fence
/// (some microseconds) until the result is true. The capacity (1 to a quarter of the Index range)
/// is exact; the storage is rounded up to a power of two. Only the constructor allocates memory,
/// and only with dynamicCapacity.
template <class T, std::size_t Capacity, class Traits = QueueTraits>
class SpscRing {
public:
    using Platform = typename Traits::Platform;

private:
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;
    using Index = typename Traits::Index;
    using Positions = RingPositions<Index>;
    using Slot = typename Platform::template Cell<T>;
    using Storage = detail::RingStorage<Slot, Capacity, Index>;
    using RoleCheck = sluice::RoleCheck<Platform>;

public:
    using value_type = T;
    using Reservation = detail::RingReservation<SpscRing, T, Traits>;
    /// One or two spans; the second span holds the messages after the wrap-around, if any.
    using Spans = std::array<Span<T>, 2>;

    SpscRing() = default;

    /// Calls setupError() if the capacity is 0 or too large.
    template <std::size_t C = Capacity, std::enable_if_t<C == dynamicCapacity, int> = 0>
    explicit SpscRing(std::size_t capacity,
                      std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : slots_(capacity, memory) {}

    ~SpscRing() {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            close();  // so that a message's destructor cannot push a message
            consume([](T&) noexcept {});
        }
    }

    // ---- Producer

    SendResult tryPush(const T& value) { return tryEmplace(value); }
    SendResult tryPush(T&& value) { return tryEmplace(std::move(value)); }
    template <class U, detail::IfConverts<U, T> = 0>
    SendResult tryPush(U&& value) {
        return tryEmplace(std::forward<U>(value));
    }

    /// Constructs a T in a free slot. A refused push leaves the arguments unchanged.
    template <class... Args>
    SendResult tryEmplace(Args&&... args) {
        const typename RoleCheck::Scope producer(producerRole_, oneProducer);
        if constexpr (detail::nothrowBuildable<T, Args...>()) {
            const Index tail = announced_.load(std::memory_order_relaxed);  // own variable
            if (SLUICE_LIKELY(isKnownFree(tail))) {
                announced_.store(Positions::next(tail), std::memory_order_relaxed);  // by E3
                if (SLUICE_LIKELY(Platform::Fence::tryLight()) &&
                    SLUICE_LIKELY(!closed_.load(std::memory_order_relaxed))) {  // by E3
                    slots_.at(tail).construct(std::forward<Args>(args)...);
                    tail_.store(Positions::next(tail), std::memory_order_release);  // E1 publish
                    return SendResult::ok;
                }
                announced_.store(tail, std::memory_order_release);  // E5 abandon
            }
        }
        return tryEmplaceGuarded(std::forward<Args>(args)...);
    }

    /// Reserves the next slot, so that a message can be built in several steps. Until commit(), the
    /// producer must not push other messages, and isDrained() returns false.
    [[nodiscard]] Reservation tryReserve() {
        const typename RoleCheck::Scope producer(producerRole_, oneProducer);
        return reserve();
    }

    /// Pushes as many elements of [begin, end) as fit. Returns the number of pushed elements, which
    /// is 0 if the queue is closed. Needs forward iterators. If a constructor throws, the earlier
    /// elements stay pushed.
    template <class Iterator>
    std::size_t tryPushAll(Iterator begin, Iterator end) {
        const typename RoleCheck::Scope producer(producerRole_, oneProducer);
        struct PublishGuard {
            SpscRing& ring;
            Index tail;
            ~PublishGuard() { ring.publishUpTo(tail); }
        } built{*this, announced_.load(std::memory_order_relaxed)};  // own variable
        const std::size_t count = announceFree(built.tail, detail::elementsIn(begin, end));
        for (std::size_t i = 0; i < count; ++i, ++begin, built.tail = Positions::next(built.tail)) {
            slots_.at(built.tail).construct(*begin);
        }
        return count;
    }

    /// Up to `max` free slots to fill in place; none if the ring is full or closed. Until commit(),
    /// the producer must not push other messages, and isDrained() stays false.
    [[nodiscard]] Spans writable(std::size_t max = unlimited) noexcept {
        static_assert(std::is_trivially_copyable_v<T>,
                      "writable() gives raw memory: for messages with constructors, use "
                      "tryPushAll() or tryReserve()");
        const typename RoleCheck::Scope producer(producerRole_, oneProducer);
        const Index tail = announced_.load(std::memory_order_relaxed);  // own variable
        return spans(tail, announceFree(tail, max));
    }

    /// Pushes the first `count` messages of the last writable(), and releases the remaining slots.
    void commit(std::size_t count) noexcept {
        const typename RoleCheck::Scope producer(producerRole_, oneProducer);
        const Index tail = tail_.load(std::memory_order_relaxed);  // own variable
        const std::size_t most =
            Positions::distance(tail, announced_.load(std::memory_order_relaxed));  // own variable
        SLUICE_ASSERT(count <= most, "commit of more messages than writable() returned");
        publishUpTo(Positions::advance(tail, std::min(count, most)));
    }

    // ---- Consumer

    /// Removes and returns the oldest message, if any. The message stays queued if its move throws.
    [[nodiscard]] std::optional<T> tryPop() {
        std::optional<T> value;
        (void)tryPop(value);
        return value;
    }
    /// Like tryPop(), but fills the empty optional `value`. Returns false if the queue is empty.
    bool tryPop(std::optional<T>& value) {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        T* const oldest = peek();
        if (oldest != nullptr) {
            value.emplace(std::move(*oldest));
            releaseFront();
        }
        return oldest != nullptr;
    }

    /// Calls handler(T&) for up to `max` messages queued at the call, oldest first. A message is
    /// destroyed when its handler returns or throws. Returns the number of messages.
    template <class Handler>
    std::size_t consume(Handler&& handler, std::size_t max = unlimited) {
        return consumeWhile(std::forward<Handler>(handler), max, [] { return true; });
    }

    /// Like consume(), but stops when keepGoing() returns false. Calls keepGoing() after each
    /// message, once the message's slot is free.
    template <class Handler, class Predicate>
    std::size_t consumeWhile(Handler&& handler, std::size_t max, Predicate&& keepGoing) {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        // Relaxed: own variable. The loop keeps a copy of head_, because reading head_ after each
        // store would wait for the store.
        Index head = head_.load(std::memory_order_relaxed);
        cachedTail_ = tail_.load(std::memory_order_acquire);  // E1 publish
        const std::size_t limit = std::min(Positions::distance(head, cachedTail_), max);
        std::size_t count = 0;
        for (bool isMore = true; isMore && count < limit; head = Positions::next(head)) {
            ++count;
            {
                Slot& slot = slots_.at(head);
                const ReleaseGuard guard{*this, slot, head};
                handler(slot.get());
            }
            isMore = keepGoing();
        }
        return count;
    }

    /// The oldest message, which may be modified or moved from, or nullptr if the queue is empty.
    [[nodiscard]] T* front() noexcept {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        return peek();
    }

    /// Destroys the message that front() returned, and frees its slot. On an empty queue, fails an
    /// assertion; release builds do nothing.
    void popFront() noexcept {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        const bool hasFront = head_.load(std::memory_order_relaxed) != cachedTail_;  // own variable
        SLUICE_ASSERT(hasFront, "popFront without a message: call it only after front() returned "
                                "one");
        if (hasFront) {
            releaseFront();
        }
    }

    /// Up to `max` queued messages, oldest first, to be read or moved from in place.
    [[nodiscard]] Spans readable(std::size_t max = unlimited) noexcept {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        const Index head = head_.load(std::memory_order_relaxed);  // own variable
        const Index tail = tail_.load(std::memory_order_acquire);  // E1 publish
        const std::size_t count = std::min(Positions::distance(head, tail), max);
        cachedTail_ = Positions::advance(head, count);  // the bound of release()
        return spans(head, count);
    }

    /// Destroys the first `count` messages of the last readable(), and frees their slots.
    void release(std::size_t count) noexcept {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        Index head = head_.load(std::memory_order_relaxed);  // own variable
        const std::size_t most = Positions::distance(head, cachedTail_);
        SLUICE_ASSERT(count <= most, "release of more messages than readable() returned");
        for (std::size_t left = std::min(count, most); left != 0; --left) {
            slots_.at(head).destroy();
            head = Positions::next(head);
        }
        head_.store(head, std::memory_order_release);  // E2 reuse
    }

    /// Returns true if consume() would find a message.
    [[nodiscard]] bool hasArrival() const noexcept { return arrival()(); }

    /// Returns hasArrival() as a function object that is valid until the consumer frees a slot.
    [[nodiscard]] auto arrival() const noexcept {
        // Relaxed: own variable.
        return [head = head_.load(std::memory_order_relaxed), &tail = tail_]() noexcept {
            return head != tail.load(std::memory_order_relaxed);  // hint
        };
    }

    /// Returns true if the queue holds more than one message.
    [[nodiscard]] bool hasSecond() const noexcept {
        return Positions::distance(head_.load(std::memory_order_relaxed),       // own variable
                                   tail_.load(std::memory_order_relaxed)) > 1;  // hint
    }

    // ---- Any thread

    /// Refuses later pushes; idempotent. A push during the call is either refused or delivered.
    void close() noexcept { closed_.store(true, std::memory_order_release); }  // E3 close

    [[nodiscard]] bool isClosed() const noexcept { return closed_.load(std::memory_order_acquire); }

    /// Returns true once the queue is closed and empty and no push or handler is running.
    [[nodiscard]] bool isDrained() const noexcept {
        if (drained_.load(std::memory_order_acquire)) {  // E4 end
            return true;
        }
        if (!isClosed()) {
            return false;
        }
        Platform::Fence::heavy();  // E3 close
        return isDrainedAfterFence();
    }

    /// The approximate number of messages queued or being handled; at most capacity().
    [[nodiscard]] std::size_t sizeApprox() const noexcept {
        // Loads head_ before tail_, so that tail - head cannot become negative.
        const Index head = head_.load(std::memory_order_acquire);  // E2 reuse
        const Index tail = tail_.load(std::memory_order_acquire);
        return std::min(Positions::distance(head, tail), capacity());
    }

    /// The exact size at some moment of the call. Retries while the consumer frees slots.
    [[nodiscard]] std::size_t sizeExact() const noexcept {
        return std::min(Positions::exactDistance(head_, tail_), capacity());
    }

    /// The number of messages pushed so far, modulo half the range of Index.
    [[nodiscard]] Index pushCount() const noexcept {
        const Index tail = tail_.load(std::memory_order_acquire);
        return static_cast<Index>(static_cast<Index>(tail - firstPosition) / Positions::one);
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return slots_.capacity(); }

private:
    // Happens-before edges (proof: docs/algorithms/rings.md):
    //   E1 publish: push -> consume.
    //   E2 reuse: consume -> push/sizeApprox.
    //   E3 close: push <-> isDrained.
    //   E4 end: isDrained -> isDrained.
    //   E5 abandon: push -> isDrained.
    // Invariant: head <= cachedTail <= tail <= limit <= head + capacity, and tail <= announced.

    friend class MpscLanes<T, Traits>;

    static constexpr std::size_t line = Traits::cacheLineSize;
    static constexpr Index firstPosition = static_cast<Index>(Traits::firstPosition);
    static_assert(!Positions::isMarked(firstPosition), "firstPosition of the traits must be even");

    /// A push prefetches this many slots ahead; 0 unless a slot takes about a cache line.
    static constexpr std::size_t prefetchDistance = sizeof(Slot) > line / 2 && sizeof(Slot) <= line
                                                        ? 32
                                                        : 0;

    struct ReleaseGuard {
        SpscRing& ring;
        Slot& slot;
        Index head;
        ~ReleaseGuard() {
            slot.destroyAndOwnLines();
            ring.head_.store(Positions::next(head), std::memory_order_release);  // E2 reuse
        }
    };

    /// The slow path of tryEmplace(): throwing constructors, full or closed rings, and full fences.
    /// A tail call, so that the fast path needs no stack frame.
    template <class... Args>
    [[gnu::noinline]] SendResult tryEmplaceGuarded(Args&&... args) {
        Reservation reservation = reserve();
        if (reservation) {
            reservation.emplace(std::forward<Args>(args)...);
            reservation.commit();
        }
        return reservation.result();
    }

    Reservation reserve() noexcept {
        const Index tail = announced_.load(std::memory_order_relaxed);  // own variable
        const SendResult result = admit(tail);
        return Reservation(*this, {result, tail, result == SendResult::ok ? 1U : 0U});
    }
    friend Reservation;
    Slot& cellAt(Index position) noexcept { return slots_.at(position); }
    void publish(Index position) noexcept {
        tail_.store(Positions::next(position), std::memory_order_release);  // E1 publish
    }
    void giveUp(Index position) noexcept {
        announced_.store(position, std::memory_order_release);  // E5 abandon
    }

    SendResult admit(Index tail) noexcept {
        if (!isKnownFree(tail)) {
            const Index head = head_.load(std::memory_order_acquire);  // E2 reuse
            limit_ = Positions::advance(head, capacity());
            if (tail == limit_) {
                return isClosed() ? SendResult::closed : SendResult::full;
            }
        }
        return announce(tail, 1) ? SendResult::ok : SendResult::closed;
    }

    /// Announces up to `max` pushes, one per free slot. Returns the number of announced pushes, or
    /// 0 if the ring is closed.
    std::size_t announceFree(Index tail, std::size_t max) noexcept {
        SLUICE_ASSERT(tail == tail_.load(std::memory_order_relaxed),
                      "a push while a reservation is open: commit or drop the reservation first");
        limit_ = Positions::advance(head_.load(std::memory_order_acquire), capacity());  // E2 reuse
        const std::size_t count = std::min(Positions::distance(tail, limit_), max);
        return announce(tail, count) ? count : 0;
    }

    /// Returns false if the ring is closed.
    bool announce(Index tail, std::size_t count) noexcept {
        announced_.store(Positions::advance(tail, count), std::memory_order_relaxed);  // by E3
        Platform::Fence::light();                                                      // E3 close
        const bool isOpen = !closed_.load(std::memory_order_relaxed);
        if (!isOpen) {
            announced_.store(tail, std::memory_order_release);  // E5 abandon
        }
        return isOpen;
    }

    void publishUpTo(Index tail) noexcept {
        tail_.store(tail, std::memory_order_release);       // E1 publish
        announced_.store(tail, std::memory_order_release);  // E5 abandon
    }

    Spans spans(Index position, std::size_t count) noexcept {
        static_assert(sizeof(Slot) == sizeof(T), "the slots of this Platform are no plain array");
        const auto begin = reinterpret_cast<T*>(&slots_.at(0));
        const auto first = reinterpret_cast<T*>(&slots_.at(position));
        const auto toEnd = slots_.count() - static_cast<std::size_t>(first - begin);
        const std::size_t wrapped = count - std::min(count, toEnd);
        return {Span<T>{first, count - wrapped}, Span<T>{begin, wrapped}};
    }

    /// Returns true if the slot at `tail` is known to be free. Prefetches a later free slot.
    bool isKnownFree(Index tail) noexcept {
        SLUICE_ASSERT(tail == tail_.load(std::memory_order_relaxed),
                      "a push while a reservation is open: commit or drop the reservation first");
        constexpr auto ahead = static_cast<Index>(prefetchDistance * Positions::one);
        const auto known = static_cast<Index>(limit_ - tail);
        if (SLUICE_LIKELY(known > ahead)) {
            if constexpr (prefetchDistance != 0) {
                prefetchForWrite(&slots_.at(static_cast<Index>(tail + ahead)));
            }
            return true;
        }
        return known != 0;
    }

    T* peek() noexcept {
        const Index head = head_.load(std::memory_order_relaxed);  // own variable
        if (head == cachedTail_) {
            cachedTail_ = tail_.load(std::memory_order_acquire);  // E1 publish
        }
        return head == cachedTail_ ? nullptr : std::addressof(slots_.at(head).get());
    }

    void releaseFront() noexcept {
        const Index head = head_.load(std::memory_order_relaxed);  // own variable
        const ReleaseGuard guard{*this, slots_.at(head), head};
    }

    /// isDrained() without the heavy fence, which the caller may run once for several rings.
    bool isDrainedAfterFence() const noexcept {
        if (drained_.load(std::memory_order_acquire)) {  // E4 end
            return true;
        }
        // No push is running if announced_ equals tail_. tail_ must be loaded after announced_.
        const Index announced = announced_.load(std::memory_order_acquire);  // E5 abandon
        const bool drained = announced == tail_.load(std::memory_order_acquire) &&
                             announced == head_.load(std::memory_order_acquire);
        if (drained) {
            // drained_ keeps the result, because even a refused push changes announced_.
            drained_.store(true, std::memory_order_release);  // E4 end
        }
        return drained;
    }

    // closed_ and drained_ are written once.
    alignas(line) alignas(Atomic<bool>) Atomic<bool> closed_{false};
    mutable Atomic<bool> drained_{false};

    // Written by the producer and read by the consumer.
    alignas(line) alignas(Atomic<Index>) Atomic<Index> tail_{firstPosition};

    // The producer reads announced_ instead of tail_, whose cache line the consumer often takes.
    alignas(line) alignas(Atomic<Index>) Atomic<Index> announced_{firstPosition};
    Index limit_{firstPosition};  // the first position not known to be free
    RoleCheck producerRole_;

    // Written by the consumer.
    alignas(line) alignas(Atomic<Index>) Atomic<Index> head_{firstPosition};
    Index cachedTail_{firstPosition};  // lower bound of tail_
    RoleCheck consumerRole_;

    alignas(line) alignas(Storage) Storage slots_;
};

}  // namespace sluice
