#pragma once

// Everything public of the module inspect.

#include <sluice/inspect/bus_metrics.hpp>
#include <sluice/inspect/machine_graph.hpp>
#include <sluice/inspect/metrics_text.hpp>
#include <sluice/inspect/watchdog.hpp>
