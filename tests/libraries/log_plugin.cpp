#include <sluice/log/deferred.hpp>

#include <memory>

namespace {

std::shared_ptr<spdlog::logger> logger;

struct Farewell {
    ~Farewell() { SLUICE_LOG_INFO(logger, "the plugin ends {}", 2); }
};
const Farewell farewell;

}  // namespace

extern "C" [[gnu::visibility("default")]] void
logInPlugin(const std::shared_ptr<spdlog::logger>& through) {
    logger = through;
    SLUICE_LOG_INFO(logger, "the plugin begins {}", 1);
}
