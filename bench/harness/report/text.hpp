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

/// "1 round", "2 rounds".
inline std::string counted(std::size_t count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// "1 result is INVALID", "2 results are INVALID".
inline std::string countedAre(std::size_t count, const std::string& noun, const char* what) {
    return counted(count, noun) + (count == 1 ? " is " : " are ") + what;
}

/// Replaces each space by "-".
inline std::string dashed(std::string text) {
    std::replace(text.begin(), text.end(), ' ', '-');
    return text;
}

}  // namespace sluice::bench
