#pragma once

#include <atomic>
#include <cstdint>

#if defined(__linux__)

#include <cerrno>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#endif

namespace [[gnu::visibility("default")]] sluice {
namespace detail {

/// Makes the thread `me` the owner of the word. False if another thread owns it.
template <class Word>
bool tryOwnWord(Word& word, std::uint32_t me) noexcept {
    std::uint32_t nobody = 0;
    // Acquire here and release in disownWord(): this owner sees the section of the last owner.
    return word.compare_exchange_strong(nobody, me, std::memory_order_acquire,
                                        std::memory_order_relaxed);
}
/// The same, but sleeps while another thread owns the word, and lends the owner its priority. False
/// if the system refuses. `System` is as PriorityFutex.
template <class System, class Word>
bool ownWord(Word& word, std::uint32_t me) noexcept {
    return tryOwnWord(word, me) || System::own(word);
}
/// The owner `me` gives the word to a thread that sleeps for it, or to no thread.
template <class System, class Word>
void disownWord(Word& word, std::uint32_t me) noexcept {
    std::uint32_t mine = me;
    if (!word.compare_exchange_strong(mine, 0, std::memory_order_release,
                                      std::memory_order_relaxed)) {
        System::disown(word);
    }
}

#if defined(__linux__)

/// The calls of Linux that PriorityMutex and MembarrierTurn make.
///
///     std::uint32_t unowned = 0;
///     if (word.compare_exchange_strong(unowned, PriorityFutex::thisThread()) ||
///         PriorityFutex::own(word)) {  // sleeps until the calling thread is the owner
///         PriorityFutex::disown(word);
///     }
///
/// A word is 0 or the number of the thread that owns it. The system sets a bit while other threads
/// sleep for the word. A thread that sleeps for a word lends the owner its priority.
///
/// Origin: FUTEX_LOCK_PI and FUTEX_UNLOCK_PI, see futex(2).
///
/// Tests: tests/unit/base/priority_mutex_test.cpp.
class PriorityFutex {
public:
    using Word = std::atomic<std::uint32_t>;
    static constexpr bool polls = true;

    /// The number of the calling thread, which is not 0.
    static std::uint32_t thisThread() noexcept {
        return __builtin_expect(number_ == 0, 0) ? findThread() : number_;
    }
    /// Called in the child of a fork, because its thread has another number.
    static void forgetThread() noexcept { number_ = 0; }
    static constexpr std::uint32_t ownerOf(std::uint32_t word) noexcept {
        return word & FUTEX_TID_MASK;
    }

    /// Whether the calling thread has a real-time policy. While such a thread polls, no ordinary
    /// thread runs on its processor.
    static bool isRealTime() noexcept {
        constexpr int deadlinePolicy = 6;  // SCHED_DEADLINE, which old headers do not define
        const int policy = ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
        return policy == SCHED_FIFO || policy == SCHED_RR || policy == deadlinePolicy;
    }

    /// Sleeps until the calling thread is the owner. Returns false if the system refuses, because
    /// it has no such futexes or the owner does not exist.
    static bool own(Word& word) noexcept {
        if (!call(word, FUTEX_LOCK_PI_PRIVATE)) {
            return false;
        }
        // For the sanitizers, which do not see the writes of the kernel.
        (void)word.load(std::memory_order_acquire);
        return true;
    }
    /// Makes the first sleeping thread the owner. The owner calls it.
    static void disown(Word& word) noexcept {
        word.fetch_or(0, std::memory_order_release);  // see own()
        (void)call(word, FUTEX_UNLOCK_PI_PRIVATE);
    }

private:
    [[gnu::cold, gnu::noinline]] static std::uint32_t findThread() noexcept {
        number_ = static_cast<std::uint32_t>(::syscall(SYS_gettid));
        return number_;
    }

    static bool call(Word& word, int operation) noexcept {
        const int before = errno;
        long result = 0;
        do {
            result = ::syscall(SYS_futex, &word, operation, 0, nullptr, nullptr, 0);
        } while (result != 0 && (errno == EAGAIN || errno == EINTR));
        errno = before;
        return result == 0;
    }

    inline static thread_local std::uint32_t number_ = 0;
};

#endif

}  // namespace detail
}  // namespace sluice
