#pragma once

#include <sluice/base/at_start.hpp>
#include <sluice/base/detail/fork_gate.hpp>
#include <sluice/base/detail/futex_lock.hpp>
#include <sluice/base/priority_futex.hpp>

#if defined(__linux__)

#include <chrono>
#include <cstdint>
#include <pthread.h>
#include <thread>
#include <utility>

namespace [[gnu::visibility("default")]] sluice {
namespace detail {

/// The platform of ForkGate.
template <class Platform>
struct ForkPlatform : Platform {
    struct Fence {
        static void light() noexcept { compilerBarrier(); }
        /// Without membarrier, the store of another thread may still be in a store buffer. So the
        /// thread that forks waits a little.
        static void heavy() noexcept {
            Platform::Fence::heavy();
            if (!Platform::Fence::isAsymmetric()) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        }
    };
};

/// Tells which PriorityMutex each thread locks or holds. So fork() waits until no other thread is
/// in a mutex. The child finds all mutexes unlocked and their data complete.
///
/// Limits: a shared object with its own copy of these variables watches only its own code. A thread
/// must end as C++ or POSIX ends it. If a bare system call ends a thread, its entry stays in the
/// list, while a later thread reuses the memory: later forks and threads may crash.
///
/// Tests: tests/unit/base/held_mutexes_test.cpp, tests/unit/base/priority_mutex_test.cpp.
template <class Platform = StdPlatform>
class BasicHeldMutexes : public PriorityFutex {
    using Gate = BasicForkGate<ForkPlatform<Platform>, FutexLock>;

public:
    /// Called before an attempt to lock. Returns the number of the calling thread.
    static std::uint32_t enter(const void* mutex) noexcept {
        const std::uint32_t number = Gate::enter(self_, pass_, mutex);
        return __builtin_expect(number == 0, 0) ? enterSlowly(mutex) : number;
    }
    /// Called as the last step of an unlock, or after an attempt that failed.
    static void leave() noexcept { Gate::leave(self_); }

    static void awaitOthers(const void* mutex) noexcept { gate_.awaitOthers(self_, mutex); }

    /// Whether the handlers of fork() are in place.
    static bool isRegistered() noexcept {
        // Registers early. The handlers that the program registers later run before these on a
        // fork; they may wait for other threads.
        (void)&AtStart<&isRegistered>::call;
        static const Registration registration;
        return registration.isComplete;
    }

    /// While a Delay exists, fork() waits for its thread as for a thread in a mutex. Use it if work
    /// is half done between sections, or while the thread locks several mutexes. Delays nest.
    class Delay {
    public:
        Delay() noexcept {
            enter(this);
            Gate::addDelays(self_, 1);
            leave();
        }
        Delay(const Delay&) = delete;
        Delay& operator=(const Delay&) = delete;
        ~Delay() { Gate::addDelays(self_, -1U); }
    };

private:
    /// Registers the functions that the process calls. It uses a key: a thread-local object with a
    /// destructor would keep a plugin loaded as long as the thread lives.
    struct Registration {
        Registration() noexcept
            : isComplete(::pthread_key_create(&endOfThread_,
                                              [](void* self) {
                                                  gate_.remove(
                                                      *static_cast<typename Gate::Thread*>(self),
                                                      thisThread());
                                              }) == 0 &&
                         ::pthread_atfork([] { gate_.close(self_); }, [] { gate_.open(); },
                                          [] {
                                              forgetThread();
                                              gate_.forgetOthers(self_, pass_);
                                          }) == 0) {}
        Registration(const Registration&) = delete;
        Registration& operator=(const Registration&) = delete;
        ~Registration() {
            const typename Gate::Guard guard(gate_.lock());
            (void)::pthread_key_delete(std::exchange(endOfThread_, noKey));
            gate_.removeAll(guard);
        }
        const bool isComplete;
    };

    [[gnu::cold, gnu::noinline]] static std::uint32_t enterSlowly(const void* mutex) noexcept {
        const std::uint32_t number = thisThread();
        gate_.admit(self_, pass_, mutex, number, [] {
            return isRegistered() && ::pthread_setspecific(endOfThread_, &self_) == 0;
        });
        return number;
    }

    static constexpr auto noKey = static_cast<pthread_key_t>(-1);

    inline static Gate gate_;
    inline static pthread_key_t endOfThread_ = noKey;
    inline static thread_local typename Gate::Thread self_{};
    inline static thread_local
        typename Gate::Pass pass_{0};  // outside of self_: one instruction less
};

using HeldMutexes = BasicHeldMutexes<>;
using ForkDelay = HeldMutexes::Delay;

}  // namespace detail
}  // namespace sluice

#endif
