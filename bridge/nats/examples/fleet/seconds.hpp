#pragma once

#include <charconv>
#include <chrono>
#include <stdexcept>
#include <string>
#include <system_error>

namespace fleet {

/// Reads how long the fleet runs. Throws one line if the text is no number from 1 to 86400.
inline std::chrono::seconds secondsIn(const std::string& text) {
    int seconds = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, seconds);
    if (error != std::errc() || rest != end || seconds < 1 || seconds > 86400) {
        throw std::runtime_error("seconds is '" + text + "'; it must be a number from 1 to 86400");
    }
    return std::chrono::seconds(seconds);
}

}  // namespace fleet
