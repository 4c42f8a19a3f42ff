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

/// While one lives, the posts of its thread neither allocate nor wait.
///
/// Such a post uses the thread's lane if the lane is free and has room. Otherwise it tries the
/// shared lane. If another thread uses the shared lane, the record is counted as discarded.
///
/// For signal handlers: the interrupted code may hold the lock of malloc(), or a lock that the back
/// end needs. (A handler that interrupts a post notices this without a scope.) Posts pay nothing:
/// they read it only if there is no lane or no room.
class SignalSafeScope {
public:
    SignalSafeScope() noexcept { depth_ = depth_ + 1; }
    ~SignalSafeScope() { depth_ = depth_ - 1; }
    SignalSafeScope(const SignalSafeScope&) = delete;
    SignalSafeScope& operator=(const SignalSafeScope&) = delete;

    static bool isActive() noexcept { return depth_ != 0; }

private:
    // Volatile: the only other reader is a signal handler of the same thread.
    inline static thread_local volatile int depth_ = 0;
};

/// The calling thread as records name it.
inline LaneInfo thisThread() noexcept {
    LaneInfo info;
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
