#pragma once

#include <sluice/inspect/snapshot.hpp>

#if defined(__linux__)
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>
#endif

namespace sluice {

/// Reads the processor time and the state of each thread of the program, on Linux:
///
///     const auto watch = inspector.watch("threads", sluice::readThreads);
///
/// A thread is named by its name and its number: `laser 4711`.
inline void readThreads([[maybe_unused]] ObjectReadings& out) {
#if defined(__linux__)
    const auto second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string all;  // number (name) state and numbers; a name may contain anything
        std::getline(std::ifstream(task.path() / "stat"), all, '\0');
        const std::size_t end = std::min(all.rfind(')'), all.size());
        char state = 0;
        unsigned long long user = 0, system = 0;
        if (std::sscanf(&all[end], ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu", &state,
                        &user, &system) == 3) {  // else the thread has ended
            const std::string name = all.substr(all.find('(') + 1, end - all.find('(') - 1) + " " +
                                     task.path().filename().string();
            out.counter("sluice_thread_cpu_seconds", "Processor time of the thread.",
                        (user + system) * (1'000'000'000 / second), name);
            out.gauge("sluice_thread_state",
                      "1, with the state: R runs, S sleeps, D waits for I/O.", 1, name, {},
                      std::string(1, state));
        }
    }
#endif
}

}  // namespace sluice
