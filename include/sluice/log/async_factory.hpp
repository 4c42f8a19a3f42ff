#pragma once

/// \file
/// Factories for spdlog's functions that make loggers.
///
///     auto log = spdlog::basic_logger_mt<sluice::log::async_factory>("name", "file.log");
///
/// A factory makes a logger of the default back end and registers it with spdlog, as spdlog's own
/// factories do. The first logger starts the back end.
///
/// Tests: tests/unit/log/async_factory_test.cpp.

#include <sluice/log/default_backend.hpp>
#include <sluice/log/logger.hpp>
#include <sluice/log/overflow_policy.hpp>

#include <spdlog/details/registry.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>
#if defined(SPDLOG_COMPILED_LIB)
// The compiled library has the console factories only for spdlog's own factories. These files hold
// templates alone, so each unit may include them.
#include <spdlog/sinks/stdout_color_sinks-inl.h>
#include <spdlog/sinks/stdout_sinks-inl.h>
#endif

#include <memory>
#include <string>
#include <utility>

namespace sluice::log {

template <overflow_policy Policy>
struct async_factory_impl {
    template <class Sink, class... Args>
    static std::shared_ptr<async_logger> create(std::string name, Args&&... args) {
        auto sink = std::make_shared<Sink>(std::forward<Args>(args)...);
        auto made = std::make_shared<async_logger>(std::move(name), std::move(sink),
                                                   default_backend(), Policy);
        spdlog::details::registry::instance().initialize_logger(made);
        return made;
    }
};

/// The calling thread waits for room.
using async_factory = async_factory_impl<overflow_policy::block>;

/// The calling thread does not wait: its oldest records make room.
using async_factory_nonblock = async_factory_impl<overflow_policy::overrun_oldest>;

/// The calling thread does not wait: the new record is discarded.
using async_factory_discard = async_factory_impl<overflow_policy::discard_new>;

}  // namespace sluice::log
