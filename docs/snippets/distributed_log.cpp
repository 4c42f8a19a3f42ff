// The section "Metrics and log" of docs/guide/distributed.md. A test of the bridge calls the
// function with its server and a file.
#include <sluice/bridge/nats/nats_bridge.hpp>
#include <sluice/log.hpp>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace {

struct Tick {
    int number = 0;
};

struct FleetTraits : sluice::FullBusTraits {
    static constexpr bool origins = true;
};

struct LogObserver final : sluice::nats::BridgeObserver {
    explicit LogObserver(const std::string& file)
        : log(spdlog::basic_logger_mt<sluice::log::async_factory>("bridge", file)) {}

    void changed(const char* link, sluice::nats::LinkState state) noexcept override {
        log->warn("the link '{}' is {}", link, toString(state));
    }
    void trouble(const char* line) noexcept override { log->warn("{}", line); }

    std::shared_ptr<spdlog::logger> log;
};

}  // namespace

/// Returns the metrics of a bridge. Its observer has written into the file.
std::string runLogGuide(const std::string& url, const std::string& file) {
    static sluice::Bus<sluice::Messages<Tick>, FleetTraits> bus;
    LogObserver observer(file);
    sluice::nats::NatsOptions options;
    options.url = url;
    options.observer = &observer;
    sluice::nats::NatsBridge bridge(bus, options);

    std::string page;
    bridge.statistics().forEach([&](const char* name, std::uint64_t value) {
        page += "nats_" + std::string(name) + " " + std::to_string(value) + "\n";
    });

    (void)bridge.close(std::chrono::seconds(5));
    (void)sluice::log::flush_wait();
    return page;
}
