#pragma once

#include <sluice/base/napping_backoff.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <utility>

namespace [[gnu::visibility("default")]] sluice {
namespace detail {

/// Keeps other threads out of their sections while one thread forks. A section is the time in which
/// a thread locks or holds a mutex.
///
/// A thread calls enter() and leave(). If enter() returns 0, it calls admit(). The thread that
/// forks calls close(), then open() in the parent and forgetOthers() in the child.
///
/// Progress: after close(), the other threads wait in admit(), at most `longestHold`. close() waits
/// for the sections that have begun, at most `longestWait`. The limits prevent a deadlock with
/// other handlers of fork(): a thread that reaches its limit goes on as if there were no fork.
///
/// Edges: E1 gate: inside stored, light fence, pass loaded -- against -- pass cleared, heavy fence,
/// inside loaded. Either the thread calls admit(), or close() sees it inside. E2 left: the section
/// -> inside or delays, release .. acquire -> fork, or destruction of the mutex.
///
/// GateLock has lock(), unlock(), and forgetHolder() for the child, like FutexLock.
///
/// Tests: tests/model/fork_gate_model_test.cpp, tests/unit/base/held_mutexes_test.cpp.
template <class Platform, class GateLock>
class BasicForkGate {
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;
    using Clock = typename Platform::Clock;

public:
    /// The number of a thread that may enter; 0 if the thread has to call admit().
    using Pass = Atomic<std::uint32_t>;
    using Lock = GateLock;
    using Guard = std::lock_guard<Lock>;

    /// The gate's entry for a thread.
    struct Thread {
        Atomic<const void*> inside{nullptr};  ///< the mutex of the section; the thread writes it
        Atomic<unsigned> delays{0};           ///< number of ForkDelays; the thread writes it
        Pass* pass = nullptr;
        Thread* next = nullptr;
        Thread** link = nullptr;  ///< the list's pointer to this entry; null: not listed
    };

    static std::uint32_t enter(Thread& self, const Pass& pass, const void* mutex) noexcept {
        self.inside.store(mutex, std::memory_order_relaxed);  // relaxed, both: E1
        Platform::Fence::light();
        return pass.load(std::memory_order_relaxed);
    }
    static void leave(Thread& self) noexcept {
        self.inside.store(nullptr, std::memory_order_release);  // E2
    }

    /// A fork waits for a thread with delays as for a thread that is inside. The thread calls it;
    /// to count up, it must be inside.
    static void addDelays(Thread& self, unsigned change) noexcept {
        // Relaxed: only this thread writes it. Release: E2.
        self.delays.store(self.delays.load(std::memory_order_relaxed) + change,
                          std::memory_order_release);
    }

    /// Waits for the end of a fork, and lets the thread enter from now on. canBeListed() tells
    /// whether remove() will be called when the thread ends. If not, no fork waits for this thread.
    template <class CanBeListed>
    void admit(Thread& self, Pass& pass, const void* mutex, std::uint32_t number,
               CanBeListed canBeListed) noexcept {
        if (self.delays.load(std::memory_order_relaxed) != 0) {  // relaxed: its own
            return;  // the fork waits for the end of the delay
        }
        leave(self);
        const auto limit = Clock::now() + longestHold;
        for (BasicNappingBackoff<Platform> backoff;; backoff.wait()) {
            const Guard guard(lock_);
            if (forks_ != 0 && Clock::now() < limit) {
                continue;
            }
            self.pass = &pass;
            if (self.link == nullptr && canBeListed()) {
                list(guard, self);
            }
            pass.store(number, std::memory_order_relaxed);  // relaxed, both: lock_ orders
            self.inside.store(mutex, std::memory_order_relaxed);
            return;
        }
    }

    /// Called when the thread ends. The thread may still enter, but forks do not wait for it.
    [[gnu::cold, gnu::noinline]] void remove(Thread& self, std::uint32_t number) noexcept {
        const Guard guard(lock_);
        self.pass->store(number, std::memory_order_relaxed);  // relaxed: its own
        if (self.link != nullptr && first_ != nullptr) {      // not after removeAll()
            *self.link = self.next;
            if (self.next != nullptr) {
                self.next->link = self.link;
            }
            self.link = nullptr;
        }
    }

    /// From now on threads end without remove(). The caller owns lock(). Reads no entry, because an
    /// entry may belong to a thread that vanished without remove().
    void removeAll(const Guard& /*guard*/) noexcept { first_ = nullptr; }
    Lock& lock() noexcept { return lock_; }

    /// Waits until no other thread is in a section of the mutex.
    void awaitOthers(const Thread& self, const void* mutex) noexcept {
        const auto isInside = [mutex](const Thread& thread) {
            return thread.inside.load(std::memory_order_acquire) == mutex;  // E2
        };
        for (BasicNappingBackoff<Platform> backoff; isAnyOther(self, isInside);) {
            backoff.wait();
        }
    }

    /// Called before a fork. Waits until no other thread is in a section.
    [[gnu::cold, gnu::noinline]] void close(const Thread& self) noexcept {
        {
            const Guard guard(lock_);
            ++forks_;
            for (Thread* thread = first_; thread != nullptr; thread = thread->next) {
                if (thread != &self) {
                    thread->pass->store(0, std::memory_order_relaxed);  // relaxed: E1
                }
            }
        }
        Platform::Fence::heavy();  // E1
        const auto isInside = [](const Thread& thread) {
            // Reads `inside` first, because a thread begins a delay inside. E2
            return thread.inside.load(std::memory_order_acquire) != nullptr ||
                   thread.delays.load(std::memory_order_acquire) != 0;
        };
        const auto limit = Clock::now() + longestWait;
        BasicNappingBackoff<Platform> backoff;
        while (isAnyOther(self, isInside) && Clock::now() < limit) {
            backoff.wait();
        }
    }

    /// Called after a fork in the parent.
    void open() noexcept {
        const Guard guard(lock_);
        --forks_;
    }

    /// Called after a fork in the child, where one thread is left and its number has changed.
    [[gnu::cold, gnu::noinline]] void forgetOthers(Thread& self, Pass& pass) noexcept {
        lock_.forgetHolder();
        const Guard guard(lock_);
        forks_ = 0;
        if (std::exchange(first_, nullptr) != nullptr && self.link != nullptr) {
            list(guard, self);
        }
        pass.store(0, std::memory_order_relaxed);  // relaxed: its own
    }

private:
    static constexpr std::chrono::milliseconds longestWait{500};
    static constexpr std::chrono::milliseconds longestHold{2000};

    void list(const Guard& /*guard*/, Thread& self) noexcept {
        self.link = &first_;
        self.next = std::exchange(first_, &self);
        if (self.next != nullptr) {
            self.next->link = &self.next;
        }
    }

    template <class Test>
    bool isAnyOther(const Thread& self, Test test) noexcept {
        const Guard guard(lock_);
        const Thread* thread = first_;
        while (thread != nullptr && (thread == &self || !test(*thread))) {
            thread = thread->next;
        }
        return thread != nullptr;
    }

    Lock lock_;
    unsigned forks_ = 0;       // number of forking threads; guarded by lock_
    Thread* first_ = nullptr;  // list of admitted threads; guarded by lock_
};

}  // namespace detail
}  // namespace sluice
