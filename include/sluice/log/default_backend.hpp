#pragma once

/// \file
/// The back end of loggers that name no other one.
///
/// It begins with the first logger, or with init(). It ends with shutdown() or spdlog::shutdown(),
/// which both wait until all records are written and the sinks are flushed. At the end of the
/// program it writes all records. Afterwards a thread that logs, for example in a destructor of a
/// static object, writes its own record before the call returns.
///
/// Any thread may call these functions. Tests: tests/unit/log/default_backend_test.cpp.

#include <sluice/log/backend.hpp>

#include <memory>

namespace sluice::log {

/// The default back end. Starts one if there is none.
std::shared_ptr<backend> default_backend();

/// Replaces the default back end. The old one ends when its last owner releases it. Loggers keep
/// the back end that they were made with. Null: the next logger starts a new one.
void set_default_backend(std::shared_ptr<backend> next);

}  // namespace sluice::log

#if !defined(SLUICE_LOG_COMPILED_LIB)
#include <sluice/log/detail/compiled/default_backend.hpp>
#endif
