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
/// A back end passes each batch of records in few calls, so that the sink locks and writes only
/// once per batch. Without a back end, log() and flush() work as in any spdlog sink.
///
/// Errors: log_batch() and end_batch() may throw. If log_batch() throws, the back end counts one
/// lost record and continues with the record after the lost one. A sink that keeps records because
/// it cannot write them must throw in end_batch() and flush().
class batch_sink : public spdlog::sinks::sink {
public:
    /// Logs `count` records in order, except records below the sink's level. If log_batch() throws,
    /// `taken` must be the number of records before the lost record.
    virtual void log_batch(const spdlog::details::log_msg* first, std::size_t count,
                           std::size_t& taken) = 0;

    /// Passes the collected text to the operating system. The back end calls end_batch() after a
    /// batch, but at most once per backend_options::write_interval.
    virtual void end_batch() = 0;

    /// Returns true if the collected text is too much to wait for `write_interval`.
    virtual bool has_much() const { return false; }
};

}  // namespace sluice::log
