#pragma once

/// \file
/// Harvest pacing: letting a batch build up while messages flow.
///
/// A consumer that polls at a producer's heels takes over, message by message, the very cache line
/// the producer is filling, and both pay the transfer each time. Waiting a few hundred nanoseconds
/// after a small batch lets the next one grow to many lines, which then travel together. The same
/// holds for a producer in front of a full queue. Measured gains: docs/decisions/harvest-pacing.md.
///
/// Use HarvestPacing for throughput; it is the default wherever Sluice polls for you. Use NoPacing
/// when each few hundred nanoseconds of latency under load matter more. An idle queue keeps its
/// latency with both: after an empty poll the next one follows at once.

#include <sluice/base/platform.hpp>

#include <chrono>
#include <cstddef>

namespace sluice {

/// Pauses after small batches. One object per polling thread; it holds no shared state.
///
/// Cost: a comparison per harvest, and while it pauses a clock reading per step. It spins and makes
/// no system call; the overshoot of a pause is one clock reading plus one pause instruction.
template <class Platform = StdPlatform>
class BasicHarvestPacing {
public:
    struct Options {
        /// A harvest of at least so many messages is followed by the next one at once.
        std::size_t enough = 512;
        /// Length of one pause. Pacing adds at most twice that to the delay of a message
        /// that arrives while it lasts.
        std::chrono::nanoseconds pause{600};
        /// After a harvest of at least so many the pause is twice as long: the denser messages
        /// come, the more of them are slowed down each time the consumer catches up with the
        /// producer.
        std::size_t dense = 24;
    };

    constexpr BasicHarvestPacing() noexcept : BasicHarvestPacing(Options{}) {}
    constexpr explicit BasicHarvestPacing(const Options& options) noexcept : options_(options) {}

    /// To be called after each poll with the number of messages it delivered.
    void harvested(std::size_t count) const noexcept {
        if (count != 0 && count < options_.enough) {
            pauseFor(count < options_.dense ? options_.pause : 2 * options_.pause);
        }
    }

    /// To be called by a producer that found the queue full, before it tries again.
    void full() const noexcept { pauseFor(options_.pause); }

private:
    using Clock = typename Platform::Clock;

    static void pauseFor(std::chrono::nanoseconds length) noexcept {
        const auto end = Clock::now() + length;
        do {
            Platform::pause();
        } while (Clock::now() < end);
    }

    Options options_;
};

using HarvestPacing = BasicHarvestPacing<>;

/// Polls and retries at once, always: the lowest latency under load, at the price of throughput.
class NoPacing {
public:
    void harvested(std::size_t) const noexcept {}
    void full() const noexcept {}
};

}  // namespace sluice
