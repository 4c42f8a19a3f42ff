#include "readers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace hostwatch {
namespace {

using namespace std::chrono_literals;

struct Settings {
    const char* file;
    Clock::duration period;
};

// The kernel counts processor time in steps of 10 ms: at 5 Hz one step is 5 %.
constexpr std::array<Settings, sourceCount> settings{
    {{"stat", 200ms}, {"meminfo", 100ms}, {"diskstats", 250ms}, {"net/dev", 125ms}}};

constexpr double percent = 100;

/// How far a counter has come; nothing when it ran backwards.
std::optional<double> advance(std::uint64_t before, std::uint64_t now) noexcept {
    return now >= before ? std::optional<double>(static_cast<double>(now - before)) : std::nullopt;
}

bool sameEntry(const CpuCounters& a, const CpuCounters& b) noexcept {
    return a.core == b.core;
}
template <class Counters>
bool sameEntry(const Counters& a, const Counters& b) noexcept {
    return a.name == b.name;
}

/// Compares each entry of a reading with the same entry of the reading before.
template <class Counters, class Sample>
class RateReader final : public Reader<Sample> {
public:
    using Parse = Problem (*)(std::string_view, std::vector<Counters>&);
    using Compare = std::optional<Sample> (*)(const Counters& before, const Counters& now,
                                              double seconds);

    RateReader(Parse parse, Compare compare) noexcept : parse_(parse), compare_(compare) {}

    Problem read(std::string_view text, Clock::time_point at, std::vector<Sample>& out) override {
        now_.clear();
        Problem problem = parse_(text, now_);
        const double seconds = std::chrono::duration<double>(at - beforeAt_).count();
        for (const Counters& now : now_) {
            const auto before = std::find_if(before_.begin(), before_.end(),
                                             [&](const auto& old) { return sameEntry(old, now); });
            if (before == before_.end() || seconds <= 0) {
                continue;
            }
            if (const std::optional<Sample> measured = compare_(*before, now, seconds)) {
                out.push_back(*measured);
            }
        }
        if (!now_.empty()) {
            std::swap(before_, now_);
            beforeAt_ = at;
        }
        return problem;
    }

private:
    Parse parse_;
    Compare compare_;
    std::vector<Counters> before_;
    std::vector<Counters> now_;
    Clock::time_point beforeAt_;
};

std::optional<CpuSample> compareCpu(const CpuCounters& before, const CpuCounters& now, double) {
    const auto busy = advance(before.busy, now.busy);
    // The kernel's account of waiting for disks may run backwards a little; call that no time.
    const double idle = advance(before.idle, now.idle).value_or(0);
    if (now.core == CpuCounters::allCores || !busy || *busy + idle <= 0) {
        return std::nullopt;
    }
    return CpuSample{now.core, percent * *busy / (*busy + idle)};
}

std::optional<DiskSample> compareDisk(const DiskCounters& before, const DiskCounters& now,
                                      double seconds) {
    const auto read = advance(before.sectorsRead, now.sectorsRead);
    const auto written = advance(before.sectorsWritten, now.sectorsWritten);
    const auto busy = advance(before.busyMilliseconds, now.busyMilliseconds);
    if (!read || !written || !busy) {
        return std::nullopt;
    }
    const double busySeconds = *busy / 1000;
    return DiskSample{now.name, *read * DiskCounters::bytesPerSector / seconds,
                      *written * DiskCounters::bytesPerSector / seconds,
                      std::min(percent, percent * busySeconds / seconds)};
}

std::optional<NetworkSample> compareNetwork(const NetworkCounters& before,
                                            const NetworkCounters& now, double seconds) {
    const auto received = advance(before.bytesReceived, now.bytesReceived);
    const auto sent = advance(before.bytesSent, now.bytesSent);
    if (!received || !sent) {
        return std::nullopt;
    }
    return NetworkSample{now.name, *received / seconds, *sent / seconds};
}

/// Memory needs no reading before.
class MemoryReader final : public Reader<MemorySample> {
public:
    Problem read(std::string_view text, Clock::time_point,
                 std::vector<MemorySample>& out) override {
        MemoryState state;
        Problem problem = parseMemory(text, state);
        if (!problem) {
            out.push_back(MemorySample{state.total, state.total - state.available, state.cached,
                                       state.swapTotal, state.swapTotal - state.swapFree});
        }
        return problem;
    }
};

}  // namespace

const char* fileOf(Source source) noexcept {
    return settings[indexOf(source)].file;
}

Clock::duration periodOf(Source source) noexcept {
    return settings[indexOf(source)].period;
}

template <>
std::unique_ptr<Reader<CpuSample>> makeReader() {
    return std::make_unique<RateReader<CpuCounters, CpuSample>>(parseCpu, compareCpu);
}
template <>
std::unique_ptr<Reader<MemorySample>> makeReader() {
    return std::make_unique<MemoryReader>();
}
template <>
std::unique_ptr<Reader<DiskSample>> makeReader() {
    return std::make_unique<RateReader<DiskCounters, DiskSample>>(parseDisks, compareDisk);
}
template <>
std::unique_ptr<Reader<NetworkSample>> makeReader() {
    return std::make_unique<RateReader<NetworkCounters, NetworkSample>>(parseNetwork,
                                                                        compareNetwork);
}

}  // namespace hostwatch
