#pragma once

/// \file
/// The machine-readable report.

#include "harness/report/result.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace sluice::bench {

/// Names of times end in `_ns`, and names of memory in `_mib`. An unknown value is null.
/// docs/benchmarking.md describes the fields.
nlohmann::ordered_json toJson(const Report& report);

/// For instance "e2e-throughput".
std::string kindName(Kind kind);

/// The part of a program that a kind measures: a call, a queue alone, a queue between threads.
/// Figures of different layers are never compared.
std::string layerName(Kind kind);

}  // namespace sluice::bench
