#pragma once

/// \file
/// Shows the progress of a long run on stderr.

#include "harness/machine/clock.hpp"

#include <cstddef>
#include <string>

namespace sluice::bench {

/// Rewrites one line on a terminal; elsewhere it prints a line now and then. Writes only between
/// rounds.
class ProgressLine {
public:
    ProgressLine();

    /// Starts a new step, for instance a scenario.
    void begin(const std::string& step);

    /// `done` of `all` runs of the step are over.
    void show(std::size_t done, std::size_t all);

    /// Ends the step and clears the line.
    void end() const;

private:
    bool terminal_;
    std::string step_;
    Nanoseconds beganAt_ = 0;
    Nanoseconds shownAt_ = 0;
};

}  // namespace sluice::bench
