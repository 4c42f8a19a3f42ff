#include <sluice/log.hpp>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

int main() {
    const auto log = spdlog::basic_logger_mt<sluice::log::async_factory>("app", "app.log");
    log->info("{} of {} sensors answer", 7, 8);  // another thread writes it
    return sluice::log::flush_wait() ? 0 : 1;    // everything logged before is in the file
}
