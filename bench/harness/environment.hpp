#pragma once

/// \file
/// What a reader must know about the machine and the build to judge a figure.

#include <string>
#include <vector>

namespace sluice::bench {

/// A string that could not be found out is empty, a number that could not be measured is negative;
/// neither is guessed.
struct Environment {
    std::string cpu;
    std::vector<int> cpus;
    std::string governor;
    std::string clockSource;
    bool virtualMachine = false;
    std::string kernel;
    std::string compiler;
    std::string flags;
    bool assertions = false;
    bool sanitized = false;
    std::string startedAt;

    /// One call of the clock.
    double clockNs = -1;
};

/// Reads what the system tells and times the clock; takes a few milliseconds.
Environment describeEnvironment(const std::vector<int>& cpus);

}  // namespace sluice::bench
