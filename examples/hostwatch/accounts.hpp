#pragma once

#include "delay_histogram.hpp"
#include "samples.hpp"

#include <sluice/base/cache_line.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

namespace hostwatch {

/// What became of the messages of one producer.
struct Counts {
    std::uint64_t attempted = 0;
    std::uint64_t accepted = 0;
    std::uint64_t rejected = 0;
    std::uint64_t delivered = 0;

    /// Accepted but not handled yet. Meaningful while nobody publishes.
    std::uint64_t queued() const noexcept { return accepted - delivered; }

    /// Whether every message is accounted for, when `stillQueued` of them lie in the queue.
    bool addUp(std::uint64_t stillQueued) const noexcept {
        return attempted == accepted + rejected && accepted == delivered + stillQueued;
    }

    Counts& operator+=(const Counts& other) noexcept {
        attempted += other.attempted;
        accepted += other.accepted;
        rejected += other.rejected;
        delivered += other.delivered;
        return *this;
    }
};

/// One producer's side of the account: written by its thread alone, read by anybody.
///
/// A single writer needs no atomic addition, and nothing is published through these counters, so
/// relaxed loads and stores are enough; joining the thread makes the final values exact.
class alignas(sluice::cacheLineSize) ProducerAccount {
public:
    void countAttempt() noexcept { increment(attempted_); }
    void countOutcome(bool accepted) noexcept { increment(accepted ? accepted_ : rejected_); }

    /// While the producer runs these are three separate glances, not one moment.
    Counts counts(std::uint64_t delivered) const noexcept {
        return {attempted_.load(std::memory_order_relaxed),
                accepted_.load(std::memory_order_relaxed),
                rejected_.load(std::memory_order_relaxed), delivered};
    }

private:
    using Counter = std::atomic<std::uint64_t>;

    static void increment(Counter& counter) noexcept {
        counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }

    Counter attempted_{0};
    Counter accepted_{0};
    Counter rejected_{0};
};

/// How often a file was read and how often in vain. Far from any hot path, so a mutex will do.
class ReadingAccount {
public:
    struct Readings {
        std::uint64_t total = 0;
        std::uint64_t faulty = 0;
        std::string firstProblem;  ///< names the file; empty when none was faulty
    };

    void countGood() {
        const std::lock_guard<std::mutex> lock(mutex_);
        ++readings_.total;
    }

    void countFaulty(const std::string& problem) {
        const std::lock_guard<std::mutex> lock(mutex_);
        ++readings_.total;
        if (readings_.faulty++ == 0) {
            readings_.firstProblem = problem;
        }
    }

    Readings readings() const {
        const std::lock_guard<std::mutex> lock(mutex_);
        return readings_;
    }

private:
    mutable std::mutex mutex_;
    Readings readings_;
};

/// Everything that is counted about one source. `delivered` and `delays` belong to the consumer.
struct Account {
    ProducerAccount producer;
    ReadingAccount reading;
    std::uint64_t delivered = 0;
    DelayHistogram delays;

    Counts counts() const noexcept { return producer.counts(delivered); }
};

using Accounts = std::array<Account, sourceCount>;

}  // namespace hostwatch
