#pragma once

/// \file
/// Runs the rounds of one scenario: in this process, or in several fresh ones.

#include "harness/run/interleave.hpp"
#include "scenarios/suite.hpp"

#include <map>
#include <ostream>
#include <regex>
#include <string>
#include <vector>

namespace sluice::bench {

struct NamedEntrant {
    std::string subject;
    Entrant entrant;
};

/// A suite with its options, as far as measuring needs them.
class Measuring {
public:
    /// All three must outlive it.
    Measuring(const Suite& suite, const SuiteOptions& options, const std::vector<int>& cpus);

    bool isSelected(const Subject& subject) const;

    /// The subjects that take part. If there is a twin (A/A), the first subject is at the end once
    /// more.
    std::vector<NamedEntrant> entrantsOf(const Scenario& scenario) const;

    /// The series of all entrants, then those of the measurements of the machine itself.
    std::vector<Series> measure(const Scenario& scenario, const std::vector<NamedEntrant>& entrants,
                                const Repetition& repetition, const Progress& progress) const;

    /// Calls of the allocator for one message, by subject, counted in a process of its own. Empty
    /// if the scenario does not time whole messages, or if the counting library is missing.
    std::map<std::string, double> countAllocations(const Scenario& scenario) const;

    /// The other end: measures the scenario that the options name and writes the series.
    void work(std::ostream& out) const;

private:
    std::vector<Series> measureHere(const Scenario& scenario,
                                    const std::vector<NamedEntrant>& entrants,
                                    const Repetition& repetition, const Progress& progress) const;
    std::vector<Series> measureInProcesses(const Scenario& scenario, const Repetition& repetition,
                                           const Progress& progress) const;
    std::vector<std::string> workerArguments(const Scenario& scenario) const;

    const Suite& suite_;
    const SuiteOptions& options_;
    const std::vector<int>& cpus_;
    const std::regex subjectFilter_;
};

}  // namespace sluice::bench
