#pragma once

/// \file
/// The seven questions that decide whether a report can be believed, answered by looking at it.

#include "harness/report/result.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace sluice::bench {

struct CheckItem {
    std::string id;
    std::string question;
    bool pass = false;

    /// What the answer was read from.
    std::string detail;
};

/// Always the same seven, in the same order.
std::vector<CheckItem> checklistOf(const Report& report);

/// Why the report is not credible: the questions that were answered with no, and what else keeps it
/// from publication. Empty when it is credible.
std::vector<std::string> notCredibleBecause(const Report& report);

/// The list and the line `credible: yes` or `credible: no`.
void printChecklist(std::ostream& out, const Report& report);

}  // namespace sluice::bench
