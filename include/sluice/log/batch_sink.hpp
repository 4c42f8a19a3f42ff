#pragma once

#include <spdlog/details/log_msg.h>
#include <spdlog/sinks/sink.h>

#include <cstddef>

namespace sluice::log {

/// A spdlog sink that accepts many records at a time.
///
/// A back end passes all records of a harvest in one call, and says when to write. So the sink
/// locks once and writes once for many of them. Without a back end, log() and flush() work
/// as in any other sink.
///
/// Derive from it if many records at a time cost less. Otherwise derive from
/// spdlog::sinks::base_sink: it gets the same records one by one.
///
/// Threads: any thread may call any member, unless the sink says otherwise.
///
/// Errors: both functions may throw, like log(). If log_batch() throws, one record is lost. The
/// back end counts it and goes on with the next record. A sink that keeps records because it cannot
/// write them throws in end_batch() and flush().
///
/// Tests: tests/unit/log/batch_sink_test.cpp.
class batch_sink : public spdlog::sinks::sink {
public:
    /// The same as log() for `count` records from `first` on, in this order, with one lock. It
    /// skips records below the level of the sink. If it throws, `taken` is the number of records
    /// before the lost one.
    virtual void log_batch(const spdlog::details::log_msg* first, std::size_t count,
                           std::size_t& taken) = 0;

    /// Passes the formatted text to the system. The back end calls it after a harvest, but not more
    /// often than `write_interval` says.
    virtual void end_batch() = 0;

    /// True: the back end calls end_batch() after this harvest, even before `write_interval` has
    /// passed.
    virtual bool has_much() const { return false; }
};

}  // namespace sluice::log
