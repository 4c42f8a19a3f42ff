#pragma once

/// \file
/// Functions with the names that spdlog's asynchronous mode has.
///
/// | spdlog | here |
/// |---|---|
/// | init_thread_pool(size, threads, ...) | init(size, threads, ...) or init(options) |
/// | create_async<Sink>(name, ...) | create_async<Sink>(name, ...) |
/// | create_async_nb<Sink>(name, ...) | create_async_nb<Sink>(name, ...) |
/// | thread_pool() | default_backend() |
/// | set_pattern() | set_pattern(), or spdlog's own |
/// | shutdown() | shutdown(), or spdlog's own |
///
///     sluice::log::init(8192, 1);
///     auto log = sluice::log::create_async<spdlog::sinks::basic_file_sink_mt>("app", "app.log");
///     log->info("another thread writes this");
///     sluice::log::shutdown();
///
/// All functions use the default back end. Any thread may call them.
///
/// Tests: tests/unit/log/functions_test.cpp.

#include <sluice/log/async_factory.hpp>
#include <sluice/log/backend_options.hpp>
#include <sluice/log/default_backend.hpp>

#include <spdlog/spdlog.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace sluice::log {

/// Starts a default back end with these options. The old one ends when its last owner releases it.
/// Throws spdlog_ex if an option is out of range.
void init(const backend_options& options);

/// The same as spdlog's init_thread_pool. `queue_size` is the room of each logging thread, in
/// records. `thread_count` is 1 to 1000, as in spdlog, but one thread writes for any number:
/// several threads could not keep the order.
void init(std::size_t queue_size, std::size_t thread_count,
          std::function<void()> on_thread_start = {}, std::function<void()> on_thread_stop = {});

/// Makes a logger and registers it. If the lane of a thread is full, its log calls wait.
template <class Sink, class... Args>
std::shared_ptr<spdlog::logger> create_async(std::string name, Args&&... args) {
    return async_factory::create<Sink>(std::move(name), std::forward<Args>(args)...);
}

/// Makes a logger and registers it. If the lane of a thread is full, its oldest records are
/// discarded.
template <class Sink, class... Args>
std::shared_ptr<spdlog::logger> create_async_nb(std::string name, Args&&... args) {
    return async_factory_nonblock::create<Sink>(std::move(name), std::forward<Args>(args)...);
}

/// The same as spdlog::set_pattern(), for all loggers of spdlog's registry and for later ones. The
/// lines are the same, and Sluice's formatter takes less time for them.
void set_pattern(const std::string& pattern,
                 spdlog::pattern_time_type type = spdlog::pattern_time_type::local);

/// The same as backend::flush_wait(). True if there is no default back end.
bool flush_wait(std::chrono::nanoseconds timeout = no_limit);

/// Ends spdlog, whose registry then releases all loggers, and the default back end. Waits until all
/// records are written and the sinks are flushed. False if `timeout` passed first. A later logger
/// starts a new back end. spdlog::shutdown() does the same, with the option `drain_timeout` as its
/// limit.
bool shutdown(std::chrono::nanoseconds timeout = no_limit);

}  // namespace sluice::log

// ---- Functions that sluice::log_compiled compiles once

#if defined(SLUICE_LOG_INLINE)

#include <sluice/log/pattern_formatter.hpp>

#include <spdlog/common.h>

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

#endif
