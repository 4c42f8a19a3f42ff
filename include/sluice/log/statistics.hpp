#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::log {

/// The counts of one thread, or of all. While threads log, each number belongs to a moment during
/// the call.
struct lane_statistics {
    std::uint64_t logged = 0;             ///< accepted records
    std::uint64_t discarded = 0;          ///< refused, because there was no room
    std::uint64_t overrun = 0;            ///< accepted, and evicted by later records
    std::uint64_t lost = 0;               ///< begun by a thread that was cancelled or died
    std::size_t messages = 0;             ///< accepted and not yet written
    std::size_t bytes = 0;                ///< the bytes of these records
    std::size_t high_water_messages = 0;  ///< the most that a look found in one lane
    std::size_t high_water_bytes = 0;
    std::uint64_t stalls = 0;  ///< interrupted log calls that delayed the output
    std::chrono::nanoseconds longest_stall{0};
};

struct thread_statistics : lane_statistics {
    std::uint64_t thread_id = 0;  ///< the system's number, which %t prints
    std::string thread_name;      ///< its name at its first record
};

/// The counts of a back end. While no thread logs: logged = written + lost_in_sinks + overrun +
/// messages.
struct backend_statistics : lane_statistics {
    std::uint64_t written = 0;           ///< records that all sinks of their logger have taken
    std::uint64_t lost_in_sinks = 0;     ///< records that a sink did not take, or not formatted
    std::uint64_t refused = 0;           ///< records that came after the end
    std::uint64_t ignored_stalls = 0;    ///< stalls that lasted longer than max_hold
    std::uint64_t order_violations = 0;  ///< records printed out of order after such a stall
    std::uint64_t dead_threads = 0;      ///< threads that died without their destructors
    std::vector<thread_statistics> threads;
};

}  // namespace sluice::log
