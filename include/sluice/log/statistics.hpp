#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::log {

/// Counts of one lane (the queue of a thread), or of all lanes. Concurrent counts may lag slightly.
struct lane_statistics {
    std::uint64_t logged = 0;             ///< accepted records
    std::uint64_t rejected = 0;           ///< records refused: lane full, no memory, back end ended
    std::uint64_t dropped = 0;            ///< accepted records that Overflow::dropOldest removed
    std::size_t messages = 0;             ///< accepted records that are not yet written
    std::size_t bytes = 0;                ///< bytes of accepted records in the lanes
    std::size_t high_water_messages = 0;  ///< most records that the back end found in one lane
    std::size_t high_water_bytes = 0;     ///< most bytes that the back end found in one lane
    std::uint64_t stalls = 0;             ///< log calls that were preempted and delayed the output
};

/// The counts of one logging thread. A thread that logs errors has a second entry for errors.
struct thread_statistics : lane_statistics {
    std::uint64_t thread_id = 0;  ///< the operating system's thread id, which %t prints
    std::string thread_name;      ///< name of the thread at its first record
    bool errors = false;          ///< true: counts level err and above; false: lower levels
};

/// The counts of a back end. While no thread logs, the counts satisfy:
///
///     logged = written + lost_in_sinks + dropped + messages
struct backend_statistics : lane_statistics {
    std::uint64_t written = 0;             ///< records that all sinks of their logger accepted
    std::uint64_t lost_in_sinks = 0;       ///< records whose sink or formatter threw
    std::uint64_t rejected_after_end = 0;  ///< records rejected after the end of the back end
    std::vector<thread_statistics> threads;
};

}  // namespace sluice::log
