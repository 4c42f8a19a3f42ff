#pragma once

/// \file
/// Series on their way from one process to another.

#include "harness/run/interleave.hpp"

#include <string>
#include <vector>

namespace sluice::bench {

/// The series of one entry, and whose they are.
struct NamedSeries {
    std::string subject;
    Series series;
};

std::string writeSeries(const std::vector<NamedSeries>& all);

/// Throws std::runtime_error if the text does not come from writeSeries().
std::vector<NamedSeries> readSeries(const std::string& text);

/// Adds the rounds of a further process, which get its number.
void append(Series& all, const Series& more, std::size_t process);

}  // namespace sluice::bench
