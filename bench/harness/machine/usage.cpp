#include "harness/machine/usage.hpp"

#include <sys/resource.h>

#include <fstream>
#include <string>

namespace sluice::bench {

namespace {

std::optional<double> peakMemoryMib() {
    std::ifstream file("/proc/self/status");
    for (std::string word; file >> word;) {
        double kib = 0;
        if (word == "VmHWM:" && file >> kib) {
            return kib / 1024;
        }
    }
    return std::nullopt;
}

}  // namespace

Usage& Usage::operator-=(const Usage& other) noexcept {
    voluntarySwitches -= other.voluntarySwitches;
    involuntarySwitches -= other.involuntarySwitches;
    minorFaults -= other.minorFaults;
    majorFaults -= other.majorFaults;
    return *this;
}

void beginPeak() {
    // Sets the kernel's high-water mark back to the memory that the process holds now.
    std::ofstream("/proc/self/clear_refs") << "5";
}

Usage usageSoFar() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return {std::uint64_t(usage.ru_nvcsw), std::uint64_t(usage.ru_nivcsw),
            std::uint64_t(usage.ru_minflt), std::uint64_t(usage.ru_majflt), peakMemoryMib()};
}

}  // namespace sluice::bench
