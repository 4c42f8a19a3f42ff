/// \file
/// Makes every machine alike for the counted code. Callgrind leaves three things to the machine
/// that change which instructions run: the clock, the kernel's membarrier, and the clock source
/// that the log's time stamps ask for. (The fourth, the C library's choice among its copies of
/// memcpy(), is made by tools/count.py.)

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <ctime>

// The names are those of the C library and of the linker's option --wrap.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming,cert-dcl37-c,readability-inconsistent-declaration-parameter-name)
extern "C" {

long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
int __real_open(const char* path, int flags, unsigned mode);

/// The wall clock advances by 50 ns with each reading, in the first second of a minute: so no line
/// of a log begins another second than the line before. The steady clock stands still, because the
/// log sets it against the processor's counter, which is not under control here: with a length of
/// zero for each tick, the times that it computes are the same in each run.
int clock_gettime(clockid_t id, timespec* time) noexcept(noexcept(::clock_gettime(id, time))) {
    static std::atomic<long> readings{0};
    constexpr long start = 1767323040;
    constexpr long step = 50;
    time->tv_sec = start;
    time->tv_nsec =
        id == CLOCK_REALTIME ? step * readings.fetch_add(1, std::memory_order_relaxed) : 0;
    return 0;
}

/// membarrier works: one thread alone needs no barrier.
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
    return number == SYS_membarrier ? 0 : __real_syscall(number, a, b, c, d, e, f);
}

/// The kernel keeps time by the processor's counter.
int __wrap_open(const char* path, int flags, unsigned mode) {
    if (std::strcmp(path, "/sys/devices/system/clocksource/clocksource0/current_clocksource") !=
        0) {
        return __real_open(path, flags, mode);
    }
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) == 0) {
        const ssize_t written = write(ends[1], "tsc\n", 4);
        static_cast<void>(written);
        close(ends[1]);
    }
    return ends[0];
}
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming,cert-dcl37-c,readability-inconsistent-declaration-parameter-name)
