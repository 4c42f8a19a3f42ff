#pragma once

/// \file
/// Series as text, for another process.

#include "harness/run/interleave.hpp"

#include <string>
#include <vector>

namespace sluice::bench {

/// The series of one entry, and its subject.
struct NamedSeries {
    std::string subject;
    Series series;
};

std::string writeSeries(const std::vector<NamedSeries>& all);

/// Throws std::runtime_error if the text does not come from writeSeries().
std::vector<NamedSeries> readSeries(const std::string& text);

/// Adds the rounds of a further process, with its number.
void append(Series& all, const Series& more, std::size_t process);

}  // namespace sluice::bench
