#pragma once

/// \file
/// The seven questions that decide whether a report is credible, with answers from the report.

#include "harness/report/result.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace sluice::bench {

struct CheckItem {
    std::string id;
    std::string question;
    bool pass = false;

    /// The facts that the answer was read from.
    std::string detail;
};

/// Always the same seven, in the same order.
std::vector<CheckItem> checklistOf(const Report& report);

/// Why the report is not credible: the questions with the answer no, and all other obstacles to
/// publication. Empty if it is credible.
std::vector<std::string> notCredibleBecause(const Report& report);

/// The list and the line `credible: yes` or `credible: no`.
void printChecklist(std::ostream& out, const Report& report);

}  // namespace sluice::bench
