#pragma once

#include <sluice/event/detail/list/read_side.hpp>
#include <sluice/event/detail/list/reclaimer.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

namespace sluice::detail {

/// Limits the heavy fences by which a thread frees removals: one per `interval` in the long run,
/// and `burst` in a row after a pause. Each thread has a budget of its own, so one thread's
/// removals do not delay another thread's.
///
/// Origin: the generic cell rate algorithm of the ATM Forum (1996), a leaky bucket in one word.
template <class Clock>
class FenceBudget {
public:
    static constexpr std::chrono::nanoseconds interval = std::chrono::microseconds(200);
    static constexpr std::int64_t burst = 256;

    /// Returns true if a fence is allowed now, and counts this fence.
    static bool take() noexcept {
        const std::int64_t now = std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
        if (next_ - now > (burst - 1) * interval.count()) {
            return false;
        }
        next_ = std::max(next_, now) + interval.count();
        return true;
    }

private:
    /// When the whole burst is available again, in ns of the clock; written by its thread.
    inline static thread_local std::int64_t next_ = 0;
};

/// Keeps the elements that were removed from one list or map until no call can use them.
///
/// Threads: any thread calls any member at any time, except takeAll(). The caller of collect() does
/// not hold the owner's lock. After collect() the owner may be gone, because collect() runs
/// destructors that may destroy the owner.
///
/// Progress: removals are freed in batches. A batch waits for the calls that had begun when the
/// batch was started, and for no later ones. One thread at a time moves the batch forward. Other
/// threads ask this thread to look once more, and go on.
///
/// Invariants, under the lock: `newest_` and `batch_` link all removals, each in reverse order;
/// `count_` is their number. The removals of `batch_` came before `period_` began. `hasAny_` is
/// true while there are removals or the owner has ended. While `isCollecting_`, the thread that set it
/// owns `period_`.
///
/// Edges:
/// - E1 begin: removals and hasAny_ stored, heavy() | section over, light(), hasAny_ loaded. Either
///      the period does not wait for the section, or the thread that leaves sees hasAny_. So the
///      last call that a batch waits for moves the batch forward.
/// - E2 free: a section -> Presence's E1 -> the thread that finds the period over -> destructor.
///
/// Cost: a heavy fence for each batch, within the FenceBudget. Each 256th waiting removal asks for
/// a batch beyond this budget.
template <class Threading>
class Removals {
    using ReadSide = ReadSideOf<Threading>;
    using Users = typename ReadSide::Users;
    using Lock = LockOf<Threading>;
    using Guard = std::lock_guard<Lock>;
    template <class T>
    using Atomic = typename ReadSide::Platform::template Atomic<T>;

public:
    enum class Effort : unsigned char { limited, full };

    /// Whether a call must run collect() at its end.
    bool hasAny() const noexcept {
        return hasAny_.load(std::memory_order_relaxed);  // relaxed: E1, by the fence before it
    }

    /// endOwner(owner) deletes the owner. It is code of the shared object that makes the owner. The
    /// shared object that destroys the list may be unloaded before the last call ends.
    explicit Removals(void (*endOwner)(void*)) noexcept : endOwner_(endOwner) {}

    std::size_t sizeApprox() const noexcept { return count_.load(std::memory_order_relaxed); }

    /// Several removals, linked from the newest to the oldest.
    struct Chain {
        void add(Removed& removed) noexcept {
            removed.nextRemoved = std::exchange(newest, &removed);
            oldest = oldest != nullptr ? oldest : newest;
            ++size;
        }
        Removed* newest = nullptr;
        Removed* oldest = nullptr;
        std::size_t size = 0;
    };

    /// The chain is not empty.
    void add(const Guard& /*guard*/, const Chain& chain) noexcept {
        chain.oldest->nextRemoved = std::exchange(newest_, chain.newest);
        // Relaxed, all: written under the lock, and E1.
        const std::size_t before = count_.load(std::memory_order_relaxed);
        count_.store(before + chain.size, std::memory_order_relaxed);
        isMany_ = isMany_ || before / many != (before + chain.size) / many;
        hasAny_.store(true, std::memory_order_relaxed);
    }

    /// For an owner that ends within calls of itself. The last of these calls deletes it.
    void addOwner(const Guard& /*guard*/, void* owner) noexcept {
        owner_ = owner;
        hasAny_.store(true, std::memory_order_relaxed);  // relaxed: for this thread
    }

