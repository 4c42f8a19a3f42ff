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

/// Says how often a thread may pay for a heavy fence in order to free its removals: once per
/// `interval` in the long run, and `burst` times in a row after a pause. Each thread has its own,
/// so that the removals of one thread delay no other thread's.
///
/// Origin: the generic cell rate algorithm of the ATM Forum (1996), a leaky bucket in one word.
template <class Clock>
class FenceBudget {
public:
    static constexpr std::chrono::nanoseconds interval = std::chrono::microseconds(200);
    static constexpr std::int64_t burst = 256;

    /// Whether it may be done now; then this counts as once.
    static bool take() noexcept {
        const std::int64_t now = std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
        if (next_ - now > (burst - 1) * interval.count()) {
            return false;
        }
        next_ = std::max(next_, now) + interval.count();
        return true;
    }

private:
    /// When the last one that was allowed would have been due, without a burst.
    inline static thread_local std::int64_t next_ = 0;
};

/// The elements that were removed from one list or map, until none of its calls can be using them.
///
/// Threads: any thread anything at any time; collect() not under the owner's lock. After
/// collect() the owner may be gone, because a destructor that it ran may have destroyed it.
///
/// Progress: removals are freed in batches. A batch waits for the calls that had begun when the
/// batch was started, and for no later ones. One thread at a time moves the batch forward; others
/// ask it to look once more, and go on.
///
/// Invariants, under the lock: `newest_` and `batch_` link all removals, each in reverse order;
/// `count_` is their number. Those of `batch_` were removed before `period_` began. `hasAny_` is
/// true while there are removals or the owner has ended. While `collectedIn_` is this process, the
/// thread that set it owns `period_`. In the child of a fork that thread is gone, and the next one
/// begins the period again.
///
/// Edges:
/// - E1 begin: removals and hasAny_ stored, heavy() | section over, light(), hasAny_ loaded. Either
///      the period does not wait for the section, or the thread that leaves sees hasAny_. So the
///      last call that a batch waits for moves the batch forward.
/// - E2 free: a section -> Presence's E1 -> the thread that finds the period over -> destructor.
///
/// Cost: beginning a batch takes a heavy fence. It is made `burst` times in a row
/// and once per `interval` in the long run, and for each 256th removal.
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

    /// For a call that has ended: whether it is to call collect().
    bool hasAny() const noexcept {
        return hasAny_.load(std::memory_order_relaxed);  // relaxed: E1, by the fence before it
    }

    /// endOwner(owner) ends the owner. The code that makes the owner provides it: the owner may be
    /// ended by code of a shared object that is gone when the last call ends.
    explicit Removals(void (*endOwner)(void*)) noexcept : endOwner_(endOwner) {}

    std::size_t sizeApprox() const noexcept { return count_.load(std::memory_order_relaxed); }

    /// Several, linked from the newest to the oldest.
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

    /// Not for an empty chain.
    void add(const Guard& /*guard*/, const Chain& chain) noexcept {
        chain.oldest->nextRemoved = std::exchange(newest_, chain.newest);
        // Relaxed, all: written under the lock, and E1.
        const std::size_t before = count_.load(std::memory_order_relaxed);
        count_.store(before + chain.size, std::memory_order_relaxed);
        isMany_ = isMany_ || before / many != (before + chain.size) / many;
        hasAny_.store(true, std::memory_order_relaxed);
    }

    /// The owner ends within a call of its own. The last such call ends it.
    void addOwner(const Guard& /*guard*/, void* owner) noexcept {
        owner_ = owner;
        hasAny_.store(true, std::memory_order_relaxed);  // relaxed: for this thread
    }

    /// Frees the elements that no call uses, without waiting. Cold: a smaller function costs less
    /// here than the fence inside it.
    [[gnu::cold, gnu::noinline]] void collect(const Users& users, Lock& lock,
                                              Effort effort) noexcept {
        Freed freed;
        {
            const Guard guard(lock);
            const std::uint32_t before = std::exchange(collectedIn_, users.process());
            isAskedAgain_ = before == collectedIn_;
            if (isAskedAgain_) {
                return;
            }
            if (before != nobody) {
                period_ = users.beginGrace();
            }
        }
        while (isBatchReady(users, lock, effort) && takePassed(users, lock, freed)) {
        }
        if (freed.owner != nullptr) {
            freed.end(freed.owner);
        }
        Reclaimer::freeAll(freed.first);
    }

    /// Everything, in the order of removal. Without other threads.
    Removed* takeAll() noexcept {
        Freed freed;
        freed.append(std::exchange(batch_, nullptr));
        freed.append(std::exchange(newest_, nullptr));
        count_.store(0, std::memory_order_relaxed);  // relaxed, both: nobody else
        hasAny_.store(false, std::memory_order_relaxed);
        return freed.first;
    }

private:
    static constexpr std::size_t many = 256;
    static constexpr std::uint32_t nobody = 0;

    struct Freed {
        /// Takes a list that is in reverse order.
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

    /// Starts a batch unless one waits already. False when there is nothing to do for now; then
    /// this thread collects no longer.
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
                collectedIn_ = nobody;
                return false;
            }
            batch_ = std::exchange(newest_, nullptr);
            batchSize_ = count_.load(std::memory_order_relaxed);  // relaxed: under the lock
            isOwnerWaiting_ = owner_ != nullptr;
        }
        period_ = users.beginGrace();  // E1
        return true;
    }

    /// False when this thread collects no longer.
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
                collectedIn_ = goesOn ? collectedIn_ : nobody;
            }
        }
        freed.append(passed);
        return goesOn;
    }

    Atomic<bool> hasAny_{false};
    Atomic<std::size_t> count_{0};
    Removed* newest_ = nullptr;
    Removed* batch_ = nullptr;
    std::size_t batchSize_ = 0;
    typename ReadSide::GracePeriod period_;
    std::uint32_t collectedIn_ = nobody;
    bool isAskedAgain_ = false;
    bool isMany_ = false;
    bool isOwnerWaiting_ = false;
    void* owner_ = nullptr;
    void (*const endOwner_)(void*);
};

}  // namespace sluice::detail
