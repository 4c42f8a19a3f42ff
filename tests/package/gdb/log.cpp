#include <sluice/log.hpp>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

/// gdb stops here and prints the lines that are not written.
[[gnu::noinline]] void stopHere() {
    asm volatile("");
}

/// Stops while the back end writes the first record.
class StoppingSink final : public spdlog::sinks::base_sink<std::mutex> {
    void sink_it_(const spdlog::details::log_msg& /*message*/) override { stopHere(); }
    void flush_() override {}
};

std::shared_ptr<sluice::log::backend> backendOf(const char* name) {
    sluice::log::backend_options options;
    options.manual = true;
    options.queue_bytes = std::size_t{1} << 12U;
    options.thread_name = name;
    return std::make_shared<sluice::log::backend>(options);
}

int main(int /*argc*/, char** arguments) {
    using sluice::log::async_logger;
    using sluice::log::kv;
    const auto first = backendOf("first");
    const auto sink = std::make_shared<sluice::log::file_sink_mt>(arguments[1], true);
    const auto core = std::make_shared<async_logger>("core", sink, first);
    core->info("written");
    first->poll();
    spdlog::logger("direct", sink).warn("kept by the sink");
    core->warn("{} of {}", 7, 8);
    SLUICE_LOG_ERROR(core, "order {}", 17);
    SPDLOG_LOGGER_CRITICAL(core, "with a place");
    {
        const sluice::log::scoped_context context(kv("request", 9));
        core->info("fields");
        SLUICE_LOG_INFO(core, "own {}", 1, kv("user", "ann"), kv("ms", 1.5));
    }
    core->info(std::string(5000, 'x') + " end");
    async_logger("ended", sink, first).info("of an ended logger");

    // The back end copies the first record of each lane, because the logger may evict it.
    const auto second = backendOf("second");
    async_logger copied("copied", std::make_shared<StoppingSink>(), second,
                        sluice::Overflow::dropOldest);
    copied.info("being written");
    copied.info("in the lane");
    std::thread([&copied] {
        copied.info("a copy");
        copied.info("behind the copy");
    }).join();
    second->poll();
    return 0;
}
