// fleet_host NUMBER URL FOLDER: samples this machine and sends each reading to the fleet, until
// SIGTERM. Then it sends its last reading, and waits until it has seen all readings of the other
// hosts.
#include "fleet.hpp"
#include "proc_file.hpp"
#include "proc_text.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace fleet;
using namespace std::chrono_literals;

std::atomic<bool> isAskedToEnd{false};

/// Returns the share of time that the processors were busy in the last half second or more.
double busyPercent() {
    static hostwatch::ProcFile file("/proc/stat");
    static hostwatch::CpuCounters before;
    static std::chrono::steady_clock::time_point next;
    static double percent = 0;
    std::vector<hostwatch::CpuCounters> counters;
    // The kernel counts in steps of some milliseconds, so a short time would be all busy or all
    // idle.
    if (std::chrono::steady_clock::now() < next || file.read() ||
        hostwatch::parseCpu(file.text(), counters) || counters.empty()) {
        return percent;
    }
    const hostwatch::CpuCounters now = counters.front();
    const auto busy = static_cast<double>(now.busy - before.busy);
    const auto all = busy + static_cast<double>(now.idle - before.idle);
    percent = all > 0 ? 100 * busy / all : 0;
    before = now;
    next = std::chrono::steady_clock::now() + 500ms;
    return percent;
}

double usedMebibytes() {
    static hostwatch::ProcFile file("/proc/meminfo");
    hostwatch::MemoryState memory;
    if (file.read() || hostwatch::parseMemory(file.text(), memory)) {
        return 0;
    }
    return static_cast<double>(memory.total - memory.available) / (1024 * 1024);
}

bool hasSeenTheOthers(const Ledger& ledger, std::uint32_t self) {
    for (std::uint32_t host = 0; host < hosts; ++host) {
        if (host != self && !ledger.isComplete(host)) {
            return false;
        }
    }
    return true;
}

int run(std::uint32_t self, const std::string& url, const std::string& folder) {
    const std::string name = "host-" + std::to_string(self);
    const auto bus = std::make_unique<FleetBus>();
    Ledger ledger(folder + "/" + name + ".seen");
    const sluice::Subscription handler =
        bus->subscribe<Load>([&](const Load& load) { ledger.note(load); });
    auto options = optionsFor(url, name);
    options.durable.outboxFolder = folder + "/" + name + ".outbox";
    const auto bridge = connect(*bus, options);
    auto outlet = bridge->outlet<Load>(route);

    NextNumber next(folder + "/" + name + ".next");
    bool isLastSent = false;
    while (!isLastSent || !hasSeenTheOthers(ledger, self)) {
        if (!isLastSent) {
            const bool isLast = isAskedToEnd.load();
            const Load load{self, next.get(), busyPercent(), usedMebibytes(), isLast};
            if (outlet.send(load, sluice::Priority::high) == sluice::nats::OutletResult::ok) {
                next.advance();
                isLastSent = isLast;
            }
        }
        (void)bus->waitFor(20ms);
        (void)bus->process();
    }
    return bridge->close(10s) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    (void)std::signal(SIGTERM, [](int) { isAskedToEnd.store(true); });
    sigset_t none;
    (void)sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, nullptr);  // the fleet has blocked SIGTERM
    if (argc != 4) {
        std::fputs("fleet_host NUMBER URL FOLDER\n", stderr);
        return 2;
    }
    try {
        return run(static_cast<std::uint32_t>(std::stoul(argv[1])), argv[2], argv[3]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "fleet_host %s: %s\n", argv[1], error.what());
        return 1;
    }
}
