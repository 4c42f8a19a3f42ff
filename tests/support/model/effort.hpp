#pragma once

#include "search.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace sluice::model {

/// How much the checker may do in this run of the program. The environment variable
/// SLUICE_MODEL_EFFORT names it: `ordinary`, as without the variable, or `full`.
enum class Effort : std::uint8_t {
    ordinary,  // with caps, and with smaller budgets for scenarios that have two
    full,      // no cap, and every scenario has its whole budget
};

/// Ends the program with status 2 if `text` names no effort.
inline Effort effortFrom(const char* text) {
    const std::string_view name = text == nullptr ? "ordinary" : text;
    if (name == "full") {
        return Effort::full;
    }
    if (name != "ordinary") {
        std::fprintf(stderr, "SLUICE_MODEL_EFFORT is '%s'; it can be: ordinary, full\n", text);
        std::exit(2);  // NOLINT(concurrency-mt-unsafe): before any thread starts
    }
    return Effort::ordinary;
}

inline Effort effort() {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here changes the environment
    static const Effort chosen = effortFrom(std::getenv("SLUICE_MODEL_EFFORT"));
    return chosen;
}

inline constexpr std::size_t withoutCap = std::numeric_limits<std::size_t>::max();

/// The cap on the executions of a scenario: none under full effort.
inline std::size_t cap(std::size_t executions) {
    return effort() == Effort::full ? withoutCap : executions;
}

/// The budget of a scenario whose full budget takes too long for an ordinary run.
inline Budget budgetByEffort(Budget ordinary, Budget full) {
    return effort() == Effort::full ? full : ordinary;
}

}  // namespace sluice::model
