#pragma once

#include <sluice/base/asymmetric_fence.hpp>
#include <sluice/base/napping_backoff.hpp>
#include <sluice/base/priority_futex.hpp>

#if defined(__linux__)

#include <atomic>
#include <chrono>
#include <cstdint>
#include <pthread.h>

namespace [[gnu::visibility("default")]] sluice {
namespace detail {

/// What LockSections knows of a thread.
struct LockingThread {
    std::atomic<std::uint32_t>* number = nullptr;  ///< its gate_
    std::atomic<const void*>* inside = nullptr;    ///< its inside_
    std::atomic<unsigned> delays{0};               ///< how many ForkDelays it has
    bool hasEnded = false;                         ///< it is not listed again
    // Under the guard of the list.
    bool isListed = false;
    LockingThread* previous = nullptr;
    LockingThread* next = nullptr;
};

/// Tells in which PriorityMutex each thread is. So fork() waits until no other thread is in one,
/// and the child finds all of them unlocked, with what they protect complete.
///
/// Progress: enter() and leave() are two stores and a load. While a thread forks, the others wait
/// in enter(), at most `longestHold`; the thread that forks waits for them, at most `longestWait`.
/// Both limits keep other handlers of pthread_atfork() from a deadlock; a thread that runs into one
/// goes on as if there were no fork.
///
/// Limits: each shared object that has a copy of these variables looks after its own code. A kernel
/// without membarrier leaves a gap of one store buffer, and the thread that forks waits a little
/// longer there.
///
/// Invariants: a thread whose `gate_` is not 0 has seen that no thread forks, or its next
/// enter() is seen by the thread that forks. Listed are exactly the threads that have entered and
/// not ended.
///
/// Edges: E1 gate: inside_ stored, gate_ loaded -- against -- gate_ cleared, heavy fence, inside_
/// loaded: either the thread stops in enterSlowly(), or the fork sees it inside. E2 number: gate_
/// stored, light fence, forks_ loaded -- against -- forks_ stored, heavy fence, gate_ cleared:
/// either the thread stops, or its gate is cleared after it was set. E3 left: what a section did ->
/// inside_ release .. acquire -> fork, or destruction of the mutex.
///
/// Tests: tests/unit/base/lock_sections_test.cpp, tests/unit/base/priority_mutex_test.cpp.
class LockSections : public PriorityFutex {
    using Thread = LockingThread;

public:
    /// Before an attempt to lock. Returns the number of the calling thread.
    static std::uint32_t enter(const void* mutex) noexcept {
        inside_.store(mutex, std::memory_order_relaxed);  // relaxed, both: E1
        compilerBarrier();
        const std::uint32_t number = gate_.load(std::memory_order_relaxed);
        return __builtin_expect(number == 0, 0) ? enterSlowly(mutex) : number;
    }
    /// After an unlock, as the last step, or after an attempt that failed.
    static void leave() noexcept { inside_.store(nullptr, std::memory_order_release); }  // E3

    /// Waits until no other thread is inside the mutex.
    static void awaitOthers(const void* mutex) noexcept {
        NappingBackoff backoff;
        while (isAnyOther([mutex](Thread& thread) {
            return thread.inside->load(std::memory_order_acquire) == mutex;  // E3
        })) {
            backoff.wait();
        }
    }

    /// Whether the handlers of fork() are in place.
    static bool isRegistered() noexcept {
        static const Registration registration;
        return registration.isComplete;
    }

private:
    friend class ForkDelay;

    static constexpr std::chrono::milliseconds longestWait{500};
    static constexpr std::chrono::milliseconds longestHold{2000};

    /// Owns the list of threads. Sleeps rather than spins while another thread does.
    struct ListGuard {
        ListGuard() noexcept {
            NappingBackoff backoff;
            while (isListOwned_.exchange(true, std::memory_order_acquire)) {
                backoff.wait();
            }
        }
        ListGuard(const ListGuard&) = delete;
        ListGuard& operator=(const ListGuard&) = delete;
        ~ListGuard() { isListOwned_.store(false, std::memory_order_release); }
    };

    /// What the process calls. A thread-local object with a destructor would do instead of the key,
    /// but it would keep a plugin from being unloaded as long as the thread lives.
    struct Registration {
        Registration() noexcept
            : isComplete(::pthread_key_create(&endOfThread_, &endThread) == 0 &&
                         ::pthread_atfork(&beforeFork, &afterForkInParent, &afterForkInChild) ==
                             0) {}
        Registration(const Registration&) = delete;
        Registration& operator=(const Registration&) = delete;
        ~Registration() {
            // From now on threads may end unnoticed.
            const ListGuard guard;
            first_ = nullptr;
            isOver_ = true;
            (void)::pthread_key_delete(endOfThread_);
        }
        const bool isComplete;
    };

