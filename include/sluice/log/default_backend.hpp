#pragma once

/// \file
/// The back end that loggers get when nobody says which.
///
/// It begins with the first logger, or with init(). It ends with shutdown() and with
/// spdlog::shutdown(), which both wait until everything is written and the sinks are flushed. When
/// the program ends it writes everything, and from then on whoever logs (destructors of static
/// objects, of thread_local ones, other threads) writes its own record before the call returns.
///
/// Any thread may call anything. Tests: tests/unit/log/default_backend_test.cpp.

#include <sluice/log/backend.hpp>

#include <memory>

namespace sluice::log {

/// The default back end; begins it when there is none.
std::shared_ptr<backend> default_backend();

/// Replaces the default back end; the old one ends when nobody else holds it. Loggers keep the one
/// they were made with. Null: the next logger begins a new one.
void set_default_backend(std::shared_ptr<backend> next);

}  // namespace sluice::log

#if !defined(SLUICE_LOG_COMPILED_LIB)
#include <sluice/log/detail/compiled/default_backend.hpp>
#endif
