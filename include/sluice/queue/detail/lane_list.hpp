#pragma once

#include <sluice/base/priority_mutex.hpp>
#include <sluice/queue/spsc_ring.hpp>

#include <cstddef>
#include <memory_resource>
#include <mutex>
#include <new>

namespace sluice::detail {

/// A producer's ring, owned by its producer handle and by the list together.
template <class T, class Traits>
struct Lane {
    using Ring = SpscRing<T, dynamicCapacity, Traits>;
    template <class U>
    using Atomic = typename Traits::Platform::template Atomic<U>;

    static constexpr unsigned char producerGone = 1;
    static constexpr unsigned char queueGone = 2;

    Lane(std::size_t capacity, std::pmr::memory_resource* resource)
        : memory(resource), ring(capacity, resource) {}

    static Lane* create(std::size_t capacity, std::pmr::memory_resource* memory) {
        void* const place = memory->allocate(sizeof(Lane), alignof(Lane));
        Unused unused{memory, place};
        Lane* const lane = ::new (place) Lane(capacity, memory);
        unused.place = nullptr;
        return lane;
    }

    /// Ends the ownership of one side; the second one frees the lane.
    static void letGo(Lane* lane, unsigned char side) noexcept {
        if (lane->owners.fetch_or(side, std::memory_order_acq_rel) != 0) {  // E5 let go
            std::pmr::memory_resource* const memory = lane->memory;
            lane->~Lane();
            memory->deallocate(lane, sizeof(Lane), alignof(Lane));
        }
    }

    /// Whether the producer has gone; then all it pushed is visible.
    bool isAbandoned() const noexcept { return owners.load(std::memory_order_acquire) != 0; }  // E5

    Atomic<Lane*> next{nullptr};
    Atomic<unsigned char> owners{0};  // which have gone
    std::pmr::memory_resource* memory;
    Ring ring;

private:
    /// Gives the memory back when the ring's constructor throws.
    struct Unused {
        std::pmr::memory_resource* memory;
        void* place;
        ~Unused() {
            if (place != nullptr) {
                memory->deallocate(place, sizeof(Lane), alignof(Lane));
            }
        }
    };
};

/// The lanes of a queue in order of registration. The consumer walks it without the lock: only it
/// takes lanes out, and new ones appear at the end. Everybody else walks it, and all change it,
/// under the lock.
template <class T, class Traits>
class LaneList {
    using Lane = detail::Lane<T, Traits>;
    using Lock = PlatformLock<typename Traits::Platform>;
    template <class U>
    using Atomic = typename Traits::Platform::template Atomic<U>;

public:
    using Link = Atomic<Lane*>;

    LaneList() = default;
    LaneList(const LaneList&) = delete;
    LaneList& operator=(const LaneList&) = delete;

    ~LaneList() {
        for (Lane* lane = first(); lane != nullptr;) {
            Lane* const following = next(lane);
            lane->ring.close();
            Lane::letGo(lane, Lane::queueGone);
            lane = following;
        }
    }

    Lane* add(std::size_t capacity, std::pmr::memory_resource* memory) {
        Lane* const lane = Lane::create(capacity, memory);
        const std::lock_guard<Lock> guard(lock_);
        if (isClosed()) {
            lane->ring.close();
            (void)lane->ring.isDrained();  // notes that it is: for good from the start
        }
        end_->store(lane, std::memory_order_release);  // E4 register
        end_ = &lane->next;
        // Relaxed, here and below: written under the lock; a reader without it wants a number, no
        // data.
        size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return lane;
    }

    /// By the consumer: takes the lane out that hangs on this link, which its producer has left and
    /// which is empty. The next one hangs there then.
    void remove(Link& link) noexcept {
        Lane* const lane = at(link);
        {
            const std::lock_guard<Lock> guard(lock_);
            link.store(lane->next.load(std::memory_order_relaxed), std::memory_order_relaxed);
            end_ = end_ == &lane->next ? &link : end_;
            size_.store(size_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
        }
        Lane::letGo(lane, Lane::queueGone);
    }

    /// By the consumer: where the first lane hangs; the following hangs on that lane's `next`.
    Link& head() noexcept { return first_; }
    static Lane* at(const Link& link) noexcept {
        return link.load(std::memory_order_acquire);  // E4 register
    }
    Lane* first() const noexcept { return at(first_); }
    Lane* next(const Lane* lane) const noexcept { return at(lane->next); }

    void close() noexcept {
        const std::lock_guard<Lock> guard(lock_);
        closed_.store(true, std::memory_order_release);
        for (Lane* lane = first(); lane != nullptr; lane = next(lane)) {
            lane->ring.close();
        }
        areLanesClosed_.store(true, std::memory_order_release);
    }

    /// Whether the list is closed, nothing is in a lane, and no push is under way: for good.
    bool isDrained() const noexcept {
        if (!areLanesClosed_.load(std::memory_order_acquire)) {
            return false;
        }
        // Once for all lanes, and without the lock: it is a system call.
        Traits::Platform::Fence::heavy();
        return all([](const Lane& lane) { return lane.ring.isDrainedAfterFence(); });
    }

    bool isClosed() const noexcept { return closed_.load(std::memory_order_acquire); }
    std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

    /// Whether `holds` is true for each lane, up to the first for which it is not.
    template <class Predicate>
    bool all(Predicate holds) const noexcept {
        const std::lock_guard<Lock> guard(lock_);
        for (const Lane* lane = first(); lane != nullptr; lane = next(lane)) {
            if (!holds(*lane)) {
                return false;
            }
        }
        return true;
    }

private:
    Link first_{nullptr};
    Atomic<bool> closed_{false};  // lanes that are added from now on are closed
    Atomic<bool> areLanesClosed_{false};
    Atomic<std::size_t> size_{0};
    mutable Lock lock_;
    Link* end_ = &first_;  // the link that a new lane is hung on
};

}  // namespace sluice::detail
