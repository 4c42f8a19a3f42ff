#pragma once

/// \file
/// The machine-readable report.

#include "harness/report/result.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace sluice::bench {

/// Times end in `_ns`, memory in `_mib`, a value that is not known is null, and nothing that was
/// not measured is written. docs/benchmarking.md describes the fields.
nlohmann::ordered_json toJson(const Report& report);

/// For instance "e2e-throughput".
std::string kindName(Kind kind);

/// How much of a program a kind takes in: a call, a queue alone, a queue between threads. Figures
/// of different layers are side by side in the report and are never compared.
std::string layerName(Kind kind);

}  // namespace sluice::bench
