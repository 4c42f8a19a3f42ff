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

/// What a thread may not do just now.
///
/// While one lives, the calling thread's posts neither allocate nor wait: they use the thread's
/// lane if it has one that is free and has room, else the shared one, and are counted as discarded
/// when that cannot be had.
///
/// For signal handlers: the code they interrupted may hold malloc's lock, or one that the back end
/// needs. A handler that interrupted a post is told apart without this. No cost to posts: it is
/// asked for only when there is no lane or no room.
class QuietThread {
public:
    QuietThread() noexcept { depth_ = depth_ + 1; }
    ~QuietThread() { depth_ = depth_ - 1; }
    QuietThread(const QuietThread&) = delete;
    QuietThread& operator=(const QuietThread&) = delete;

    static bool isQuiet() noexcept { return depth_ != 0; }

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
