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
/// | shutdown() | shutdown(), or spdlog's own |
///
/// All are about the default back end. Any thread may call them.
///
/// Tests: tests/unit/log/functions_test.cpp.

#include <sluice/log/async_factory.hpp>
#include <sluice/log/backend_options.hpp>
#include <sluice/log/default_backend.hpp>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace sluice::log {

/// Begins a default back end with these options. The one before ends, when nobody else holds it.
inline void init(const backend_options& options) {
    set_default_backend(std::make_shared<backend>(options));
}

/// As spdlog's init_thread_pool. The size is the room of each thread, in messages. There are 128
/// bytes for each of them, at least 1 MiB and at most 1 GiB in all; a short message takes less, and
/// only bytes in use take memory. Whatever the number of threads, from 1 to 1000 as in spdlog, one
/// writes: several could not keep the order.
inline void init(std::size_t queue_size, std::size_t thread_count,
                 std::function<void()> on_thread_start = {},
                 std::function<void()> on_thread_stop = {}) {
    if (thread_count == 0 || thread_count > 1000) {
        spdlog::throw_spdlog_ex("sluice::log::init(): thread_count: " +
                                std::to_string(thread_count) + ", valid range is 1-1000");
    }
    backend_options options;
    options.queue_size = queue_size;
    constexpr std::size_t messageBytes = 128;
    constexpr std::size_t mostBytes = std::size_t{1} << 30U;
    options.queue_bytes = std::max(options.queue_bytes,
                                   std::min(queue_size, mostBytes / messageBytes) * messageBytes);
    options.on_thread_start = std::move(on_thread_start);
    options.on_thread_stop = std::move(on_thread_stop);
    init(options);
}

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

/// As backend::flush_wait(); true when there is no default back end.
inline bool flush_wait(std::chrono::nanoseconds timeout = no_limit) {
    const std::shared_ptr<backend> current = detail::DefaultBackend::instance().peek();
    return !current || current->flush_wait(timeout);
}

/// Ends spdlog (its registry lets all loggers go) and the default back end: what was logged is
/// written and the sinks are flushed. False when `timeout` passed first. A logger made later begins
/// a new back end. spdlog::shutdown() does the same without a limit of its own: it waits as long as
/// `drain_timeout` of the back end's options.
inline bool shutdown(std::chrono::nanoseconds timeout = no_limit) {
    const std::shared_ptr<backend> last = detail::DefaultBackend::instance().exchange(nullptr);
    spdlog::shutdown();
    return !last || last->shutdown(timeout);
}

}  // namespace sluice::log
