#include <sluice/log.hpp>

#include <spdlog/sinks/stdout_color_sinks.h>

/// Another thread logs a line, if spdlog is installed.
int main() {
    const auto logger = spdlog::stdout_color_mt<sluice::log::async_factory>("carried");
    logger->info("by a back end");
    return sluice::log::shutdown() ? 0 : 1;
}
