#pragma once

/// \file
/// Harvest pacing: a pause that lets batches grow while messages flow.
///
/// A consumer that polls again at once reads the cache line that the producer is filling. So both
/// wait for the transfer of this line, for each message. If the consumer waits a few hundred
/// nanoseconds after a small batch, the next batch has many lines, which travel together. The same
/// holds for a producer that finds a queue full. Measured gains: docs/decisions/harvest-pacing.md.
///
/// Use HarvestPacing for throughput; it is the default in all loops of Sluice. Use NoPacing if a
/// few hundred nanoseconds of latency under load matter more. An idle queue has the same latency
/// with both, because there is no pause after an empty poll.

#include <sluice/base/platform.hpp>

#include <chrono>
#include <cstddef>

namespace sluice {

/// Pauses after small batches. Each polling thread has an object of its own; it has no shared
/// state.
///
/// Cost: a comparison per harvest, and a clock reading per step of a pause. It spins and makes no
/// system call. A pause is too long by at most one clock reading and one pause instruction.
template <class Platform = StdPlatform>
class BasicHarvestPacing {
public:
    struct Options {
        /// After a harvest of at least this many messages there is no pause.
        std::size_t enough = 512;
        /// The length of one pause. A message that arrives during a pause is delayed by at most
        /// twice this length.
        std::chrono::nanoseconds pause{600};
        /// After a harvest of at least this many messages the pause is twice as long. If messages
        /// come faster, more of them are slowed down each time the consumer reaches the producer.
        std::size_t dense = 24;
    };

    constexpr BasicHarvestPacing() noexcept : BasicHarvestPacing(Options{}) {}
    constexpr explicit BasicHarvestPacing(const Options& options) noexcept : options_(options) {}

    /// Called after each poll, with the number of messages that it delivered.
    void harvested(std::size_t count) const noexcept {
        if (count != 0 && count < options_.enough) {
            pauseFor(count < options_.dense ? options_.pause : 2 * options_.pause);
        }
    }

    /// Called by a producer that found the queue full, before it tries again.
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

/// Never pauses. It has the lowest latency under load, and less throughput.
class NoPacing {
public:
    void harvested(std::size_t) const noexcept {}
    void full() const noexcept {}
};

}  // namespace sluice
