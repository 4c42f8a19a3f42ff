#pragma once

#include <sluice/base/expected.hpp>

#include <string>

namespace hostwatch {

struct Options {
    static constexpr int mostSeconds = 86400;

    int seconds = 10;
    bool flood = false;
    bool watch = false;
    bool help = false;
    std::string procDirectory = "/proc";
    std::string logFile;  ///< empty: none
};

/// Reads the command line; the error is one line for the user, with value and limit.
sluice::Expected<Options, std::string> parseOptions(int argc, const char* const* argv);

/// The text that --help prints.
const char* usage() noexcept;

}  // namespace hostwatch
