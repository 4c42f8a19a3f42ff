#include "harness/machine/perf_counters.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace sluice::bench {

namespace {

struct Event {
    std::uint32_t type;
    std::uint64_t config;
};

// In the order of PerfCounts.
constexpr std::array<Event, 5> events = {{{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
                                          {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
                                          {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
                                          {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
                                          {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS}}};

int open(const Event& event) noexcept {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = event.type;
    attributes.config = event.config;
    attributes.inherit = 1;
    // The kernel counts migrations.
    attributes.exclude_kernel = event.type == PERF_TYPE_HARDWARE ? 1 : 0;
    attributes.exclude_hv = attributes.exclude_kernel;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return int(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

PerfCounters::PerfCounters() {
    for (std::size_t i = 0; i < events.size(); ++i) {
        counters_[i].file = open(events[i]);
        if (counters_[i].file < 0 && events[i].type == PERF_TYPE_HARDWARE && because_.empty()) {
            because_ = "perf_event_open: " + std::generic_category().message(errno);
        }
    }
}

PerfCounters::~PerfCounters() {
    for (const Counter& counter : counters_) {
        if (counter.file >= 0) {
            close(counter.file);
        }
    }
}

std::optional<double> PerfCounters::advance(Counter& counter) noexcept {
    struct {
        std::uint64_t value;
        std::uint64_t enabled;
        std::uint64_t running;
    } now{};
    if (counter.file < 0 || read(counter.file, &now, sizeof now) != ssize_t{sizeof now}) {
        return std::nullopt;
    }
    const std::uint64_t passed = now.value - counter.last;
    counter.last = now.value;
    return now.running == now.enabled ? std::optional<double>(double(passed)) : std::nullopt;
}

PerfCounts PerfCounters::take() noexcept {
    return {advance(counters_[0]), advance(counters_[1]), advance(counters_[2]),
            advance(counters_[3]), advance(counters_[4])};
}

}  // namespace sluice::bench
