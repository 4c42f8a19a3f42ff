#pragma once

namespace sluice::log {

/// What happens to a record when the calling thread's lane has no room. Each logger has its own
/// policy. Each thread has its own room, in records and in bytes, so a thread that logs too much
/// takes no room from other threads.
enum class overflow_policy : unsigned char {
    /// The caller waits until the back end has made room, so no record is lost. Exception: a sink
    /// or an error handler that logs never waits. Its record is discarded and counted.
    block,
    /// The oldest unwritten records of this thread are discarded to make room. They are counted as
    /// overrun.
    overrun_oldest,
    /// The new record is discarded. It is counted as discarded.
    discard_new
};

}  // namespace sluice::log
