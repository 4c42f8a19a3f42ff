/// \file
/// The library sluice::log_compiled: the functions of the log that are no templates.

#define SLUICE_LOG_SOURCE
#include <sluice/log/functions.hpp>
#include <sluice/log/logger.hpp>
