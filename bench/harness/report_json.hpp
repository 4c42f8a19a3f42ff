#pragma once

/// \file
/// The machine-readable report.

#include "harness/result.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace sluice::bench {

/// Top level: `schema`, `run`, `environment`, `machine[]` (one entry per scenario), `subjects[]`,
/// `results[]`, `comparisons[]`. Times end in `_ns`, a value that is not known is null, and nothing
/// that was not measured is written.
nlohmann::ordered_json toJson(const Report& report);

/// "e2e-throughput", "loaded-latency" or "idle-latency".
std::string kindName(Kind kind);

}  // namespace sluice::bench
