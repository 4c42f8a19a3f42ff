#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/base/shared_registry.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/base/thread_slots.hpp>
#include <sluice/log/detail/lanes/lane.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace sluice::log::detail {

/// The lanes of one queue. A thread owns one or two lanes from its first record until it ends.
/// Empty lanes of ended threads are freed. Threads that own no lane use one shared lane.
///
/// Thread safety: one thread at a time may call the members under "Back end"; any thread may call
/// the others. A spin lock guards the lanes; its holder neither runs user code nor allocates.
///
/// Lifetime: shared by the queue and all lane owners; the last of these users frees the registry.
template <class Traits>
class LaneRegistry
    : public sluice::detail::SharedRegistry<LaneRegistry<Traits>, typename Traits::Platform> {
    friend class sluice::detail::SharedRegistry<LaneRegistry, typename Traits::Platform>;
    using Platform = typename Traits::Platform;
    using Guard = std::lock_guard<typename Traits::Lock>;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    using RecordLane = detail::RecordLane<Traits>;

    struct Slot : RecordLane {
        Slot(LaneRegistry& itsRegistry, const LaneLimits& limits, const ThreadInfo& info)
            : RecordLane(limits, info), registry(itsRegistry) {}

        LaneRegistry& registry;
        Slot* second = nullptr;  ///< the second lane of the thread that owns this lane, or null
        bool isSecond = false;
        Slot* next = nullptr;
        Slot* previous = nullptr;
        bool isKnown = false;  ///< visitNew() has visited this lane; guarded by lock_
        LaneCounts former;     ///< counts of the parent before fork(); guarded by lock_
    };

    struct UnlockShared {
        void operator()(LaneRegistry* registry) const noexcept {
            registry->sharedHolder_.store(nullptr, std::memory_order_release);  // E8 shared
        }
    };
    using SharedGuard = std::unique_ptr<LaneRegistry, UnlockShared>;  ///< locks the shared lane
    using Threads = ThreadSlots<LaneRegistry>;

    explicit LaneRegistry(const LaneLimits& limits)
        : limits_(limits), shared_(new Slot(*this, limits, {})) {
        add(*shared_);
    }
    /// Call abandon() when the queue is destroyed, while no post is running.
    void abandon() noexcept {
        this->markAbandoned();
        forEach([](Slot& slot) { slot.freeRing(); });
        this->dropUser();
    }

    // ---- For ThreadSlots

    Slot& enroll(const void* /*thread*/) {
        auto* const slot = new Slot(*this, limits_, thisThread());
        this->addUser();
        add(*slot);
        return *slot;
    }

    static void dismiss(Slot& slot) noexcept {
        LaneRegistry& registry = slot.registry;
        for (Slot* const lane : {slot.second, &slot}) {
            if (lane != nullptr) {
                lane->end();
                registry.leavers_.fetch_add(1, std::memory_order_relaxed);  // hint
            }
        }
        registry.dropUser();
    }

    /// Returns the calling thread's second lane. The first call creates the lane, and may throw.
    Slot& secondOf(Slot& first) {
        if (first.second == nullptr) {
            auto made = std::make_unique<Slot>(*this, limits_, first.info());
            if (first.second == nullptr) {  // operator new may log and thereby add the lane
                made->isSecond = true;
                first.second = made.release();
                add(*first.second);
            }
        }
        return *first.second;
    }

    // ---- The shared lane

    [[nodiscard]] Slot& shared() noexcept { return *shared_; }

    /// Locks the shared lane. Returns null if the calling thread already holds the lock.
    [[nodiscard]] SharedGuard lockShared() noexcept {
        const void* const me = Threads::mark();
        BasicBackoff<Platform> backoff;
        for (;;) {
            const void* holder = nullptr;
            if (sharedHolder_.compare_exchange_strong(holder, me,
                                                      std::memory_order_acquire,     // E8 shared
                                                      std::memory_order_relaxed)) {  // retried
                return SharedGuard(this);
            }
            if (holder == me) {
                return nullptr;
            }
            backoff.wait();
        }
    }

    /// Counts a record that was rejected because the shared lane was full or could not be locked.
    void countSharedRejected() noexcept { sharedRejected_.fetch_add(1, std::memory_order_relaxed); }

    // ---- Back end

    [[nodiscard]] std::uint64_t version() const noexcept {
        return version_.load(std::memory_order_seq_cst);  // E1 announce
    }
    /// Calls visit(Slot&), under the registry's lock, for each lane added since the last call of
    /// visitNew(). Returns the version() of the list that includes the visited lanes.
    template <class Visit>
    std::uint64_t visitNew(Visit visit) {
        const Guard guard(lock_);
        for (Slot* slot = first_; slot != nullptr && !slot->isKnown; slot = slot->next) {
            visit(*slot);
            slot->isKnown = true;
        }
        return version();
    }

    /// The number of lanes in the list whose owner has ended.
    [[nodiscard]] std::size_t leavers() const noexcept {
        return leavers_.load(std::memory_order_relaxed);  // hint
    }

    /// Frees an empty lane whose owner has ended.
    void remove(Slot& slot) noexcept {
        {
            const Guard guard(lock_);
            (slot.previous == nullptr ? first_ : slot.previous->next) = slot.next;
            if (slot.next != nullptr) {
                slot.next->previous = slot.previous;
            }
            --size_;
            gone_ += slot.counts() - slot.former;
        }
        leavers_.fetch_sub(1, std::memory_order_relaxed);  // hint
        delete &slot;
    }

    // ---- Any thread

    /// Calls visit(Slot&) for each lane, under the registry's lock.
    template <class Visit>
    void forEach(Visit visit) {
        const Guard guard(lock_);
        for (Slot* slot = first_; slot != nullptr; slot = slot->next) {
            visit(*slot);
        }
    }

    /// Returns the sum of the counts of all lanes, including freed lanes. Calls visit(slot, counts)
    /// for each lane that still exists, under the registry's lock.
    template <class Visit>
    LaneCounts counts(Visit visit) {
        const Guard guard(lock_);
        LaneCounts sum = gone_;
        sum.rejected += sharedRejected_.load(std::memory_order_relaxed);  // value only
        for (const Slot* slot = first_; slot != nullptr; slot = slot->next) {
            const LaneCounts counts = slot->counts() - slot->former;
            sum += counts;
            visit(*slot, counts);
        }
        return sum;
    }

    /// The number of lanes that threads own, without the shared lane.
    [[nodiscard]] std::size_t laneCount() noexcept {
        const Guard guard(lock_);
        return size_ - 1;
    }

    // ---- Fork

    void lock() noexcept { lock_.lock(); }
    void unlock() noexcept { lock_.unlock(); }

    /// Empties all lanes in a forked child. Call resetInChild() between lock() and unlock().
    void resetInChild() noexcept {
        const Slot* const own = Threads::find(this, Threads::hash(this));
        const Slot* const second = own == nullptr ? nullptr : own->second;
        gone_ = LaneCounts{};
        sharedRejected_.store(0, std::memory_order_relaxed);      // not shared yet
        sharedHolder_.store(nullptr, std::memory_order_relaxed);  // not shared yet
        std::size_t left = 0;
        for (Slot* slot = first_; slot != nullptr; slot = slot->next) {
            const bool isOthers = slot != shared_ && slot != own && slot != second;
            if (isOthers && !slot->isSecond && !slot->hasLeft()) {
                this->dropUser();  // the owner does not exist in the child
            }
            left += isOthers ? 1 : 0;
            slot->resetInChild(isOthers);
            slot->former = slot->counts();
            slot->isKnown = false;
        }
        leavers_.store(left, std::memory_order_relaxed);  // not shared yet
    }

private:
    // Happens-before edges (proof: docs/algorithms/ordered-log.md), besides those of RecordLane:
    //   E1 announce: add -> version.
    //   E8 shared: UnlockShared -> lockShared.

    ~LaneRegistry() {
        while (Slot* const slot = first_) {
            first_ = slot->next;
            delete slot;
        }
    }

    void add(Slot& slot) noexcept {
        const Guard guard(lock_);
        slot.isKnown = false;
        slot.previous = nullptr;
        slot.next = first_;
        if (first_ != nullptr) {
            first_->previous = &slot;
        }
        first_ = &slot;
        ++size_;
        version_.fetch_add(1, std::memory_order_seq_cst);  // E1 announce
    }

    const LaneLimits limits_;           ///< limits of each lane
    Atomic<std::uint64_t> version_{0};  ///< written under lock_

    alignas(cacheLineSize) typename Traits::Lock lock_;  ///< guards the list, size_ and gone_
    Slot* first_ = nullptr;                              ///< the newest lane of the list
    std::size_t size_ = 0;                               ///< lanes in the list
    LaneCounts gone_;                                    ///< sum of the counts of all freed lanes
    Atomic<std::size_t> leavers_{0};  ///< lanes in the list whose owners have ended

    /// Threads::mark() of the thread that has locked the shared lane, or null.
    alignas(cacheLineSize) Atomic<const void*> sharedHolder_{nullptr};
    Slot* const shared_;
    Atomic<std::uint64_t> sharedRejected_{0};  // value only
};

}  // namespace sluice::log::detail
