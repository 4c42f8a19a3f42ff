#pragma once

/// \file
/// The back end of loggers that do not name another one.
///
///     auto log = spdlog::basic_logger_mt<sluice::log::async_factory>("app", "app.log");
///     const auto counts = sluice::log::default_backend()->statistics();
///
/// It starts with the first logger, or with init(). It ends with shutdown() or spdlog::shutdown(),
/// which both wait until all records are written and the sinks are flushed. At the end of the
/// program it writes all records. A thread that logs afterwards, for example in a destructor of a
/// static object, writes its own record before the call returns.
///
/// Threads: any thread may call these functions. Errors: spdlog_ex if the back end cannot start.
///
/// Tests: tests/unit/log/default_backend_test.cpp.

#include <sluice/log/backend.hpp>

#include <memory>

namespace sluice::log {

/// Returns the default back end. Starts one if there is none.
std::shared_ptr<backend> default_backend();

/// Replaces the default back end. Existing loggers keep the back end that they were made with. The
/// old back end ends when its last owner releases it. If `next` is null, the next logger starts a
/// new one.
void set_default_backend(std::shared_ptr<backend> next);

}  // namespace sluice::log

#if !defined(SLUICE_LOG_COMPILED_LIB)
#include <sluice/log/detail/compiled/default_backend.hpp>
#endif
