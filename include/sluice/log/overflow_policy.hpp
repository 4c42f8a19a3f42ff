#pragma once

namespace sluice::log {

/// What becomes of a record for which the calling thread's lane has no room. Each logger has its
/// own policy; room is that of the calling thread alone, in messages and in bytes, so a thread that
/// logs too much takes nothing from the others.
enum class overflow_policy : unsigned char {
    /// The caller waits until the back end has made room. Nothing is lost. A back end's own thread
    /// (a sink or an error handler that logs) never waits: its record is discarded and counted.
    block,
    /// The oldest records of this thread that were not written yet make room. They are counted.
    overrun_oldest,
    /// The new record is not taken. It is counted.
    discard_new
};

}  // namespace sluice::log
