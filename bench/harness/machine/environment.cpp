#include "harness/machine/environment.hpp"

#include "harness/machine/affinity.hpp"
#include "harness/machine/clock.hpp"
#include "harness/machine/perf_counters.hpp"
#include "harness/machine/system_file.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>

namespace sluice::bench {

namespace {

// g++ and clang++ tell in different ways that a sanitizer is on.
#if defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

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

double clockStep() {
    constexpr int steps = 1000;
    Nanoseconds smallest = 0;
    for (int i = 0; i < steps; ++i) {
        const Nanoseconds start = now();
        Nanoseconds next = now();
        while (next == start) {
            next = now();
        }
        smallest = i == 0 ? next - start : std::min(smallest, next - start);
    }
    return double(smallest);
}

// FNV-1a over the program's own file, which identifies the build.
std::string programHash() {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    if (!file) {
        return {};
    }
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (std::istreambuf_iterator<char> byte(file), end; byte != end; ++byte) {
        hash = (hash ^ static_cast<unsigned char>(*byte)) * 0x100000001B3U;
    }
    std::array<char, 17> text{};
    const int length =
        std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
    return {text.data(), std::size_t(length)};
}

double numberIn(const std::string& text) {
    return text.empty() ? -1 : std::strtod(text.c_str(), nullptr);
}

// Returns "madvise" for "always [madvise] never".
std::string chosen(const std::string& line) {
    const std::size_t open = line.find('[');
    const std::size_t close = line.find(']');
    return open == std::string::npos || close == std::string::npos
               ? line
               : line.substr(open + 1, close - open - 1);
}

// Intel's driver tells whether turbo is off. All others tell whether it is on.
std::string turbo() {
    const std::string noTurbo = firstLine("/sys/devices/system/cpu/intel_pstate/no_turbo");
    if (!noTurbo.empty()) {
        return noTurbo == "1" ? "off" : "on";
    }
    const std::string boost = firstLine("/sys/devices/system/cpu/cpufreq/boost");
    return boost.empty() ? boost : boost == "1" ? "on" : "off";
}

std::string aslr() {
    const std::string level = firstLine("/proc/sys/kernel/randomize_va_space");
    return level.empty() ? level : level == "0" ? "off" : "on";
}

double memoryMib() {
    constexpr double mebi = 1024.0 * 1024.0;
    return double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE)) / mebi;
}

void describeCpus(Environment& environment, const std::vector<int>& cpus) {
    environment.cpu = cpuInfo("model name");
    environment.cpus = cpus;
    std::sort(environment.cpus.begin(), environment.cpus.end());
    environment.mhz = numberIn(cpuInfo("cpu MHz"));
    environment.virtualMachine = cpuInfo("flags").find(" hypervisor") != std::string::npos;
    environment.governor = firstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    environment.turbo = turbo();
    environment.topology = placesOf(cpus);
    environment.l3Kib = cpus.empty() ? -1 : l3Size(cpus.front());
}

void measureClock(Environment& environment, const std::vector<int>& cpus) {
    for (const int cpu : cpus) {
        if (pinThisThread(cpu)) {
            environment.clockCosts.push_back({cpu, clockCost()});
            environment.clockNs = std::max(environment.clockNs, environment.clockCosts.back().ns);
        }
    }
    environment.clockStepNs = clockStep();
}

}  // namespace

Environment describeEnvironment(const std::vector<int>& cpus, const BuildRecord& build) {
    Environment environment;
    describeCpus(environment, cpus);
    environment.memoryMib = memoryMib();
    environment.loadAverage = numberIn(firstLine("/proc/loadavg"));
    environment.aslr = aslr();
    environment.transparentHugePages =
        chosen(firstLine("/sys/kernel/mm/transparent_hugepage/enabled"));
    environment.clockSource =
        firstLine("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    environment.kernel = kernelVersion();
    environment.compiler = compilerVersion();
    environment.flagSets = build.flagSets;
    environment.gitCommit = build.gitCommit;
    environment.gitDirty = build.gitDirty;
    environment.programHash = programHash();
#if !defined(NDEBUG)
    environment.assertions = true;
#endif
    environment.sanitized = sanitized;
    environment.startedAt = utcTime();
    environment.logStorage = storageOfLogs();
    environment.noPerfCounters = PerfCounters().unavailableBecause();
    measureClock(environment, cpus);
    return environment;
}

}  // namespace sluice::bench
