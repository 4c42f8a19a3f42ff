#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/base/shared_registry.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/base/thread_slots.hpp>
#include <sluice/log/detail/lanes/record_lane.hpp>
#include <sluice/log/detail/lanes/signal_safe_scope.hpp>
#include <sluice/wait/event_count.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace sluice::log::detail {

/// The lanes of one queue, and their owners.
///
/// A thread gets a lane of its own with its first record. When the thread ends, the registry takes
/// the lane back. When the back end has emptied the lane, another thread may get it. If a thread
/// cannot use a lane of its own, it uses the shared lane, one thread at a time. A signal handler
/// tries to lock the shared lane for a short time only.
///
/// Threads: one thread at a time calls the members under "Back end". Any thread may call the
/// others. A SpinLock guards the list. A thread that holds the mutex runs no
/// user code and allocates nothing. Its signal handlers post into the shared lane.
///
/// Lifetime: the queue is one user of the registry, and each thread with a lane is another. The
/// last user frees it.
///
/// Tests: those of RecordQueue; tests/model/log_queue_model_test.cpp.
template <class Traits>
class LaneRegistry
    : public sluice::detail::SharedRegistry<LaneRegistry<Traits>, typename Traits::Platform> {
    friend class sluice::detail::SharedRegistry<LaneRegistry, typename Traits::Platform>;
    using Platform = typename Traits::Platform;
    using Lock = typename Traits::Lock;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

    /// The fences of the event count. The back end sleeps and wakes about as often as threads log,
    /// so each side pays a full fence.
    struct SleepPlatform : Platform {
        struct Fence {
            static void light() noexcept { Traits::FullFence::heavy(); }
            static void heavy() noexcept { Traits::FullFence::heavy(); }
        };
    };
    using Events = BasicEventCount<SleepPlatform, typename Traits::Parker>;

public:
    using RecordLane = detail::RecordLane<Traits>;

    /// A lane in the registry.
    struct Slot : RecordLane {
        Slot(LaneRegistry& b, const LaneLimits& limits) : RecordLane(limits), registry(b) {}

        LaneRegistry& registry;
        Slot* next = nullptr;
        Slot* previous = nullptr;
        bool isKnown = false;  ///< whether visitNew() has visited it; guarded by lock_
        LaneCounts former;     ///< counts of former owners; guarded by lock_
    };

    struct UnlockShared {
        void operator()(LaneRegistry* registry) const noexcept {
            registry->sharedHolder_.store(nullptr, std::memory_order_release);
        }
    };
    /// The right to use the shared lane. Null: another thread has the right.
    using SharedGuard = std::unique_ptr<LaneRegistry, UnlockShared>;
    using Threads = ThreadSlots<LaneRegistry>;

    /// The most lanes without an owner that are kept for new threads.
    static constexpr std::size_t mostSpare = 4;

    LaneRegistry(const LaneLimits& limits, const LaneLimits& sharedLimits)
        : limits_(limits), shared_(new Slot(*this, sharedLimits)) {
        add(Guard(*this), *shared_);
    }
    /// Called by the queue at its end, while no post is running.
    void abandon() noexcept {
        this->markAbandoned();
        forEach([](Slot& slot) { slot.freeRing(); });
        this->dropUser();
    }

    // ---- For ThreadSlots

    Slot& enroll(const void* /*thread*/) {
        Slot* slot = takeSpare();
        if (slot == nullptr) {
            slot = new Slot(*this, limits_);
        }
        slot->begin(thisThread());
        this->addUser();
        add(Guard(*this), *slot);
        return *slot;
    }

    static void dismiss(Slot& slot) noexcept {
        LaneRegistry& registry = slot.registry;
        slot.end();
        registry.leavers_.fetch_add(1, std::memory_order_relaxed);  // relaxed: see leavers()
        registry.dropUser();
    }

    // ---- The shared lane

    [[nodiscard]] RecordLane& shared() noexcept { return *shared_; }

    /// Tries to lock the shared lane. Null at once if this thread has locked it already. Otherwise
    /// null after 1,000 attempts, or after 16 with `mayNotWait`.
    [[nodiscard]] SharedGuard lockShared(bool mayNotWait) noexcept {
        const void* const me = Threads::mark();
        BasicBackoff<Platform> backoff;
        for (unsigned left = mayNotWait ? 16 : 1000; left != 0; --left) {
            const void* holder = nullptr;
            if (sharedHolder_.compare_exchange_strong(holder, me, std::memory_order_acquire,
                                                      std::memory_order_relaxed)) {
                return SharedGuard(this);
            }
            if (holder == me) {
                return nullptr;
            }
            backoff.wait();
        }
        return nullptr;
    }

    /// Counts a record that found no room in the shared lane, or could not lock it.
    void countDropped() noexcept { dropped_.fetch_add(1, std::memory_order_relaxed); }

    // ---- Closing and waking

    [[nodiscard]] const Atomic<bool>& closed() const noexcept { return closed_; }

    void close() noexcept {
        closed_.store(true, std::memory_order_seq_cst);
        forEach([](Slot& slot) { slot.wakeOwner(); });
    }

    /// The back end waits here for work.
    [[nodiscard]] Events& events() noexcept { return events_; }

    /// Called after a change of a lane. Wakes the back end if letPostsWake() was set.
    void tellOfChange() noexcept {
        Platform::Fence::light();
        // Relaxed: the fences of E1 order this load after the change.
        if (postsWake_.load(std::memory_order_relaxed)) {
            events_.notifyAll();
        }
    }

    // ---- Back end

    /// Sets whether posts wake the back end. If so, each post pays a full fence.
    void letPostsWake(bool isWanted) noexcept {
        // Relaxed, both: only the back end writes it. The fence of E1 orders it before later waits.
        if (postsWake_.load(std::memory_order_relaxed) == isWanted) {
            return;
        }
        postsWake_.store(isWanted, std::memory_order_relaxed);
        if (isWanted) {
            Platform::Fence::heavy();
        }
    }

    /// The number of lanes that have been added.
    [[nodiscard]] std::uint64_t version() const noexcept {
        return version_.load(std::memory_order_seq_cst);
    }
    /// Calls visit(Slot&) for each lane that was added since the last call. It holds the lock
    /// during the calls. Returns the version that includes these lanes.
    template <class Visit>
    std::uint64_t visitNew(Visit visit) {
        const Guard guard(*this);
        for (Slot* slot = first_; slot != nullptr && !slot->isKnown; slot = slot->next) {
            visit(*slot);
            slot->isKnown = true;
        }
        return version();
    }

    /// The number of lanes whose owner has ended and that have no new owner.
    [[nodiscard]] std::size_t leavers() const noexcept {
        return leavers_.load(std::memory_order_relaxed);  // relaxed: hasLeft() acquires
    }

    /// Called for a thread that died. Does what dismiss() does for a thread that ends.
    void dismissDead() noexcept {
        leavers_.fetch_add(1, std::memory_order_relaxed);  // relaxed: read by the same thread
        this->dropUser();
    }

    /// Makes an empty lane ready for another thread. Its owner has ended.
    void recycle(Slot& slot) noexcept {
        Slot* unwanted = nullptr;
        {
            const Guard guard(*this);
            (slot.previous == nullptr ? first_ : slot.previous->next) = slot.next;
            if (slot.next != nullptr) {
                slot.next->previous = slot.previous;
            }
            --size_;
            gone_ += countsOf(guard, slot);
            slot.former = slot.counts();
            slot.reset();
            if (spares_ < mostSpare) {
                slot.next = spare_;
                spare_ = &slot;
                ++spares_;
            } else {
                unwanted = &slot;
            }
        }
        leavers_.fetch_sub(1, std::memory_order_relaxed);
        delete unwanted;
    }

    // ---- Any thread

    /// Calls visit(Slot&) for each lane. It holds the lock during the calls.
    template <class Visit>
    void forEach(Visit visit) {
        const Guard guard(*this);
        for (Slot* slot = first_; slot != nullptr; slot = slot->next) {
            visit(*slot);
        }
    }

    /// Returns the sum over all lanes, including those that have been freed. Calls visit(slot,
    /// counts) for each lane that has not been freed. It holds the lock during the calls.
    template <class Visit>
    LaneCounts counts(Visit visit) {
        const Guard guard(*this);
        LaneCounts sum = gone_;
        sum.rejected += dropped_.load(std::memory_order_relaxed);
        for (const Slot* slot = first_; slot != nullptr; slot = slot->next) {
            const LaneCounts counts = countsOf(guard, *slot);
            sum += counts;
            visit(*slot, counts);
        }
        return sum;
    }

    /// The number of lanes: those of threads, and those that are kept for new threads.
    [[nodiscard]] std::size_t laneCount() noexcept {
        const Guard guard(*this);
        return size_ - 1 + spares_;
    }

    // ---- Fork

    void lockForFork() noexcept { lock_.lock(); }
    void afterForkInParent() noexcept { lock_.unlock(); }

    /// Called in the child, which has one thread. lockForFork() has locked the list.
    void afterForkInChild() noexcept {
        const RecordLane* const own = Threads::find(this, Threads::hash(this));
        gone_ = LaneCounts{};
        dropped_.store(0, std::memory_order_relaxed);
        sharedHolder_.store(nullptr, std::memory_order_relaxed);
        std::size_t left = 0;
        for (Slot* slot = first_; slot != nullptr; slot = slot->next) {
            const bool isOthers = slot != shared_ && slot != own;
            if (isOthers && !slot->hasLeft()) {
                this->dropUser();  // the child does not have this thread; the queue remains a user
            }
            left += isOthers ? 1 : 0;
            slot->former = slot->counts();
            slot->resetInChild(slot == own, slot == shared_);
            slot->isKnown = false;
        }
        leavers_.store(left, std::memory_order_relaxed);  // relaxed: there is one thread
        unlockInChild();
    }
    /// The forking thread has locked the list, so the child's thread holds the lock.
    void unlockInChild() noexcept { lock_.unlock(); }

private:
    /// Locks the list. Meanwhile signal handlers of this thread post into the shared lane.
    class Guard {
    public:
        explicit Guard(LaneRegistry& registry) noexcept : lock_(registry.lock_) {}

    private:
        const SignalSafeScope scope_;
        const std::lock_guard<Lock> lock_;
    };

    ~LaneRegistry() {
        while (Slot* const slot = first_) {
            first_ = slot->next;
            delete slot;
        }
        while (Slot* const slot = spare_) {
            spare_ = slot->next;
            delete slot;
        }
    }

    static LaneCounts countsOf(const Guard& /*guard*/, const Slot& slot) noexcept {
        return slot.counts() - slot.former;
    }

    void add(const Guard& /*guard*/, Slot& slot) noexcept {
        slot.isKnown = false;
        slot.previous = nullptr;
        slot.next = first_;
        if (first_ != nullptr) {
            first_->previous = &slot;
        }
        first_ = &slot;
        ++size_;
        version_.fetch_add(1, std::memory_order_seq_cst);
    }

    Slot* takeSpare() noexcept {
        const Guard guard(*this);
        Slot* const slot = spare_;
        if (slot != nullptr) {
            spare_ = slot->next;
            --spares_;
        }
        return slot;
    }

    // Each post reads these fields; they seldom change.
    alignas(cacheLineSize) Atomic<bool> closed_{false};  ///< written by close()
    const LaneLimits limits_;           ///< limits of each lane, except the shared one
    Atomic<bool> postsWake_{false};     ///< written by the back end
    Events events_;                     ///< see events()
    Atomic<std::uint64_t> version_{0};  ///< written with lock_

    alignas(cacheLineSize) Lock lock_;
    Slot* first_ = nullptr;   ///< the newest lane of the list; guarded by lock_
    Slot* spare_ = nullptr;   ///< the first of the lanes that are kept for new threads; guarded
    std::size_t size_ = 0;    ///< lanes in the list; guarded
    std::size_t spares_ = 0;  ///< lanes that are kept for new threads; guarded
    LaneCounts gone_;         ///< sum of the counts of lanes that have left the list; guarded
    Atomic<std::size_t> leavers_{0};  ///< see leavers(); written by any thread

    /// The mark of the thread that uses the shared lane, or null. Written by any thread.
    alignas(cacheLineSize) Atomic<const void*> sharedHolder_{nullptr};
    Slot* const shared_;
    Atomic<std::uint64_t> dropped_{0};  ///< see countDropped()
};

}  // namespace sluice::log::detail
