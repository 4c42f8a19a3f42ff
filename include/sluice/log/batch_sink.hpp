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
/// A back end passes it a batch in few calls, so the sink locks once and writes once. Without a
/// back end, log() and flush() work like those of any sink. Use it if records cost less together.
///
/// Errors: log_batch() and end_batch() may throw, like log(). If log_batch() throws, the back end
/// counts one lost record and continues with the next. A sink that keeps records because it cannot
/// write them throws in end_batch() and flush().
class batch_sink : public spdlog::sinks::sink {
public:
    /// Like log() for `count` records, in this order. Skips records below the sink's level. Before
    /// it throws, it sets `taken` to the number of records before the lost one.
    virtual void log_batch(const spdlog::details::log_msg* first, std::size_t count,
                           std::size_t& taken) = 0;

    /// Passes the formatted text to the system. Called after a batch, at most once in
    /// `write_interval`.
    virtual void end_batch() = 0;

    /// Returns true if end_batch() should not wait for `write_interval`, because of much text.
    virtual bool has_much() const { return false; }
};

}  // namespace sluice::log
