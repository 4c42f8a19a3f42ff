#include <sluice/log/functions.hpp>

#if CASE == 0
void aPointerToALogger() {
    static_cast<void>(sluice::log::make_async(spdlog::default_logger()));
}
#elif CASE == 1
// EXPECT: pass the std::shared_ptr
void theLoggerItself() {
    sluice::log::make_async(*spdlog::default_logger());
}
#endif
