#pragma once

#include "proc_text.hpp"
#include "samples.hpp"

#include <memory>
#include <string_view>
#include <vector>

namespace hostwatch {

/// Turns successive texts of one /proc file into samples.
///
/// Most of /proc counts since boot, so a rate needs two readings: the first one measures nothing,
/// and after a reading that failed the next rate covers the longer time. A counter that runs
/// backwards (the device was replaced) measures nothing once.
/// Each reader is used by one thread.
template <class Sample>
class Reader {
public:
    virtual ~Reader() = default;

    /// Appends the samples of `text`, which was read at `at`. Good entries count even if others are
    /// broken.
    virtual Problem read(std::string_view text, Clock::time_point at, std::vector<Sample>& out) = 0;
};

/// The file below the proc directory a source reads.
const char* fileOf(Source source) noexcept;

/// How often a source is read.
Clock::duration periodOf(Source source) noexcept;

template <class Sample>
std::unique_ptr<Reader<Sample>> makeReader();

}  // namespace hostwatch
