#pragma once

#include <fstream>
#include <string>

namespace sluice::bench {

/// The first line of a small file, such as the system's; empty when it cannot be read.
inline std::string firstLine(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

}  // namespace sluice::bench
