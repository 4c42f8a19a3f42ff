#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/base/napping_backoff.hpp>
#include <sluice/base/thread_table.hpp>
#include <sluice/log/detail/lanes/lane.hpp>
#include <sluice/log/detail/lanes/quiet_thread.hpp>
#include <sluice/wait/event_count.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace sluice::log::detail {

/// What lanes have carried.
struct LaneCounts {
    std::uint64_t logged = 0;     ///< accepted
    std::uint64_t discarded = 0;  ///< refused for want of room
    std::uint64_t overrun = 0;    ///< accepted, and evicted by later ones
    std::uint64_t lost = 0;       ///< half-made by a thread that was cancelled, or died

    LaneCounts& operator+=(const LaneCounts& other) noexcept {
        logged += other.logged;
        discarded += other.discarded;
        overrun += other.overrun;
        lost += other.lost;
        return *this;
    }
};

/// The lanes of one intake and who owns them.
///
/// Gives each thread that asks a lane of its own, takes it back when the thread ends, and hands it
/// on when the back end has emptied it. One lane more, the shared one, is there for everybody who
/// cannot use his own; it is used under a lock that is tried for and never waited for in a signal
/// handler.
///
/// Who may call what: the members under "Back end" by one thread at a time, the others by any
/// thread. The list is changed and walked under a mutex with priority inheritance; no user code, no
/// allocation and no signal handler's post runs under it.
///
/// Lifetime: counted, as ThreadTable needs it. The intake is one user, each thread with a lane
/// another.
///
/// Tests: those of Intake; tests/model/log_intake_model_test.cpp.
template <class Traits>
class LaneRegistry {
    using Platform = typename Traits::Platform;
    using Lock = typename Traits::Lock;
    using Events = BasicEventCount<Platform, typename Traits::Parker>;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    using Lane = detail::Lane<Traits>;

    /// A lane in the registry.
    struct Slot : Lane {
        Slot(LaneRegistry& b, const LaneLimits& limits) : Lane(limits), registry(b) {}

        LaneRegistry& registry;
        Slot* next = nullptr;
        Slot* previous = nullptr;
        bool isKnown = false;  // to the back end
    };
    using Threads = ThreadTable<LaneRegistry>;

    /// Lanes without an owner that are kept for the next threads.
    static constexpr std::size_t mostSpare = 4;

    LaneRegistry(const LaneLimits& limits, const LaneLimits& sharedLimits)
        : limits_(limits), shared_(new Slot(*this, sharedLimits)) {
        add(*shared_);
    }
    LaneRegistry(const LaneRegistry&) = delete;
    LaneRegistry& operator=(const LaneRegistry&) = delete;

    /// The intake lets go; no post is under way.
    void abandon() noexcept {
        isAbandoned_.store(true, std::memory_order_relaxed);  // relaxed: see isAbandoned()
        forEach([](Slot& slot) { slot.freeRing(); });
        letGo();
    }

    // ---- For ThreadTable

    [[nodiscard]] bool isAbandoned() const noexcept {
        // Relaxed: a thread that does not see it yet lets go of the registry later.
        return isAbandoned_.load(std::memory_order_relaxed);
    }

    Slot& enroll(const void* /*thread*/) {
        Slot* slot = takeSpare();
        if (slot == nullptr) {
            slot = new Slot(*this, limits_);
        }
        slot->begin(thisThread());
        users_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller holds the intake
        const QuietThread quiet;
        const std::lock_guard<Lock> turn(lock_);
        add(*slot);
        return *slot;
    }

    static void dismiss(Slot& slot) noexcept {
        LaneRegistry& registry = slot.registry;
        slot.end();
        registry.leavers_.fetch_add(1, std::memory_order_relaxed);  // relaxed: see leavers()
        registry.letGo();
    }

    // ---- The shared lane

    [[nodiscard]] Lane& shared() noexcept { return *shared_; }

    /// Tries to become the one who uses the shared lane; gives up soon when it `mayNotWait`, and at
    /// once when this thread is using it already.
    bool lockShared(bool mayNotWait) noexcept {
        const void* const me = Threads::mark();
        BasicNappingBackoff<Platform> backoff;
        for (unsigned left = mayNotWait ? 16 : 1000; left != 0; --left) {
            const void* holder = nullptr;
            if (sharedHolder_.compare_exchange_strong(holder, me, std::memory_order_acquire,
                                                      std::memory_order_relaxed)) {
                return true;
            }
            if (holder == me) {
                return false;
            }
            backoff.wait();
        }
        return false;
    }
    void unlockShared() noexcept { sharedHolder_.store(nullptr, std::memory_order_release); }

    void countDropped() noexcept { dropped_.fetch_add(1, std::memory_order_relaxed); }

    // ---- Closing and waking

    [[nodiscard]] const Atomic<bool>& closed() const noexcept { return closed_; }

    void close() noexcept {
        closed_.store(true, std::memory_order_seq_cst);
        forEach([](Slot& slot) { slot.wakeOwner(); });
    }

    [[nodiscard]] Events& events() noexcept { return events_; }

    // ---- Back end

