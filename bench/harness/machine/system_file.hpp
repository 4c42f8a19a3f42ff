#pragma once

#include <fstream>
#include <string>

namespace sluice::bench {

/// The first line of a small file. Empty if the file cannot be read.
inline std::string firstLine(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

}  // namespace sluice::bench
