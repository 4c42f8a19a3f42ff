#pragma once

/// \file
/// This program, started once more.

#include <string>
#include <vector>

namespace sluice::bench {

/// The path of this program's own file.
std::string ownPath();

/// Runs this program with these arguments, waits for its end, and returns its standard output.
/// `preload`: a library that is loaded in front of all others, or an empty text. Throws
/// std::runtime_error if the program cannot be started or fails. An interrupt of the terminal
/// reaches both processes. The new process blocks the signal until its InterruptionWatch.
std::string outputOfOwnProgram(const std::vector<std::string>& arguments,
                               const std::string& preload = {});

}  // namespace sluice::bench
