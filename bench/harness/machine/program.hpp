#pragma once

/// \file
/// This program, started once more.

#include <string>
#include <vector>

namespace sluice::bench {

/// The path of this program's own file.
std::string ownPath();

/// Runs this program with these arguments and waits for its end; what it wrote to its standard
/// output. `preload`: a library that is loaded in front of all others, or nothing. Throws
/// std::runtime_error when it could not be started or has failed. An interrupt of the terminal
/// reaches both processes; the new one begins with it blocked, until its InterruptionWatch.
std::string outputOfOwnProgram(const std::vector<std::string>& arguments,
                               const std::string& preload = {});

}  // namespace sluice::bench
