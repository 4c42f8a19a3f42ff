#pragma once

#include <sluice/base/platform.hpp>

#include <chrono>
#include <cstddef>

namespace sluice {

/// A pacing policy that pauses after small batches, so that the next batch grows.
///
/// A consumer that polls again immediately reads the cache line that the producer is filling, so
/// both wait for its transfer for each message. After a pause, many lines travel together. Measured
/// gains: docs/decisions/batch-pacing.md.
///
/// Use it for throughput; it is the default. Use NoPacing if a few hundred nanoseconds of latency
/// under load matter more. There is no pause after an empty poll, so an idle queue has the same
/// latency with both. It spins and makes no system call. Each polling thread uses an object of its
/// own.
template <class Platform = StdPlatform>
class BasicBatchPacing {
public:
    struct Options {
        /// After a batch of at least this many messages there is no pause.
        std::size_t enough = 512;
        /// The length of one pause, by which a message may be delayed; twice as long for dense
        /// batches.
        std::chrono::nanoseconds pause{600};
        /// A batch of at least this many messages is dense: its pause is twice as long.
        std::size_t dense = 24;
    };

    constexpr BasicBatchPacing() noexcept : BasicBatchPacing(Options{}) {}
    constexpr explicit BasicBatchPacing(const Options& options) noexcept : options_(options) {}

    /// Called after each poll, with the number of messages that it delivered.
    void polled(std::size_t count) const noexcept {
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

using BatchPacing = BasicBatchPacing<>;

/// Never pauses. It has the lowest latency under load, and less throughput.
class NoPacing {
public:
    void polled(std::size_t) const noexcept {}
    void full() const noexcept {}
};

}  // namespace sluice
