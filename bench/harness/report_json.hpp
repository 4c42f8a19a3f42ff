#pragma once

/// \file
/// The machine-readable report.

#include "harness/result.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace sluice::bench {

/// Top level: `schema`, `run`, `environment`, `machine[]` (one entry per scenario), `subjects[]`,
/// `results[]`, `comparisons[]`, `targets[]`. Times end in `_ns`, memory in `_mib`, a value that is
/// not known is null, and nothing that was not measured is written.
nlohmann::ordered_json toJson(const Report& report);

/// "e2e-throughput", "loaded-latency", "idle-latency", "call-cost", "call-latency" or
/// "resident-memory".
std::string kindName(Kind kind);

}  // namespace sluice::bench
