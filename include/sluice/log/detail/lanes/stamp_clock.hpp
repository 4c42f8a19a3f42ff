#pragma once

#include <sluice/base/platform.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>

#if defined(__linux__)
#include <fcntl.h>
#include <unistd.h>
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace [[gnu::visibility("default")]] sluice {
namespace log::detail {

/// A reading of the stamp clock, in ticks of unknown length.
using Stamp = std::uint64_t;

/// A stamp later than every record's stamp.
inline constexpr Stamp endOfTime = std::numeric_limits<Stamp>::max();

/// The monotonic clock that orders the records of all threads. StampClock reads the processor's
/// counter if the kernel keeps time by that counter, and CLOCK_MONOTONIC if not. The first use
/// selects the source for the whole process.
///
/// C++ does not order clock readings and memory accesses, so each function states the order of its
/// reading. Proof: docs/algorithms/ordered-log.md.
///
/// Thread safety: any thread may call any member. Performance: the counter is read in 10 to 15 ns,
/// CLOCK_MONOTONIC in 25 ns; announceThenNow() takes 5 to 8 ns more.
class StampClock {
public:
    /// Stores `value` in `word`, visible to all threads, and then reads the clock.
    template <class Word>
    static Stamp announceThenNow(Word& word, std::uint64_t value) noexcept {
        word.exchange(value, std::memory_order_seq_cst);
        return now();
    }

    /// Reads the clock after all memory accesses that precede the call.
    static Stamp now() noexcept {
        if (SLUICE_LIKELY(usesCounter())) {
            return readCounterLast();
        }
        PortableFence::heavy();
        return readSystemClock();
    }

    /// Reads the clock before all loads that follow the call.
    static Stamp nowThenLoad() noexcept {
        const Stamp ticks = SLUICE_LIKELY(usesCounter()) ? readCounterFirst() : readSystemClock();
        PortableFence::heavy();
        return ticks;
    }

    /// Waits until any later now() returns more than `stamp`. Does not wait if the clock reads the
    /// x86-64 counter, which ticks faster than threads can communicate.
    static void waitUntilPast(Stamp stamp) noexcept {
        if (SLUICE_UNLIKELY(!usesCounter() || !counterIsFast)) {
            while (now() <= stamp) {
            }
        }
    }

    /// Returns true if the clock reads the processor's counter. The first call selects the source.
    static bool usesCounter() noexcept {
        const Source source = shared_.source.load(std::memory_order_relaxed);  // value only
        return SLUICE_LIKELY(source == Source::counter) ||
               (source == Source::undecided && decide());
    }

private:
    enum class Source : unsigned char { undecided, counter, systemClock };

#if defined(__x86_64__)
    static constexpr bool counterIsFast = true;
    static constexpr const char* kernelsName = "tsc";

    static Stamp readCounterLast() noexcept {
        std::uint32_t low = 0;
        std::uint32_t high = 0;
        __asm__ __volatile__("lfence\n\trdtsc" : "=a"(low), "=d"(high)::"memory");
        return Stamp{high} << 32U | low;
    }
    static Stamp readCounterFirst() noexcept {
        std::uint32_t low = 0;
        std::uint32_t high = 0;
        __asm__ __volatile__("rdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
        return Stamp{high} << 32U | low;
    }
    /// Returns true if the counter has the same rate in all power states of the processor.
    static bool hasSteadyCounter() noexcept {
        unsigned a = 0;
        unsigned b = 0;
        unsigned c = 0;
        unsigned d = 0;
        return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & 1U << 8U) != 0;
    }
#elif defined(__aarch64__)
    static constexpr bool counterIsFast = false;
    static constexpr const char* kernelsName = "arch_sys_counter";

    static Stamp readCounterLast() noexcept {
        Stamp ticks = 0;
        __asm__ __volatile__("dsb ish\n\tisb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
        return ticks;
    }
    static Stamp readCounterFirst() noexcept {
        Stamp ticks = 0;
        Stamp zero = 0;
        // A load depends on the counter's value, so the caller's fence also orders the reading.
        __asm__ __volatile__("isb\n\tmrs %0, cntvct_el0\n\t"
                             "eor %1, %0, %0\n\tadd %1, sp, %1\n\tldr xzr, [%1]"
                             : "=r"(ticks), "=&r"(zero)::"memory");
        return ticks;
    }
    static bool hasSteadyCounter() noexcept { return true; }
#else
    static constexpr bool counterIsFast = false;
    static constexpr const char* kernelsName = "";

    static Stamp readCounterLast() noexcept { return 0; }
    static Stamp readCounterFirst() noexcept { return 0; }
    static bool hasSteadyCounter() noexcept { return false; }
#endif

    static Stamp readSystemClock() noexcept {
        return static_cast<Stamp>(std::chrono::steady_clock::now().time_since_epoch() /
                                  std::chrono::nanoseconds(1));
    }

    [[gnu::cold, gnu::noinline]] static bool decide() noexcept {
        Source source = Source::undecided;
        const Source found =
            hasSteadyCounter() && kernelUsesCounter() ? Source::counter : Source::systemClock;
        if (shared_.source.compare_exchange_strong(source, found, std::memory_order_relaxed)) {
            source = found;  // on failure, `source` is another thread's choice
        }
        return source == Source::counter;
    }

    /// Returns true if the kernel keeps time by the counter. Then all cores' counters agree.
    static bool kernelUsesCounter() noexcept {
#if defined(__linux__)
        const int savedErrno = errno;
        char name[32] = {};
        const int file = ::open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                                O_RDONLY | O_CLOEXEC);
        const ssize_t length = file < 0 ? -1 : ::read(file, name, sizeof name - 1);
        if (file >= 0) {
            ::close(file);
        }
        errno = savedErrno;
        const std::size_t wanted = std::strlen(kernelsName);
        return length == static_cast<ssize_t>(wanted + 1) &&
               std::memcmp(name, kernelsName, wanted) == 0 && name[wanted] == '\n';
#else
        return false;
#endif
    }

    // `source` is alone on its cache lines, because each log call reads `source`.
    struct alignas(2 * cacheLineSize) Shared {
        std::atomic<Source> source;
    };

    // shared_ is initialised at compile time, so that constructors of static objects may log.
    inline static Shared shared_{{Source::undecided}};
};

}  // namespace log::detail
}  // namespace sluice
