#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/queue/queue_traits.hpp>
#include <sluice/queue/spsc_ring.hpp>

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace sluice {

template <class T, class Traits>
class MpmcLanes;

/// A multi-producer, single-consumer queue with a bounded lane for each producer. MpscLanes keeps
/// the order of each producer, and can merge messages by a key, such as a time stamp.
///
///     sluice::MpscLanes<Reading> lanes(256);              // the capacity of each lane
///     auto producer = lanes.producer();                   // one per thread
///     (void)producer.tryPush(Reading{21.5});
///     lanes.consume([](const Reading& reading) { ... });  // the consumer
///
/// Use MpscLanes for a few long-lived producers, whose pushes never write the same cache line. Use
/// MpscRing for one order of all messages, or for hundreds of mostly idle producers. BlockingQueue
/// adds functions that wait.
///
/// Thread safety: only one thread at a time may use a Producer, and only one thread at a time may
/// consume. Any thread may call all members except the consumer's. Handlers may push, and may
/// create and close producers. A preempted producer blocks no other thread, except in producer(),
/// which holds a lock.
///
/// Errors: if a constructor of T throws, the lane is unchanged. After the queue's destruction, a
/// Producer's pushes return `closed`, and the Producer destroys its remaining messages.
///
/// Performance: a push is wait-free, without an atomic read-modify-write. A consume call visits
/// every lane. Visiting an idle lane takes a few nanoseconds if the lane is in the cache, and 20 ns
/// if not. A lane is freed when its producer is closed and its messages are consumed. The memory
/// resource must support calls from several threads.
template <class T, class Traits = QueueTraits>
class MpscLanes {
    using Platform = typename Traits::Platform;
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;
    using RoleCheck = sluice::RoleCheck<Platform>;
    using Lock = BasicSpinLock<Platform>;
    using Guard = std::lock_guard<Lock>;
    using Ring = SpscRing<T, dynamicCapacity, Traits>;
    struct Lane;
    using Link = Atomic<Lane*>;

public:
    using value_type = T;
    class Producer;

    /// Calls setupError() if the capacity is 0 or too large.
    explicit MpscLanes(std::size_t laneCapacity,
                       std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : laneCapacity_(Ring::Storage::checkedCapacity(laneCapacity)), memory_(memory) {}

    ~MpscLanes() {
        close();  // so that a message's destructor cannot push, even through a new lane
        link_ = &first_;
        while (Lane* const lane = first_.load(std::memory_order_relaxed)) {  // acquired before
            remove(*lane);
        }
    }

    // ---- Producers

    /// Allocates a lane and returns the handle of its producer.
    [[nodiscard]] Producer producer() {
        Lane* const lane = Lane::create(laneCapacity_, memory_);
        const Guard guard(lock_);
        if (isClosed()) {
            lane->ring.close();
            (void)lane->ring.isDrainedAfterFence();  // needs no fence, because no thread has pushed
        }
        end_->store(lane, std::memory_order_release);  // E5 list
        end_ = &lane->next;
        laneCount_.store(laneCount() + 1, std::memory_order_relaxed);  // value only
        return Producer(lane);
    }

    // ---- Consumer

    /// Removes and returns a message of the next lane that has messages.
    [[nodiscard]] std::optional<T> tryPop() {
        std::optional<T> value;
        (void)tryPop(value);
        return value;
    }
    /// Like tryPop(), but fills the empty optional `value`. Returns false if all lanes are empty.
    bool tryPop(std::optional<T>& value) {
        static_assert(std::is_nothrow_move_constructible_v<T>,
                      "tryPop() of MpscLanes would lose a message whose move constructor throws: "
                      "declare the move constructor noexcept, or use consume()");
        return consume([&value](T& message) { value.emplace(std::move(message)); }, 1) != 0;
    }

    /// Visits every lane once, beginning after the lane visited last. Calls handler(T&) for up to
    /// `max` queued messages in total. A message is destroyed when its handler returns or throws.
    /// Returns the number of messages.
    template <class Handler>
    std::size_t consume(Handler&& handler, std::size_t max = unlimited) {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        std::size_t count = 0;
        for (std::size_t visits = laneCount(); visits != 0 && count < max; --visits) {
            if (Lane* const lane = current()) {
                const Visit visit{*this, *lane, lane->isAbandoned()};
                count += lane->ring.consume(handler, max - count);
            }
        }
        return count;
    }

    /// Calls handler(T&) for up to `max` queued messages, smallest keyOf(const T&) first. The key
    /// order is exact for messages queued at the call if each producer pushes in key order. A
    /// message pushed during the call may be handled after messages with larger keys. A producer's
    /// messages with equal keys keep their order. Compares all lanes whenever the smallest key
    /// moves to another lane.
    template <class KeyOf, class Handler>
    std::size_t consumeOrdered(KeyOf&& keyOf, Handler&& handler, std::size_t max = unlimited) {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        // Counts the messages first, so that a fast producer cannot keep the call from returning.
        const std::size_t limit = std::min(max, removeAbandonedAndCount());
        std::size_t count = 0;
        while (count < limit) {
            const auto [best, second] = twoSmallest(keyOf);
            if (best == nullptr) {
                break;
            }
            T* message = best->ring.front();
            do {
                const PopFront pop{best->ring};
                ++count;
                handler(*message);
            } while (count < limit && (message = best->ring.front()) != nullptr &&
                     (second == nullptr || !(keyOf(std::as_const(*second->ring.front())) <
                                             keyOf(std::as_const(*message)))));
        }
        return count;
    }

    // ---- Any thread

    /// Refuses later pushes of all producers, including producers created later. A push during the
    /// call is either refused or delivered.
    void close() noexcept {
        const Guard guard(lock_);
        for (Lane* lane = first(guard); lane != nullptr; lane = lane->following(guard)) {
            lane->ring.close();
        }
        closed_.store(true, std::memory_order_release);  // E3 close
    }

    [[nodiscard]] bool isClosed() const noexcept { return closed_.load(std::memory_order_acquire); }

    /// Returns true once the queue is closed and empty and no push or handler is running.
    [[nodiscard]] bool isDrained() const noexcept {
        if (!isClosed()) {  // E3 close
            return false;
        }
        Platform::Fence::heavy();  // one fence for all lanes; no lock during this system call
        const Guard guard(lock_);
        for (Lane* lane = first(guard); lane != nullptr; lane = lane->following(guard)) {
            if (!lane->ring.isDrainedAfterFence()) {
                return false;
            }
        }
        return true;
    }

    /// The approximate number of messages in all lanes.
    [[nodiscard]] std::size_t sizeApprox() const noexcept {
        const Guard guard(lock_);
        std::size_t sum = 0;
        for (Lane* lane = first(guard); lane != nullptr; lane = lane->following(guard)) {
            sum += lane->ring.sizeApprox();
        }
        return sum;
    }

    [[nodiscard]] std::size_t laneCapacity() const noexcept { return laneCapacity_; }

    /// The number of lanes. A closed producer's lane counts until the consumer removes it.
    [[nodiscard]] std::size_t laneCount() const noexcept {
        return laneCount_.load(std::memory_order_relaxed);  // value only
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return laneCount() * laneCapacity_; }

private:
    // Happens-before edges in addition to SpscRing's (proof: docs/algorithms/lanes.md):
    //   E3 close: close -> isDrained.
    //   E5 list: producer -> consume.
    //   E6 unref: owner -> owner.
    // The consumer reads the lanes' links without the lock, because no other thread unlinks a lane.

    friend class MpmcLanes<T, Traits>;

    struct PopFront {
        Ring& ring;
        ~PopFront() { ring.popFront(); }
    };

    /// Removes an abandoned empty lane, or moves on to the next lane, even if a handler throws.
    struct Visit {
        MpscLanes& lanes;
        Lane& lane;
        bool wasAbandoned;  // read before the visit; if true, no push can follow
        ~Visit() {
            if (wasAbandoned && lane.ring.front() == nullptr) {
                lanes.remove(lane);
            } else {
                lanes.link_ = &lane.next;
            }
        }
    };

    [[nodiscard]] Lane* first(const Guard& /*guard*/) const noexcept {
        return first_.load(std::memory_order_relaxed);  // under the lock
    }

    /// The next lane to visit, or nullptr if laneCount_ became visible before the first lane.
    [[nodiscard]] Lane* current() noexcept {
        Lane* lane = link_->load(std::memory_order_acquire);  // E5 list
        if (lane == nullptr) {
            link_ = &first_;
            lane = link_->load(std::memory_order_acquire);  // E5 list
        }
        return lane;
    }

    /// Not inlined, so that consume() keeps its variables in registers.
    [[gnu::noinline]] void remove(Lane& lane) noexcept {
        {
            const Guard guard(lock_);
            unlink(lane, guard);
        }
        Lane::unref(lane, Lane::queueGone);
    }

    void unlink(Lane& lane, const Guard& guard) noexcept {
        link_->store(lane.following(guard), std::memory_order_relaxed);  // under the lock
        if (end_ == &lane.next) {
            end_ = link_;
        }
        laneCount_.store(laneCount() - 1, std::memory_order_relaxed);  // value only
    }

    std::size_t removeAbandonedAndCount() {
        std::size_t messages = 0;
        for (std::size_t visits = laneCount(); visits != 0; --visits) {
            if (Lane* const lane = current()) {
                const Visit visit{*this, *lane, lane->isAbandoned()};
                messages += lane->ring.sizeApprox();
            }
        }
        return messages;
    }

    template <class KeyOf>
    std::pair<Lane*, Lane*> twoSmallest(KeyOf& keyOf) {
        Lane* best = nullptr;
        Lane* second = nullptr;
        const auto isBefore = [&keyOf](Lane& a, Lane& b) {
            return keyOf(std::as_const(*a.ring.front())) < keyOf(std::as_const(*b.ring.front()));
        };
        for (Lane* lane = first_.load(std::memory_order_acquire); lane != nullptr;  // E5 list
             lane = lane->next.load(std::memory_order_acquire)) {                   // E5 list
            if (lane->ring.front() == nullptr) {
                continue;
            }
            if (best == nullptr || isBefore(*lane, *best)) {
                second = std::exchange(best, lane);
            } else if (second == nullptr || isBefore(*lane, *second)) {
                second = lane;
            }
        }
        return {best, second};
    }

    std::size_t laneCapacity_;
    std::pmr::memory_resource* memory_;

    // Written under the lock.
    mutable Lock lock_;
    Link first_{nullptr};
    Link* end_ = &first_;  // the last link, where producer() adds a lane
    Atomic<bool> closed_{false};
    Atomic<std::size_t> laneCount_{0};

    // Written by the consumer.
    alignas(Traits::cacheLineSize) alignas(Link*) Link* link_ = &first_;  // the next lane to visit
    RoleCheck consumerRole_;
};

/// The handle of a producer. The destructor closes the handle; pushed messages are still delivered.
template <class T, class Traits>
class MpscLanes<T, Traits>::Producer {
public:
    using value_type = T;

    /// A handle without a lane, as a target for assignment.
    Producer() noexcept = default;
    Producer(Producer&& other) noexcept : lane_(std::exchange(other.lane_, nullptr)) {}
    Producer& operator=(Producer&& other) noexcept {
        Producer(std::move(other)).swap(*this);
        return *this;
    }
    ~Producer() { close(); }

    void swap(Producer& other) noexcept { std::swap(lane_, other.lane_); }

    SendResult tryPush(const T& value) { return tryEmplace(value); }
    SendResult tryPush(T&& value) { return tryEmplace(std::move(value)); }
    template <class U, detail::IfConverts<U, T> = 0>
    SendResult tryPush(U&& value) {
        return tryEmplace(std::forward<U>(value));
    }

    /// Constructs a T in a free slot. A refused push leaves the arguments unchanged.
    template <class... Args>
    SendResult tryEmplace(Args&&... args) {
        SLUICE_ASSERT(isOpen(), "a push through a producer handle that was closed, moved from or "
                                "never assigned: get one from producer()");
        return SLUICE_LIKELY(isOpen()) ? lane_->ring.tryEmplace(std::forward<Args>(args)...)
                                       : SendResult::closed;
    }

    /// Closes the handle and releases its lane; idempotent.
    void close() noexcept {
        if (Lane* const lane = std::exchange(lane_, nullptr)) {
            Lane::unref(*lane, Lane::producerGone);
        }
    }

    /// Returns true while the handle has a lane. Closing the queue does not close the handle.
    [[nodiscard]] bool isOpen() const noexcept { return lane_ != nullptr; }

private:
    friend class MpscLanes;
    explicit Producer(Lane* lane) noexcept : lane_(lane) {}

    Lane* lane_ = nullptr;
};

/// The ring of a producer, owned by the producer's handle and the queue.
template <class T, class Traits>
struct MpscLanes<T, Traits>::Lane {
    static constexpr unsigned char producerGone = 1;
    static constexpr unsigned char queueGone = 2;

    static Lane* create(std::size_t capacity, std::pmr::memory_resource* memory) {
        const auto free = [memory](void* storage) {
            memory->deallocate(storage, sizeof(Lane), alignof(Lane));
        };
        std::unique_ptr<void, decltype(free)> storage(memory->allocate(sizeof(Lane), alignof(Lane)),
                                                      free);
        Lane* const lane = ::new (storage.get()) Lane(capacity, memory);
        (void)storage.release();
        return lane;
    }

    /// Called once for the producer and once for the queue. The second call frees the lane.
    static void unref(Lane& lane, unsigned char side) noexcept {
        if (lane.owners.fetch_or(side, std::memory_order_acq_rel) != 0) {  // E6 unref
            std::pmr::memory_resource* const memory = lane.memory;
            lane.~Lane();
            memory->deallocate(&lane, sizeof(Lane), alignof(Lane));
        }
    }

    /// Returns true if the producer is closed. If the result is true, the caller sees all messages
    /// of the producer.
    [[nodiscard]] bool isAbandoned() const noexcept {
        return owners.load(std::memory_order_acquire) != 0;  // E6 unref
    }

    [[nodiscard]] Lane* following(const Guard& /*guard*/) const noexcept {
        return next.load(std::memory_order_relaxed);  // under the lock
    }

    Lane(std::size_t capacity, std::pmr::memory_resource* resource)
        : memory(resource), ring(capacity, resource) {}

    Link next{nullptr};
    Atomic<unsigned char> owners{0};  // a bit for each side that has released the lane
    Atomic<bool> isHeld{false};       // a consumer of MpmcLanes has the lane
    std::pmr::memory_resource* memory;
    Ring ring;
};

}  // namespace sluice
