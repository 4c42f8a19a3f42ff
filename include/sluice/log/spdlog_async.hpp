#pragma once

/// \file
/// The names of <spdlog/async.h> for Sluice: a program only changes its `#include`.
///
///     #include <sluice/log/spdlog_async.hpp>  // was: <spdlog/async.h>
///
///     spdlog::init_thread_pool(8192, 1);
///     auto log = spdlog::basic_logger_mt<spdlog::async_factory>("name", "file.log");
///
/// No file of the program may also include <spdlog/async.h>, because the declarations conflict.
/// `spdlog::details::thread_pool` remains spdlog's class; Sluice's class is sluice::log::backend.

#include <sluice/base/send_result.hpp>
#include <sluice/log/functions.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace spdlog {

/// spdlog's names for the values of sluice::Overflow.
class async_overflow_policy {
public:
    static constexpr sluice::Overflow block = sluice::Overflow::block;
    static constexpr sluice::Overflow overrun_oldest = sluice::Overflow::dropOldest;
    static constexpr sluice::Overflow discard_new = sluice::Overflow::reject;

    // NOLINTNEXTLINE(google-explicit-constructor): converts like spdlog's enum
    constexpr async_overflow_policy(sluice::Overflow policy) noexcept : policy_(policy) {}
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr operator sluice::Overflow() const noexcept { return policy_; }

private:
    sluice::Overflow policy_;
};

using sluice::log::async_factory;
using sluice::log::async_factory_nonblock;
using sluice::log::async_logger;
using sluice::log::create_async;
using sluice::log::create_async_nb;

template <sluice::Overflow Policy = async_overflow_policy::block>
using async_factory_impl = sluice::log::async_factory_impl<Policy>;

/// The same as sluice::log::init().
inline void init_thread_pool(std::size_t queue_size, std::size_t thread_count,
                             std::function<void()> on_thread_start = {},
                             std::function<void()> on_thread_stop = {}) {
    sluice::log::init(queue_size, thread_count, std::move(on_thread_start),
                      std::move(on_thread_stop));
}

/// Returns the default back end, and starts it if needed, whereas spdlog would return null.
inline std::shared_ptr<sluice::log::backend> thread_pool() {
    return sluice::log::default_backend();
}

}  // namespace spdlog
