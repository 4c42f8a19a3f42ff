#pragma once

// All public headers of the module inspect.

#include <sluice/inspect/findings.hpp>
#include <sluice/inspect/flight_recorder.hpp>
#include <sluice/inspect/inspector.hpp>
#include <sluice/inspect/metrics_text.hpp>
#include <sluice/inspect/snapshot.hpp>
#include <sluice/inspect/threads.hpp>
