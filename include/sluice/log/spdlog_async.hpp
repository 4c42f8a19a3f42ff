#pragma once

/// \file
/// The names of <spdlog/async.h>, for Sluice: a program changes its `#include` and nothing else.
///
///     #include <sluice/log/spdlog_async.hpp>  // was: <spdlog/async.h>
///
///     spdlog::init_thread_pool(8192, 1);
///     auto log = spdlog::basic_logger_mt<spdlog::async_factory>("name", "file.log");
///
/// It declares these names in namespace `spdlog`: `init_thread_pool`, `thread_pool`,
/// `async_logger`, `async_factory`, `async_factory_nonblock`, `async_factory_impl`, `create_async`,
/// `create_async_nb` and `async_overflow_policy`. Each is another name of Sluice's function or
/// type, except the policy, whose values stand for those of sluice::Overflow.
///
/// No file of the program may include <spdlog/async.h> as well. If one unit includes both, the
/// compiler reports conflicting declarations. `spdlog::details::thread_pool` remains spdlog's
/// class. Its counterpart is sluice::log::backend.
///
/// Tests: tests/unit/log/spdlog_async_test.cpp, and tests/unit/log/setups_test.cpp, of which CMake
/// writes a copy with the statements for spdlog.

#include <sluice/base/overflow.hpp>
#include <sluice/log/default_backend.hpp>
#include <sluice/log/functions.hpp>
#include <sluice/log/logger.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace spdlog {

/// spdlog's values: `overrun_oldest` is Overflow::dropOldest, `discard_new` Overflow::reject.
enum class async_overflow_policy { block, overrun_oldest, discard_new };

/// Lets constructors of async_logger accept spdlog's values.
constexpr sluice::Overflow overflowOf(async_overflow_policy policy) noexcept {
    return policy == async_overflow_policy::block            ? sluice::Overflow::block
           : policy == async_overflow_policy::overrun_oldest ? sluice::Overflow::dropOldest
                                                             : sluice::Overflow::reject;
}

using sluice::log::async_factory;
using sluice::log::async_factory_nonblock;
using sluice::log::async_logger;
using sluice::log::create_async;
using sluice::log::create_async_nb;

template <async_overflow_policy Policy = async_overflow_policy::block>
using async_factory_impl = sluice::log::async_factory_impl<overflowOf(Policy)>;

/// The same as sluice::log::init().
inline void init_thread_pool(std::size_t queue_size, std::size_t thread_count,
                             std::function<void()> on_thread_start = {},
                             std::function<void()> on_thread_stop = {}) {
    sluice::log::init(queue_size, thread_count, std::move(on_thread_start),
                      std::move(on_thread_stop));
}

/// Returns the default back end. The first call starts it; spdlog's function would return null.
inline std::shared_ptr<sluice::log::backend> thread_pool() {
    return sluice::log::default_backend();
}

}  // namespace spdlog
