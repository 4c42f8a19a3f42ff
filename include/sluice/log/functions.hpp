#pragma once

/// \file
/// The functions that a program which used spdlog's asynchronous mode looks for.
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
/// All are about the default back end. Any thread may call them.
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

/// Begins a default back end with these options. The one before ends, when nobody else holds it.
void init(const backend_options& options);

/// As spdlog's init_thread_pool. The size is the room of each thread, in messages. Whatever the
/// number of threads, from 1 to 1000 as in spdlog, one writes: several could not keep the order.
void init(std::size_t queue_size, std::size_t thread_count,
          std::function<void()> on_thread_start = {}, std::function<void()> on_thread_stop = {});

/// Makes a logger and registers it; callers wait for room.
template <class Sink, class... Args>
std::shared_ptr<spdlog::logger> create_async(std::string name, Args&&... args) {
    return async_factory::create<Sink>(std::move(name), std::forward<Args>(args)...);
}

/// Makes a logger and registers it; the oldest records make room.
template <class Sink, class... Args>
std::shared_ptr<spdlog::logger> create_async_nb(std::string name, Args&&... args) {
    return async_factory_nonblock::create<Sink>(std::move(name), std::forward<Args>(args)...);
}

/// As spdlog::set_pattern(), for all loggers of spdlog's registry and those that are made later.
/// The lines are the same. The formatter is Sluice's, which writes them in less time.
void set_pattern(const std::string& pattern,
                 spdlog::pattern_time_type type = spdlog::pattern_time_type::local);

/// As backend::flush_wait(); true when there is no default back end.
bool flush_wait(std::chrono::nanoseconds timeout = no_limit);

/// Ends spdlog (its registry lets all loggers go) and the default back end: what was logged is
/// written and the sinks are flushed. False when `timeout` passed first. A logger made later begins
/// a new back end. spdlog::shutdown() does the same without a limit of its own: it waits as long as
/// `drain_timeout` of the back end's options.
bool shutdown(std::chrono::nanoseconds timeout = no_limit);

}  // namespace sluice::log

#if !defined(SLUICE_LOG_COMPILED_LIB)
#include <sluice/log/detail/compiled/functions.hpp>
#endif
