#include <sluice/log.hpp>

#include <spdlog/sinks/stdout_sinks.h>

/// Where spdlog is installed: a line from another thread.
int main() {
    const auto logger = sluice::log::create_async<spdlog::sinks::stdout_sink_mt>("carried");
    logger->info("by a back end");
    return sluice::log::shutdown() ? 0 : 1;
}
