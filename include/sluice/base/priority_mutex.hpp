#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/backoff.hpp>
#include <sluice/base/detail/futex_lock.hpp>
#include <sluice/base/detail/held_mutexes.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/priority_futex.hpp>
#include <sluice/base/spin_lock.hpp>

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace [[gnu::visibility("default")]] sluice {

/// A small mutex that lends its holder the priority of a waiting thread. So threads of different
/// real-time priorities can share a short critical section.
///
///     PriorityMutex mutex;
///     {
///         const std::lock_guard<PriorityMutex> guard(mutex);
///         changeWhatIsShared();
///     }
///
/// Use it for sections of a few instructions that call no code of the user. Use std::mutex if the
/// section is long. With a SpinLock a real-time thread would poll, and so keep a holder of lower
/// priority from running.
///
/// Threads: any thread calls lock() and try_lock(); only the holder calls unlock(). A thread that
/// locks a mutex that it holds waits for ever.
///
/// Progress: blocking. A waiting thread polls for microseconds, because the holder is usually about
/// to unlock. Then a real-time thread sleeps, and the holder runs with its priority. An ordinary
/// thread yields first, and then sleeps. Sleeping threads wait in a line; polling threads may
/// overtake them. A holder that waits for something else, such as a page fault, delays all waiting
/// threads.
///
/// Memory promise: everything done before an unlock() is visible after each later lock() and
/// successful try_lock().
///
/// fork: on Linux the child finds the mutex unlocked. fork() waits for each thread that is between
/// lock() and unlock(), for half a second at most. For a thread that holds several mutexes, fork()
/// waits only until the thread unlocks one of them.
///
/// Destruction: call awaitUnlocks() first, because unlock() still reads the mutex when another
/// thread may hold it.
///
/// Cost: one atomic step for lock(), and three stores and two loads for lock() and unlock()
/// together. A system call only if a thread sleeps. Twelve bytes. No allocation, no exceptions,
/// constant-initialised.
///
/// Portability: on other systems than Linux it is a SpinLock.
///
/// States: `holder_` is 0 or the number of the thread between lock() and unlock(). Threads that
/// sleep own `line_` one after the other. The owner of `line_` writes the holder's number to
/// `loan_`, as if the holder had owned `loan_` all the time. Then the owner of `line_` asks the
/// system for `loan_`. So this thread sleeps and lends its priority, until the holder gives `loan_`
/// back in unlock().
///
/// Edges: E1 hand-over: unlock() releases holder_ -> take() acquires. E2 loan: loan_ written, heavy
/// fence, holder_ read -- against -- holder_ cleared, light fence, loan_ read: either the waiter
/// sees that the holder has left, or unlock() sees the loan.
///
/// Origin: the futexes of Linux with priority inheritance. New here: unlock() takes no atomic step,
/// because the waiter sleeps on a word of its own and pays for the fence.
///
/// Tests: tests/unit/base/priority_mutex_test.cpp, tests/model/priority_mutex_model_test.cpp.
///
/// `System` has the members of detail::HeldMutexes.
template <class Platform, class System>
class BasicPriorityMutex {
public:
    constexpr BasicPriorityMutex() noexcept = default;
    BasicPriorityMutex(const BasicPriorityMutex&) = delete;
    BasicPriorityMutex& operator=(const BasicPriorityMutex&) = delete;

    void lock() noexcept {
        const std::uint32_t me = System::enter(this);
        if (__builtin_expect(!take(me), 0)) {
            lockContended(me);
        }
    }

    [[nodiscard]] bool try_lock() noexcept {
        if (tryTake(System::enter(this))) {
            return true;
        }
        System::leave();
        return false;
    }

    void unlock() noexcept {
        // Relaxed: the holder reads its own store.
        SLUICE_ASSERT(holder_.load(std::memory_order_relaxed) != 0,
                      "unlock() without lock(): pair them with std::lock_guard");
        holder_.store(0, std::memory_order_release);  // E1
        Platform::Fence::light();                     // E2
        // Relaxed: the fence orders it.
        if (__builtin_expect(loan_.load(std::memory_order_relaxed) != 0, 0)) {
            giveBack();
        }
        System::leave();
    }

    /// Waits until each unlock() that other threads have begun has returned. Then the mutex may be
    /// destroyed, if no thread locks it any more.
    void awaitUnlocks() const noexcept { System::awaitOthers(this); }

    /// Unlocks the mutex in the child of a fork. Call it if the forking thread held the mutex, or
    /// if another thread held it longer than fork() waits. Relaxed: there is one thread.
    void forgetHolder() noexcept {
        holder_.store(0, std::memory_order_relaxed);
        loan_.store(0, std::memory_order_relaxed);
        line_.store(0, std::memory_order_relaxed);
        System::leave();
    }

private:
    using Word = typename Platform::template Atomic<std::uint32_t>;

    /// The number of yields of an ordinary thread before it sleeps.
    static constexpr int mostYields = 64;

    bool take(std::uint32_t me) noexcept {
        std::uint32_t nobody = 0;
        return holder_.compare_exchange_strong(nobody, me, std::memory_order_acquire,  // E1
                                               std::memory_order_relaxed);
    }
    bool tryTake(std::uint32_t me) noexcept {
        // Relaxed: only decides whether the attempt is worth a transfer of the cache line.
        return holder_.load(std::memory_order_relaxed) == 0 && take(me);
    }

    bool poll(std::uint32_t me) noexcept {
        BasicBackoff<Platform> backoff;
        while (!tryTake(me)) {
            if (!System::polls || backoff.isYielding()) {
                return false;
            }
            backoff.wait();
        }
        return true;
    }

    [[gnu::cold, gnu::noinline]] void lockContended(std::uint32_t me) noexcept {
        if (poll(me)) {
            return;
        }
        for (int i = 0; i < mostYields && !System::isRealTime(); ++i) {
            Platform::yield();
            if (tryTake(me)) {
                return;
            }
        }
        const bool isInLine = detail::ownWord<System>(line_, me);
        while (!poll(me)) {
            if (!isInLine || !lend(me)) {
                Platform::yield();
            }
        }
        if (isInLine) {
            detail::disownWord<System>(line_, me);
        }
    }

    /// Sleeps until the holder has left, and lends the holder its priority. The owner of line_
    /// calls it. Returns false if the system refuses.
    bool lend(std::uint32_t me) noexcept {
        // Relaxed, all: the fence orders them.
        const std::uint32_t holder = holder_.load(std::memory_order_relaxed);
        if (holder == 0) {
            return true;
        }
        loan_.store(holder, std::memory_order_relaxed);
        Platform::Fence::heavy();  // E2
        const bool hasLeft = holder_.load(std::memory_order_relaxed) != holder;
        const bool isOwn = !hasLeft && System::own(loan_);
        if (isOwn) {
            detail::disownWord<System>(loan_, me);
        } else {
            loan_.store(0, std::memory_order_relaxed);
        }
        return hasLeft || isOwn;
    }

    [[gnu::cold, gnu::noinline]] void giveBack() noexcept {
        // Relaxed: if this thread owns loan_, only this thread ends that.
        if (System::ownerOf(loan_.load(std::memory_order_relaxed)) == System::thisThread()) {
            System::disown(loan_);
        }
    }

    Word holder_{0};
    Word loan_{0};
    Word line_{0};
};

#if defined(__linux__)
using PriorityMutex = BasicPriorityMutex<StdPlatform, detail::HeldMutexes>;
#else
class PriorityMutex : public SpinLock {
public:
    void awaitUnlocks() const noexcept {}
    void forgetHolder() noexcept { unlock(); }
};
namespace detail {
struct ForkDelay {};
}  // namespace detail
#endif

namespace detail {

/// The lock of short critical sections on this platform.
template <class Platform>
using PlatformLock = std::conditional_t<std::is_same_v<Platform, StdPlatform>, PriorityMutex,
                                        BasicSpinLock<Platform>>;

}  // namespace detail

}  // namespace sluice
