#pragma once

#if defined(__linux__)
#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace [[gnu::visibility("default")]] sluice {
namespace detail {

/// The system call behind MembarrierFence; tests replace it by scripted kernels.
struct MembarrierKernel {
    // These values belong to the kernel's ABI. Old kernel headers do not define them.
    static constexpr int commandGlobal = 1 << 0;
    static constexpr int commandPrivateExpedited = 1 << 3;
    static constexpr int commandRegisterPrivateExpedited = 1 << 4;

    /// Returns true if the kernel carried out the command. It does not change errno. Not inlined,
    /// because its size would keep functions of the callers from being inlined.
    [[gnu::noinline]] static bool call([[maybe_unused]] int command) noexcept {
#if defined(__linux__) && defined(SYS_membarrier)
        const int savedErrno = errno;
        const bool done = ::syscall(SYS_membarrier, command, 0U, 0) == 0;
        errno = savedErrno;
        return done;
#else
        return false;
#endif
    }
};

}  // namespace detail
}  // namespace sluice