    [[gnu::cold, gnu::noinline]] static std::uint32_t enterSlowly(const void* mutex) noexcept {
        Thread& self = self_;
        const std::uint32_t number = thisThread();
        if (self.delays.load(std::memory_order_relaxed) != 0) {  // relaxed: its own
            return number;  // the fork waits for the end of the delay
        }
        add(self);
        for (;;) {
            leave();
            const bool isOpen = awaitEndOfForks();
            gate_.store(number, std::memory_order_relaxed);  // relaxed, all: E1 and E2
            inside_.store(mutex, std::memory_order_relaxed);
            AsymmetricFence::light();
            if (!isOpen || forks_.load(std::memory_order_relaxed) == 0) {
                return number;
            }
        }
    }

    /// False when it took too long.
    static bool awaitEndOfForks() noexcept {
        NappingBackoff backoff;
        const auto limit = std::chrono::steady_clock::now() + longestHold;
        while (forks_.load(std::memory_order_acquire) != 0) {
            if (std::chrono::steady_clock::now() >= limit) {
                return false;
            }
            backoff.wait();
        }
        return true;
    }

    /// Without memory for it, forks do not wait for this thread.
    static void add(Thread& self) noexcept {
        if (self.isListed || self.hasEnded || !isRegistered()) {
            return;
        }
        const ListGuard guard;
        if (isOver_ || ::pthread_setspecific(endOfThread_, &self) != 0) {
            return;
        }
        self.number = &gate_;
        self.inside = &inside_;
        self.isListed = true;
        self.previous = nullptr;
        self.next = first_;
        if (first_ != nullptr) {
            first_->previous = &self;
        }
        first_ = &self;
    }

    static void endThread(void* thread) noexcept {
        Thread& self = *static_cast<Thread*>(thread);
        self.hasEnded = true;
        const ListGuard guard;
        if (self.isListed && !isOver_) {
            (self.previous != nullptr ? self.previous->next : first_) = self.next;
            if (self.next != nullptr) {
                self.next->previous = self.previous;
            }
        }
        self.isListed = false;
    }

    template <class Test>
    static bool isAnyOther(Test test) noexcept {
        const ListGuard guard;
        Thread* thread = first_;
        while (thread != nullptr && (thread == &self_ || !test(*thread))) {
            thread = thread->next;
        }
        return thread != nullptr;
    }

    static void beforeFork() noexcept {
        forks_.fetch_add(1, std::memory_order_relaxed);  // relaxed: E2
        AsymmetricFence::heavy();
        (void)isAnyOther([](Thread& thread) {
            thread.number->store(0, std::memory_order_relaxed);  // relaxed: E1
            return false;
        });
        AsymmetricFence::heavy();
        NappingBackoff backoff;
        if (!AsymmetricFence::isAsymmetric()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        const auto limit = std::chrono::steady_clock::now() + longestWait;
        while (isAnyOther([](Thread& thread) {
                   return thread.inside->load(std::memory_order_acquire) != nullptr ||  // E3
                          thread.delays.load(std::memory_order_acquire) != 0;           // E3
               }) &&
               std::chrono::steady_clock::now() < limit) {
            backoff.wait();
        }
    }

    static void afterForkInParent() noexcept { forks_.fetch_sub(1, std::memory_order_release); }

    /// Relaxed, all: there is one thread.
    static void afterForkInChild() noexcept {
        Thread& self = self_;
        isListOwned_.store(false, std::memory_order_relaxed);
        forks_.store(0, std::memory_order_relaxed);
        gate_.store(0, std::memory_order_relaxed);
        self.previous = nullptr;
        self.next = nullptr;
        first_ = self.isListed ? &self : nullptr;
    }

    // Variables of their own: g++ then reaches each of them by one instruction.

    // The number of this thread; 0 when it has to stop for a fork, perhaps.
    inline static thread_local std::atomic<std::uint32_t> gate_{0};
    // The mutex that this thread locks or holds, or null.
    inline static thread_local std::atomic<const void*> inside_{nullptr};
    inline static thread_local Thread self_{};
    inline static std::atomic<unsigned> forks_{0};  // the threads that fork
    inline static std::atomic<bool> isListOwned_{false};
    inline static Thread* first_ = nullptr;
    inline static bool isOver_ = false;
    inline static pthread_key_t endOfThread_{};
};

/// While one exists, fork() waits for its thread as for a thread in a mutex. For work that is half
/// done between two sections of mutexes, or while the thread locks several of them. May be nested.
class ForkDelay {
public:
    ForkDelay() noexcept {
        LockSections::enter(this);
        add(1);
        LockSections::leave();
    }
    ForkDelay(const ForkDelay&) = delete;
    ForkDelay& operator=(const ForkDelay&) = delete;
    ~ForkDelay() { add(-1U); }

private:
    static void add(unsigned change) noexcept {
        std::atomic<unsigned>& delays = LockSections::self_.delays;
        // Relaxed: its own. Release: E3.
        delays.store(delays.load(std::memory_order_relaxed) + change, std::memory_order_release);
    }
};

/// Early, so that the handlers of fork() that the program registers run before these: they may wait
/// for other threads.
[[maybe_unused]] inline const bool areLockSectionsRegistered = LockSections::isRegistered();

}  // namespace detail
}  // namespace sluice

#endif
