#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>

namespace sluice::bench {

/// Like printf(), into a string of at most 255 characters.
template <class... Values>
std::string format(const char* pattern, Values... values) {
    char text[256];
    const int length = std::snprintf(text, sizeof text, pattern, values...);
    return {text, std::size_t(std::clamp(length, 0, int(sizeof text) - 1))};
}

}  // namespace sluice::bench
