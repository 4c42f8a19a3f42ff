#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::log {

/// Of one thread, or of all. While threads log, each number is as of some moment during the call.
struct lane_statistics {
    std::uint64_t logged = 0;             ///< records taken
    std::uint64_t discarded = 0;          ///< not taken for want of room
    std::uint64_t overrun = 0;            ///< taken, and made room for later ones
    std::uint64_t lost = 0;               ///< half made by a thread that was cancelled, or died
    std::size_t messages = 0;             ///< taken and not yet written
    std::size_t bytes = 0;                ///< that those take
    std::size_t high_water_messages = 0;  ///< most that the back end has found in one thread's lane
    std::size_t high_water_bytes = 0;
    std::uint64_t stalls = 0;  ///< how often an interrupted log call held up the output
    std::chrono::nanoseconds longest_stall{0};
};

struct thread_statistics : lane_statistics {
    std::uint64_t thread_id = 0;  ///< as the system numbers it, and as %t prints it
    std::string thread_name;      ///< what it was called at its first record
};

/// Of a back end. When nobody logs: logged = written + lost_in_sinks + overrun + messages.
struct backend_statistics : lane_statistics {
    std::uint64_t written = 0;           ///< taken by every sink of their logger
    std::uint64_t lost_in_sinks = 0;     ///< not taken by at least one sink, or not formatted
    std::uint64_t refused = 0;           ///< came after the end
    std::uint64_t ignored_stalls = 0;    ///< that lasted longer than max_hold
    std::uint64_t order_violations = 0;  ///< records printed out of order after such a stall
    std::uint64_t dead_threads = 0;      ///< that ended without running their destructors
    std::vector<thread_statistics> threads;
};

}  // namespace sluice::log
