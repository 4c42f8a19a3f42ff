#pragma once

/// \file
/// The functions of functions.hpp.

#include <sluice/log/backend_options.hpp>
#include <sluice/log/default_backend.hpp>
#include <sluice/log/detail/compiled/default_backend.hpp>
#include <sluice/log/detail/compiled/inline.hpp>
#include <sluice/log/functions.hpp>
#include <sluice/log/pattern_formatter.hpp>

#include <spdlog/common.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

// Not inline in the compiled library, which includes each of these headers once.
// NOLINTBEGIN(misc-definitions-in-headers)
namespace sluice::log {

SLUICE_LOG_INLINE void init(const backend_options& options) {
    set_default_backend(std::make_shared<backend>(options));
}

SLUICE_LOG_INLINE void init(std::size_t queue_size, std::size_t thread_count,
                            std::function<void()> on_thread_start,
                            std::function<void()> on_thread_stop) {
    if (thread_count == 0 || thread_count > 1000) {
        spdlog::throw_spdlog_ex("sluice::log::init(): thread_count: " +
                                std::to_string(thread_count) + ", valid range is 1-1000");
    }
    backend_options options;
    options.queue_size = queue_size;
    options.on_thread_start = std::move(on_thread_start);
    options.on_thread_stop = std::move(on_thread_stop);
    init(options);
}

SLUICE_LOG_INLINE void set_pattern(const std::string& pattern, spdlog::pattern_time_type type) {
    spdlog::set_formatter(std::make_unique<pattern_formatter>(pattern, type));
}

SLUICE_LOG_INLINE bool flush_wait(std::chrono::nanoseconds timeout) {
    const std::shared_ptr<backend> current = detail::DefaultBackend::instance().peek();
    return !current || current->flush_wait(timeout);
}

SLUICE_LOG_INLINE bool shutdown(std::chrono::nanoseconds timeout) {
    const std::shared_ptr<backend> last = detail::DefaultBackend::instance().exchange(nullptr);
    spdlog::shutdown();
    return !last || last->shutdown(timeout);
}

}  // namespace sluice::log
// NOLINTEND(misc-definitions-in-headers)
