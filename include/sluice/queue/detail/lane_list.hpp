#pragma once

#include <sluice/base/spin_lock.hpp>
#include <sluice/queue/detail/lane.hpp>

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <utility>

namespace sluice::detail {

/// All lanes of a queue. Producers add lanes and the consumer removes them, under one lock.
template <class T, class Traits>
class LaneList {
    using Lane = detail::Lane<T, Traits>;
    using Announced = AnnouncedLanes<T, Traits>;
    using Lock = BasicSpinLock<typename Traits::Platform>;
    using Guard = std::lock_guard<Lock>;
    template <class U>
    using Atomic = typename Traits::Platform::template Atomic<U>;

    struct Unref {
        void operator()(Lane* lane) const noexcept { Lane::destroy(lane); }
        void operator()(Announced* announced) const noexcept { announced->unref(); }
    };
    template <class Object>
    using Owner = std::unique_ptr<Object, Unref>;

public:
    LaneList() = default;
    LaneList(const LaneList&) = delete;
    LaneList& operator=(const LaneList&) = delete;

    ~LaneList() {
        close();  // a message may push another one through a new lane when it is destroyed
        while (first_ != nullptr) {
            Lane* const lane = std::exchange(first_, first_->next);
            Lane::unref(lane, Lane::queueGone);
        }
        const Owner<Announced> last{announced()};
    }

    Lane* add(std::size_t capacity, std::pmr::memory_resource* memory) {
        Owner<Lane> lane{makeIn<Lane>(memory, capacity, memory)};
        Owner<Announced> spare;
        for (;;) {
            {
                const Guard guard(lock_);
                if (announced() != nullptr || spare) {
                    return link(guard, *lane.release(), spare);
                }
            }
            spare.reset(makeIn<Announced>(memory, memory));  // not under the lock
        }
    }

    /// Takes out an empty lane whose producer has gone. Only the consumer calls it.
    void remove(Lane& lane) noexcept {
        Owner<Announced> last;
        {
            const Guard guard(lock_);
            (lane.previous == nullptr ? first_ : lane.previous->next) = lane.next;
            if (lane.next != nullptr) {
                lane.next->previous = lane.previous;
            }
            setSize(guard, size() - 1);
            if (first_ == nullptr) {  // without lanes the queue holds no memory
                last.reset(announced());
                // Relaxed: only this thread reads it without the lock.
                announced_.store(nullptr, std::memory_order_relaxed);
            }
        }
        Lane::unref(&lane, Lane::queueGone);
    }

    /// The announced lanes; null while there is no lane. Only the consumer may use them without the
    /// lock, because only the consumer removes the last lane.
    Announced* announced() const noexcept {
        return announced_.load(std::memory_order_acquire);  // E7 announced
    }

    void close() noexcept {
        const Guard guard(lock_);
        closed_.store(true, std::memory_order_release);
        for (Lane* lane = first_; lane != nullptr; lane = lane->next) {
            lane->ring.close();
        }
        areLanesClosed_.store(true, std::memory_order_release);
    }

    /// Whether the list is closed, all lanes are empty, and no push is under way. Stays true.
    bool isDrained() const noexcept {
        if (!areLanesClosed_.load(std::memory_order_acquire)) {
            return false;
        }
        // One fence for all lanes, without the lock, because the fence is a system call.
        Traits::Platform::Fence::heavy();
        return all([](const Lane& lane) { return lane.ring.isDrainedAfterFence(); });
    }

    bool isClosed() const noexcept { return closed_.load(std::memory_order_acquire); }
    /// Relaxed: a reader without the lock needs only the number.
    std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

    /// Whether holds(lane) is true for each lane. Ends at the first lane for which it is false.
    template <class Predicate>
    bool all(Predicate holds) const noexcept {
        const Guard guard(lock_);
        for (const Lane* lane = first_; lane != nullptr; lane = lane->next) {
            if (!holds(*lane)) {
                return false;
            }
        }
        return true;
    }

private:
    Lane* link(const Guard& guard, Lane& lane, Owner<Announced>& spare) noexcept {
        if (announced() == nullptr) {
            announced_.store(spare.release(), std::memory_order_release);  // E7 announced
        }
        lane.join(*announced());
        if (isClosed()) {
            lane.ring.close();
            (void)lane.ring.isDrained();  // the ring notes that it is drained
        }
        lane.next = std::exchange(first_, &lane);
        if (lane.next != nullptr) {
            lane.next->previous = &lane;
        }
        setSize(guard, size() + 1);
        lane.list();
        return &lane;
    }

    void setSize(const Guard& /*guard*/, std::size_t size) noexcept {
        size_.store(size, std::memory_order_relaxed);
    }

    // Guarded by lock_. Threads read the atomics without the lock.
    mutable Lock lock_;
    Lane* first_ = nullptr;                  ///< the newest lane, linked by Lane::next
    Atomic<Announced*> announced_{nullptr};  ///< null without lanes
    Atomic<bool> closed_{false};             ///< whether new lanes are closed; set by close()
    Atomic<bool> areLanesClosed_{false};     ///< whether all lanes are closed; set by close()
    Atomic<std::size_t> size_{0};            ///< number of lanes
};

}  // namespace sluice::detail
