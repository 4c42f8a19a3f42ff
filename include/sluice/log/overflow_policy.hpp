#pragma once

namespace sluice::log {

/// The treatment of a record when the calling thread's lane has no room. Each logger has its own
/// policy. Each thread has its own room, in messages and in bytes. So a thread that logs too much
/// takes no room from other threads.
enum class overflow_policy : unsigned char {
    /// The caller waits until the back end has made room. No record is lost. Exception: a sink, or
    /// an error handler, never waits when it logs. Its record is discarded and counted.
    block,
    /// The oldest unwritten records of this thread make room. They are counted.
    overrun_oldest,
    /// The new record is discarded. It is counted.
    discard_new
};

}  // namespace sluice::log
