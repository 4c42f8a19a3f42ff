// A process that the tests kill, or that ends by itself.
//
//     bridge_peer core URL               exports positions 0, 1, 2, ...
//     bridge_peer send URL FILE FOLDER   sends positions durably; writes each accepted number
//     bridge_peer receive URL FILE       imports positions durably; writes each handled number
//
// SIGUSR1 sets the clock of the process back by an hour.
#include "bridged_bus.hpp"

#include <sluice/base/send_result.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

using namespace sluice;
using namespace std::chrono_literals;

namespace {
std::atomic<bool> isClockSetBack{false};
}  // namespace

// Replaces the function of the system, also in the standard library and in libnats.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
    const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
    if (clock == CLOCK_REALTIME && isClockSetBack.load()) {
        time->tv_sec -= 3600;
    }
    return result;
}

namespace {

/// Appends numbers to a file. A number that was written stays in the file if the process is killed.
class NumberFile {
public:
    explicit NumberFile(const char* path)
        : file_(open(path, O_WRONLY | O_APPEND | O_CREAT, 0600)) {}
    void add(int number) const {
        const std::string line = std::to_string(number) + "\n";
        if (write(file_, line.data(), line.size()) < 0) {
            std::perror("write");
        }
    }

private:
    int file_;
};

nats::NatsOptions optionsFor(const char* url, const char* name) {
    nats::NatsOptions options;
    options.url = url;
    options.durable.stream = "fleet";
    options.durable.name = name;
    options.durable.redeliverAfter = 1s;
    return options;
}

const nats::NatsRoute route{"position", 1, nats::Profile::durable, true};

int exportForEver(const char* url) {
    const auto bus = std::make_unique<test::TestBus>();
    nats::NatsOptions options;
    options.url = url;
    test::TestBridge bridge(*bus, options);
    bridge.exportType<test::Position>({"position"});
    for (int i = 0;; ++i) {
        if (bus->publish(test::Position{i, 0.0}, Priority::high) != SendResult::ok) {
            return 1;
        }
        (void)bus->process();
        // Slow enough for the small bus of the receiver.
        std::this_thread::sleep_for(500us);
    }
}

int sendForEver(const char* url, const char* path, const char* folder) {
    const NumberFile accepted(path);
    const auto bus = std::make_unique<test::TestBus>();
    nats::NatsOptions options = optionsFor(url, "sender");
    options.durable.outboxFolder = folder;
    test::TestBridge bridge(*bus, options);
    auto outlet = bridge.outlet<test::Position>(route);
    // Each start has numbers of its own.
    for (int i = static_cast<int>(getpid() % 1'000'000) * 1000;; ++i) {
        while (outlet.send({i, 0.0}, Priority::high) != nats::OutletResult::ok) {
            std::this_thread::sleep_for(1ms);
        }
        accepted.add(i);
    }
}

int receiveForEver(const char* url, const char* path) {
    const NumberFile handled(path);
    const auto bus = std::make_unique<test::TestBus>();
    const Subscription handler = bus->subscribe<test::Position>(
        [&](const test::Position& position) { handled.add(position.robot); });
    test::TestBridge bridge(*bus, optionsFor(url, "receiver"));
    bridge.importType<test::Position>(route);
    while (true) {
        (void)bus->waitFor(10ms);
        (void)bus->process();
    }
}

}  // namespace

int main(int argc, char** argv) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)std::signal(SIGUSR1, [](int) { isClockSetBack.store(true); });
    const std::string mode = argc > 2 ? argv[1] : "";
    try {
        if (mode == "core") {
            return exportForEver(argv[2]);
        }
        if (mode == "send" && argc > 4) {
            return sendForEver(argv[2], argv[3], argv[4]);
        }
        if (mode == "receive" && argc > 3) {
            return receiveForEver(argv[2], argv[3]);
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 2;
}
