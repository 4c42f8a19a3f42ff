#pragma once

/// \file
/// The environment record as JSON.

#include "harness/machine/environment.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace sluice::bench {

using Json = nlohmann::ordered_json;

Json environmentJson(const Environment& environment);

// Unknown values are null.

inline Json known(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}
inline Json known(double value) {
    return value < 0 ? Json(nullptr) : Json(value);
}
inline Json known(int value) {
    return value < 0 ? Json(nullptr) : Json(value);
}
inline Json known(const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
}

}  // namespace sluice::bench
