#include "harness/usage.hpp"

#include <sys/resource.h>

namespace sluice::bench {

Usage& Usage::operator-=(const Usage& other) noexcept {
    voluntarySwitches -= other.voluntarySwitches;
    involuntarySwitches -= other.involuntarySwitches;
    minorFaults -= other.minorFaults;
    majorFaults -= other.majorFaults;
    return *this;
}

Usage usageSoFar() noexcept {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return {std::uint64_t(usage.ru_nvcsw), std::uint64_t(usage.ru_nivcsw),
            std::uint64_t(usage.ru_minflt), std::uint64_t(usage.ru_majflt)};
}

}  // namespace sluice::bench
