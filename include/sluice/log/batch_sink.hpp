#pragma once

#include <spdlog/details/log_msg.h>
#include <spdlog/sinks/sink.h>

#include <cstddef>

namespace sluice::log {

/// A sink of spdlog that takes many records at a time.
///
/// Purpose: a back end that has harvested many records can hand them over in one call, and say when
/// there are no more for now. So a sink locks once and writes once for all of them. It stays a sink
/// like any other: without a back end, log() and flush() do what they do everywhere.
///
/// Derive from it for a sink that gains by this. Derive from spdlog::sinks::base_sink for any other
/// one: it gets the same records one by one.
///
/// Who may call what: any thread anything, unless the sink says otherwise.
///
/// Errors: both may throw what log() throws. When log_batch() throws, one record is lost, and the
/// caller goes on with the next one. The back end counts the lost record. A sink that keeps its
/// records and cannot write them for now says so in end_batch() and flush().
///
/// Tests: tests/unit/log/batch_sink_test.cpp.
class batch_sink : public spdlog::sinks::sink {
public:
    /// As log() for each of the `count` records from `first` on, in this order, under one lock.
    /// Those below the level of the sink are left out. When it throws, `taken` is the number of
    /// records before the lost one.
    virtual void log_batch(const spdlog::details::log_msg* first, std::size_t count,
                           std::size_t& taken) = 0;

    /// The harvest is over: hands what was formatted to the system.
    virtual void end_batch() = 0;
};

}  // namespace sluice::log