    /// Changes when a lane is added.
    [[nodiscard]] std::uint64_t version() const noexcept {
        return version_.load(std::memory_order_seq_cst);
    }
    /// Calls visit(Slot&) for each lane that was added since it was called last, under the lock.
    /// Returns the version that is then known.
    template <class Visit>
    std::uint64_t visitNew(Visit visit) {
        const QuietThread quiet;
        const std::lock_guard<Lock> turn(lock_);
        for (Slot* slot = first_; slot != nullptr && !slot->isKnown; slot = slot->next) {
            visit(*slot);
            slot->isKnown = true;
        }
        return version();
    }

    /// Lanes that their owners have left and that have not been handed on.
    [[nodiscard]] std::size_t leavers() const noexcept {
        return leavers_.load(std::memory_order_relaxed);  // relaxed: hasLeft() tells which, and E5
    }

    /// A thread was found dead: its share in the registry ends, as in dismiss().
    void dismissDead() noexcept {
        leavers_.fetch_add(1, std::memory_order_relaxed);  // relaxed: read by the same thread
        letGo();
    }

    /// Hands on a lane that its owner has left and that is empty.
    void recycle(Slot& slot) noexcept {
        Slot* unwanted = nullptr;
        {
            const QuietThread quiet;
            const std::lock_guard<Lock> turn(lock_);
            (slot.previous == nullptr ? first_ : slot.previous->next) = slot.next;
            if (slot.next != nullptr) {
                slot.next->previous = slot.previous;
            }
            --size_;
            gone_ += countsOf(slot);
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

    // ---- Anybody

    /// Calls visit(Slot&) for each lane, under the lock.
    template <class Visit>
    void forEach(Visit visit) {
        const QuietThread quiet;
        const std::lock_guard<Lock> turn(lock_);
        for (Slot* slot = first_; slot != nullptr; slot = slot->next) {
            visit(*slot);
        }
    }

    /// Of all lanes, those that are no longer there included. `visit(const Slot&)` sees each lane
    /// that is.
    template <class Visit>
    LaneCounts counts(Visit visit) {
        const QuietThread quiet;
        const std::lock_guard<Lock> turn(lock_);
        LaneCounts sum = gone_;
        sum.discarded += dropped_.load(std::memory_order_relaxed);
        for (const Slot* slot = first_; slot != nullptr; slot = slot->next) {
            sum += countsOf(*slot);
            visit(*slot);
        }
        return sum;
    }

    static LaneCounts countsOf(const Slot& slot) noexcept {
        return {slot.logged(), slot.discarded(), slot.overrun(), slot.lost()};
    }

    /// Lanes of threads, and those that are kept for others.
    [[nodiscard]] std::size_t laneCount() noexcept {
        const QuietThread quiet;
        const std::lock_guard<Lock> turn(lock_);
        return size_ - 1 + spares_;
    }

    // ---- Fork

    void lockForFork() noexcept { lock_.lock(); }
    void afterForkInParent() noexcept { lock_.unlock(); }

    /// In the child, with the lock that was taken before the fork.
    void afterForkInChild() noexcept {
        const Lane* const own = Threads::find(this, Threads::hash(this));
        gone_ = LaneCounts{};
        dropped_.store(0, std::memory_order_relaxed);
        sharedHolder_.store(nullptr, std::memory_order_relaxed);
        std::size_t left = 0;
        auto shares = users_.load(std::memory_order_relaxed);  // relaxed: there is one thread
        for (Slot* slot = first_; slot != nullptr; slot = slot->next) {
            const bool isOthers = slot != shared_ && slot != own;
            if (isOthers && !slot->hasLeft()) {
                --shares;  // its thread's; never the last one, since the caller has one
            }
            left += isOthers ? 1 : 0;
            slot->resetInChild(slot == own, slot == shared_);
            slot->isKnown = false;
        }
        users_.store(shares, std::memory_order_relaxed);  // as above
        leavers_.store(left, std::memory_order_relaxed);  // relaxed: there is one thread
        unlockInChild();
    }
    void unlockInChild() noexcept { lock_.forgetHolder(); }

private:
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

    void add(Slot& slot) noexcept {
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
        const QuietThread quiet;
        const std::lock_guard<Lock> turn(lock_);
        Slot* const slot = spare_;
        if (slot != nullptr) {
            spare_ = slot->next;
            --spares_;
        }
        return slot;
    }

    void letGo() noexcept {
        // Acquire and release: the last one must see what the others did to their lanes.
        if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }

    // What every post reads and hardly anybody writes.
    alignas(cacheLineSize) Atomic<bool> closed_{false};
    Atomic<bool> isAbandoned_{false};
    const LaneLimits limits_;
    Events events_;  // the back end waits for work
    Atomic<std::uint64_t> version_{0};

    alignas(cacheLineSize) Lock lock_;
    Slot* first_ = nullptr;
    Slot* spare_ = nullptr;
    std::size_t size_ = 0;
    std::size_t spares_ = 0;
    LaneCounts gone_;
    Atomic<std::size_t> leavers_{0};
    Atomic<std::size_t> users_{1};

    alignas(cacheLineSize) Atomic<const void*> sharedHolder_{nullptr};
    Slot* const shared_;
    Atomic<std::uint64_t> dropped_{0};
};

}  // namespace sluice::log::detail
