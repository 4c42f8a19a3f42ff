#pragma once

// Asynchronous, time-ordered logging for spdlog; not part of <sluice/sluice.hpp>.

#include <sluice/log/backend.hpp>
#include <sluice/log/backend_options.hpp>
#include <sluice/log/batch_sink.hpp>
#include <sluice/log/copy_when_logging.hpp>
#include <sluice/log/crash_handler.hpp>
#include <sluice/log/deferred.hpp>
#include <sluice/log/fields.hpp>
#include <sluice/log/file_sink.hpp>
#include <sluice/log/functions.hpp>
#include <sluice/log/json_formatter.hpp>
#include <sluice/log/limited.hpp>
#include <sluice/log/logger.hpp>
#include <sluice/log/pattern_formatter.hpp>
#include <sluice/log/statistics.hpp>
