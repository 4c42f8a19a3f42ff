// bridge_peer URL: exports positions 0, 1, 2, ... until it is killed.
#include "bridged_bus.hpp"

#include <sluice/bus/publish_result.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <thread>

#include <sys/prctl.h>

#include <csignal>

using namespace sluice;

int main(int argc, char** argv) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (argc != 2) {
        return 2;
    }
    try {
        const auto bus = std::make_unique<test::TestBus>();
        nats::NatsOptions options;
        options.url = argv[1];
        test::TestBridge bridge(*bus, options);
        bridge.exportType<test::Position>({"position"});
        for (int i = 0;; ++i) {
            if (bus->publish(test::Position{i, 0.0}, Priority::high) != PublishResult::ok) {
                return 1;
            }
            (void)bus->process();
            // A pace that the small bus of the receiver keeps up with.
            std::this_thread::sleep_for(std::chrono::microseconds(500));
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
