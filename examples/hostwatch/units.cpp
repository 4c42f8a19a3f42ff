#include "units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace hostwatch {
namespace {

/// Scales `value` to the first unit in which it stays below `step`, and prints three digits of it.
template <std::size_t N>
std::string scaled(double value, double step, const std::array<const char*, N>& units,
                   const char* suffix = "") {
    std::size_t unit = 0;
    while (value >= step && unit + 1 < N) {
        value /= step;
        ++unit;
    }
    // Thresholds are where printf would round up to one more digit. The smallest unit is whole.
    const int decimals = unit == 0 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f %s%s", decimals, value, units[unit], suffix);
    return text.data();
}

constexpr std::array<const char*, 6> byteUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
constexpr double byteStep = 1024;

}  // namespace

std::string formatBytes(double bytes) {
    return scaled(bytes, byteStep, byteUnits);
}

std::string formatRate(double bytesPerSecond) {
    return scaled(bytesPerSecond, byteStep, byteUnits, "/s");
}

std::string formatPercent(double percent) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f %%", percent);
    return text.data();
}

std::string formatDelay(std::chrono::nanoseconds delay) {
    constexpr std::array<const char*, 4> units{"ns", "us", "ms", "s"};
    return scaled(static_cast<double>(delay.count()), 1000, units);
}

std::string formatPercentile(const DelayHistogram& delays, unsigned percent) {
    return delays.count() == 0 ? "-" : formatDelay(delays.percentile(percent));
}

std::string formatCount(std::uint64_t count) {
    constexpr std::size_t groupLength = 3;
    std::string text = std::to_string(count);
    for (std::size_t place = text.size(); place > groupLength;) {
        place -= groupLength;
        text.insert(place, 1, ',');
    }
    return text;
}

std::string left(std::string_view text, std::size_t width) {
    std::string cell(text.substr(0, width));
    if (text.size() > width && width != 0) {
        cell.back() = '~';
    }
    cell.resize(width, ' ');
    return cell;
}

std::string right(std::string_view text, std::size_t width) {
    return std::string(width - std::min(width, text.size()), ' ').append(text);
}

std::string bar(double percent, std::size_t width) {
    const double share = std::clamp(percent / 100, 0.0, 1.0);
    const auto filled = static_cast<std::size_t>(std::lround(share * static_cast<double>(width)));
    return std::string(filled, '#').append(width - filled, '.');
}

}  // namespace hostwatch
