#pragma once

/// \file
/// Factories for spdlog's functions that make loggers.
///
///     auto log = spdlog::basic_logger_mt<sluice::log::async_factory>("name", "file.log");
///
/// A factory makes a logger of the default back end and registers it with spdlog, as spdlog's own
/// factories do. The first logger starts the back end. The three factories differ in the overflow
/// policy, which decides about a record when the calling thread's lane is full.
///
/// Threads: any thread. Errors: spdlog_ex if spdlog's registry has a logger of this name, or if the
/// back end cannot start.
///
/// Tests: tests/unit/log/async_factory_test.cpp.

#include <sluice/base/overflow.hpp>
#include <sluice/log/default_backend.hpp>
#include <sluice/log/logger.hpp>

#include <spdlog/details/registry.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>
#if defined(SPDLOG_COMPILED_LIB)
// The compiled library has the console factories only for spdlog's own factories. These files
// contain only templates, so each unit may include them.
#include <spdlog/sinks/stdout_color_sinks-inl.h>
#include <spdlog/sinks/stdout_sinks-inl.h>
#endif

#include <memory>
#include <string>
#include <utility>

namespace sluice::log {

/// A factory for loggers with this policy. `args` are the arguments of the sink's constructor.
template <Overflow Policy>
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

/// Overflow policy `block`: the calling thread waits for room.
using async_factory = async_factory_impl<Overflow::block>;

/// Overflow policy `overrun_oldest`: the calling thread does not wait. Its oldest records are
/// discarded to make room.
using async_factory_nonblock = async_factory_impl<Overflow::dropOldest>;

/// Overflow policy `discard_new`: the calling thread does not wait. The new record is discarded.
using async_factory_discard = async_factory_impl<Overflow::reject>;

}  // namespace sluice::log
