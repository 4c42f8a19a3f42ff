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
/// Derive from it if many records together cost less: a back end then passes a batch in a few
/// calls, so the sink locks once and writes once. Without a back end, log() and flush() work as in
/// any other sink. Derive from spdlog::sinks::base_sink otherwise.
///
/// Errors: log_batch() and end_batch() may throw, like log(). If log_batch() throws, the back end
/// counts one lost record and continues with the next. A sink that keeps records because it cannot
/// write them throws in end_batch() and flush().
class batch_sink : public spdlog::sinks::sink {
public:
    /// Like log() for `count` records from `first` on, in this order. Skips records below the level
    /// of the sink. Before it throws, it sets `taken` to the number of records before the lost one.
    virtual void log_batch(const spdlog::details::log_msg* first, std::size_t count,
                           std::size_t& taken) = 0;

    /// Passes the formatted text to the system. The back end calls it after a batch, but not more
    /// often than `write_interval` says.
    virtual void end_batch() = 0;

    /// Returns true if the sink holds so much text that end_batch() should not wait for
    /// `write_interval`.
    virtual bool has_much() const { return false; }
};

}  // namespace sluice::log
