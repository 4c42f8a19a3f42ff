/// \file
/// The library sluice::log_compiled: the functions of the log that are no templates.

#include <sluice/log/detail/compiled/backend.hpp>
#include <sluice/log/detail/compiled/default_backend.hpp>
#include <sluice/log/detail/compiled/functions.hpp>
#include <sluice/log/detail/compiled/logger.hpp>
