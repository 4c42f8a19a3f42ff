#pragma once

/// \file
/// make_async: replaces a logger by an asynchronous one.
///
///     sluice::log::make_async(spdlog::default_logger());
///     spdlog::info("from now on another thread writes this");
///
/// The new logger has the name, the sinks and all settings of the old one. It replaces the old
/// logger in spdlog's registry, or as spdlog's default logger. `sinks()` returns the same sinks, so
/// a program may cast them to their types. The back end also calls a sink that the program adds
/// later.
///
/// A pointer to the old logger still logs to the same sinks, without a back end. So call
/// make_async() at the start of the program, while no other thread uses the registry.
///
/// Errors: it throws spdlog_ex if `logger` is null.
///
/// Tests: tests/unit/log/make_async_test.cpp.

#include <sluice/base/overflow.hpp>
#include <sluice/log/default_backend.hpp>
#include <sluice/log/logger.hpp>

#include <spdlog/spdlog.h>

#include <memory>
#include <type_traits>

namespace sluice::log {

inline std::shared_ptr<async_logger>
make_async(const std::shared_ptr<spdlog::logger>& logger,
           const std::shared_ptr<backend>& by = default_backend(),
           Overflow policy = Overflow::block) {
    if (logger == nullptr) {
        spdlog::throw_spdlog_ex("make_async: the logger is null");
    }
    auto made = std::make_shared<async_logger>(*logger, by, policy);
    if (spdlog::default_logger() == logger) {
        spdlog::set_default_logger(made);
    } else if (spdlog::get(made->name()) == logger) {
        spdlog::drop(made->name());
        spdlog::register_logger(made);
    }
    return made;
}

/// The compiler refuses a call with a logger instead of a shared pointer to it: an object cannot
/// change its type.
template <class Logger, class... More>
auto make_async(Logger& /*logger*/, const More&... /*more*/)
    -> std::enable_if_t<std::is_base_of_v<spdlog::logger, Logger>> {
    static_assert(!std::is_base_of_v<spdlog::logger, Logger>,
                  "make_async(logger): pass the std::shared_ptr, as spdlog::default_logger() "
                  "returns it, and use the logger that make_async returns");
}

}  // namespace sluice::log
