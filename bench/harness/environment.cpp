#include "harness/environment.hpp"

#include "harness/clock.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>

namespace sluice::bench {

namespace {

std::string firstLine(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

// The value of the first "name : value" line of /proc/cpuinfo, or nothing.
std::string cpuInfo(const std::string& name) {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(':');
        if (line.compare(0, name.size(), name) == 0 && colon != std::string::npos) {
            return colon + 2 < line.size() ? line.substr(colon + 2) : std::string{};
        }
    }
    return {};
}

std::string kernelVersion() {
    utsname name{};
    if (uname(&name) != 0) {
        return {};
    }
    return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

std::string compilerVersion() {
#if defined(__clang__)
    return "clang " __clang_version__;
#elif defined(__GNUC__)
    return "g++ " __VERSION__;
#else
    return {};
#endif
}

std::string buildFlags() {
#if defined(SLUICE_BENCH_FLAGS)
    return SLUICE_BENCH_FLAGS;
#else
    return {};
#endif
}

std::string utcTime() {
    const std::time_t seconds = std::time(nullptr);
    std::tm parts{};
    std::array<char, 32> text{};
    if (gmtime_r(&seconds, &parts) == nullptr) {
        return {};
    }
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

double clockCost() {
    constexpr int calls = 10000;
    std::array<double, 9> batches{};
    for (double& batch : batches) {
        const Nanoseconds start = now();
        for (int i = 0; i < calls; ++i) {
            (void)now();
        }
        batch = double(now() - start) / calls;
    }
    std::nth_element(batches.begin(), batches.begin() + 4, batches.end());
    return batches[4];
}

}  // namespace

Environment describeEnvironment(const std::vector<int>& cpus) {
    Environment environment;
    environment.cpu = cpuInfo("model name");
    environment.cpus = cpus;
    environment.governor = firstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    environment.clockSource =
        firstLine("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    environment.virtualMachine = cpuInfo("flags").find(" hypervisor") != std::string::npos;
    environment.kernel = kernelVersion();
    environment.compiler = compilerVersion();
    environment.flags = buildFlags();
#if !defined(NDEBUG)
    environment.assertions = true;
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    environment.sanitized = true;
#endif
    environment.startedAt = utcTime();
    environment.clockNs = clockCost();
    return environment;
}

}  // namespace sluice::bench
