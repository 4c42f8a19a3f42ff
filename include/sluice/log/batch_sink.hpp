#pragma once

#include <spdlog/details/log_msg.h>
#include <spdlog/sinks/sink.h>

#include <cstddef>

namespace sluice::log {

/// A spdlog sink that accepts many records at a time.
///
///     class RadioSink final : public sluice::log::batch_sink {
///     public:
///         void log_batch(const spdlog::details::log_msg* first, std::size_t count,
///                        std::size_t& taken) override;
///         void end_batch() override;  // sends the collected text
///         // and log(), flush(), set_pattern(), set_formatter(), as in any spdlog sink
///     };
///
/// A back end passes the records of a harvest in a few calls, and says when to write. So the sink
/// locks once and writes once for many records. Without a back end, log() and flush() work as in
/// any other sink.
///
/// Derive from it if the sink can handle many records together at a lower cost. Otherwise derive
/// from spdlog::sinks::base_sink, which gets the same records one by one.
///
/// Threads: any thread may call any member, unless the sink says otherwise.
///
/// Errors: log_batch() and end_batch() may throw, like log(). If log_batch() throws, one record is
/// lost: the back end counts it and continues with the next record. A sink that keeps records
/// because it cannot write them throws in end_batch() and flush().
///
/// Tests: tests/unit/log/batch_sink_test.cpp.
class batch_sink : public spdlog::sinks::sink {
public:
    /// Does the same as log() for `count` records from `first` on, in this order, with one lock. It
    /// skips records below the level of the sink. Before it throws, it sets `taken` to the number
    /// of records before the lost one.
    virtual void log_batch(const spdlog::details::log_msg* first, std::size_t count,
                           std::size_t& taken) = 0;

    /// Passes the formatted text to the system. The back end calls it after a harvest, but not more
    /// often than `write_interval` says.
    virtual void end_batch() = 0;

    /// Whether the sink holds so much text that the back end should call end_batch() after this
    /// harvest, before `write_interval` has passed.
    virtual bool has_much() const { return false; }
};

}  // namespace sluice::log
