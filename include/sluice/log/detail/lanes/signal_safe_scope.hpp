#pragma once

#include <sluice/log/detail/lanes/record.hpp>

#include <cstdint>

#if defined(__linux__)
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <functional>
#include <thread>
#endif

namespace [[gnu::visibility("default")]] sluice {
namespace log::detail {

/// While a SignalSafeScope lives, the posts of its thread neither allocate nor wait.
///
/// Such a post uses the thread's lane. If the thread has no lane, or is using the lane, the post
/// tries the shared lane. A post that finds no room is counted as discarded. So is a post while
/// another thread uses the shared lane.
///
/// It is for signal handlers: the interrupted code may hold the lock of malloc(), or a lock that
/// the back end needs. Without a scope, a handler that interrupts a post also uses the shared lane.
/// A post reads the scope only if there is no lane or no room, so other posts do not pay for it.
class SignalSafeScope {
public:
    SignalSafeScope() noexcept { depth_ = depth_ + 1; }
    ~SignalSafeScope() { depth_ = depth_ - 1; }
    SignalSafeScope(const SignalSafeScope&) = delete;
    SignalSafeScope& operator=(const SignalSafeScope&) = delete;

    static bool isActive() noexcept { return depth_ != 0; }

private:
    // Volatile, because a signal handler of the same thread reads it.
    inline static thread_local volatile int depth_ = 0;
};

/// Returns the number and the name of the calling thread.
inline ThreadInfo thisThread() noexcept {
    ThreadInfo info;
#if defined(__linux__)
    info.threadId = static_cast<std::uint64_t>(::syscall(SYS_gettid));
    (void)::pthread_getname_np(::pthread_self(), info.threadName, sizeof info.threadName);
#else
    info.threadId = std::hash<std::thread::id>{}(std::this_thread::get_id());
#endif
    return info;
}

}  // namespace log::detail
}  // namespace sluice