    /// Frees the elements that no call uses, without waiting. Cold: the fence inside costs most, so
    /// the function is optimised for size.
    [[gnu::cold, gnu::noinline]] void collect(const Users& users, Lock& lock,
                                              Effort effort) noexcept {
        Freed freed;
        {
            const Guard guard(lock);
            isAskedAgain_ = std::exchange(isCollecting_, true);
            if (isAskedAgain_) {
                return;
            }
        }
        while (isBatchReady(users, lock, effort) && takePassed(users, lock, freed)) {
        }
        if (freed.owner != nullptr) {
            freed.end(freed.owner);
        }
        Reclaimer::freeAll(freed.first);
    }

    /// Takes all removals, in the order of removal. No other thread uses this object.
    Removed* takeAll() noexcept {
        Freed freed;
        freed.append(std::exchange(batch_, nullptr));
        freed.append(std::exchange(newest_, nullptr));
        count_.store(0, std::memory_order_relaxed);  // relaxed, both: no other thread
        hasAny_.store(false, std::memory_order_relaxed);
        return freed.first;
    }

private:
    static constexpr std::size_t many = 256;

    struct Freed {
        /// Appends a list that is in reverse order.
        void append(Removed* newest) noexcept {
            Removed* oldest = nullptr;
            Removed* const youngest = newest;
            while (newest != nullptr) {
                Removed* const next = newest->nextRemoved;
                newest->nextRemoved = oldest;
                oldest = std::exchange(newest, next);
            }
            (last != nullptr ? last->nextRemoved : first) = oldest;
            last = youngest != nullptr ? youngest : last;
        }

        Removed* first = nullptr;
        Removed* last = nullptr;
        void* owner = nullptr;
        void (*end)(void*) = nullptr;
    };

    /// Starts a batch unless one waits already. Returns false if there is nothing to do now: then
    /// this thread no longer collects.
    bool isBatchReady(const Users& users, Lock& lock, Effort effort) noexcept {
        Removed* newest = nullptr;
        {
            const Guard guard(lock);
            if (batch_ != nullptr || isOwnerWaiting_) {
                return true;
            }
            newest = newest_;
            const bool isUrgent =
                effort == Effort::full || owner_ != nullptr || std::exchange(isMany_, false);
            if ((newest == nullptr && owner_ == nullptr) ||
                !(isUrgent || users.isAlone() ||
                  FenceBudget<typename ReadSide::Platform::Clock>::take())) {
                hasAny_.store(newest != nullptr, std::memory_order_relaxed);  // relaxed: E1
                isCollecting_ = false;
                return false;
            }
            batch_ = std::exchange(newest_, nullptr);
            batchSize_ = count_.load(std::memory_order_relaxed);  // relaxed: under the lock
            isOwnerWaiting_ = owner_ != nullptr;
        }
        period_ = users.beginGrace();  // E1
        return true;
    }

    /// Moves the batch to `freed` if its period has passed. Returns false if this thread no longer
    /// collects.
    bool takePassed(const Users& users, Lock& lock, Freed& freed) noexcept {
        const bool hasPassed = users.hasPassed(period_);  // E2
        Removed* passed = nullptr;
        bool goesOn = true;
        {
            const Guard guard(lock);
            if (hasPassed) {
                passed = std::exchange(batch_, nullptr);
                // Relaxed: written under the lock.
                count_.store(count_.load(std::memory_order_relaxed) - std::exchange(batchSize_, 0),
                             std::memory_order_relaxed);
                if (isOwnerWaiting_) {
                    freed.owner = owner_;
                    freed.end = endOwner_;
                    goesOn = false;
                }
            } else {
                goesOn = std::exchange(isAskedAgain_, false);
                isCollecting_ = goesOn;
            }
        }
        freed.append(passed);
        return goesOn;
    }

    Atomic<bool> hasAny_{false};             ///< whether a call must run collect() at its end
    Atomic<std::size_t> count_{0};           ///< removals in newest_ and batch_
    Removed* newest_ = nullptr;              ///< removals that are in no batch, the newest first
    Removed* batch_ = nullptr;               ///< removals that wait for period_, the newest first
    std::size_t batchSize_ = 0;              ///< removals in batch_
    typename ReadSide::GracePeriod period_;  ///< used by the collecting thread alone
    bool isCollecting_ = false;      ///< whether a thread is in collect()
    bool isAskedAgain_ = false;      ///< another thread asks the collecting thread to look again
    bool isMany_ = false;            ///< count_ has passed a multiple of `many`
    bool isOwnerWaiting_ = false;    ///< whether the owner's deletion waits for period_
    void* owner_ = nullptr;          ///< the owner when it has ended, otherwise null
    void (*const endOwner_)(void*);  ///< deletes the owner
};

}  // namespace sluice::detail
