#pragma once

#include "delay_histogram.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Figures as people read them: three digits and a unit, never wider than ten characters.
namespace hostwatch {

std::string formatBytes(double bytes);          ///< "1.23 GiB"; from 1000 PiB on ever more digits
std::string formatRate(double bytesPerSecond);  ///< "1.23 MiB/s"
std::string formatPercent(double percent);      ///< "12.3 %"
std::string formatDelay(std::chrono::nanoseconds delay);  ///< "12.3 us"
/// The delay `percent` of all do not exceed, 100 being the exact maximum; "-" when there is none.
std::string formatPercentile(const DelayHistogram& delays, unsigned percent);
std::string formatCount(std::uint64_t count);  ///< "1,234,567", exact, up to 26 characters

/// Left-aligned in `width`; a text that is too long loses its end and shows it by a tilde.
std::string left(std::string_view text, std::size_t width);

/// Right-aligned; a text that is too long is kept whole.
std::string right(std::string_view text, std::size_t width);

/// "###.....": `percent` of `width`.
std::string bar(double percent, std::size_t width);

}  // namespace hostwatch
