#pragma once

#include "delay_histogram.hpp"
#include "samples.hpp"
#include "transport.hpp"

#include <sluice/base/cache_line.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

namespace hostwatch {

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

/// What one sampler counts: messages for itself, until its thread has ended; readings for all.
struct alignas(sluice::cacheLineSize) Account {
    Tally attempts{};
    ReadingAccount reading;
};

using Accounts = std::array<Account, sourceCount>;

/// How many messages were handled while those of one priority waited. Unlike the time, it does not
/// depend on when the consumer got a processor.
struct Overtaken {
    std::uint64_t byOneAtMost = 0;  ///< messages that waited for one other, or none
    std::uint64_t most = 0;
};

/// What the consumer counts for itself.
class Deliveries {
public:
    /// `Overtaken::most` stops here.
    static constexpr std::size_t remembered = 4096;

    template <class Message>
    void record(const Message&, const Header& header) noexcept {
        const std::size_t priority = indexOf(header.priority);
        const Clock::time_point now = Clock::now();
        ++counts_[MessageTypes::indexOf<Message>][priority];
        delays_[priority].record(now - header.timeStamp);
        Overtaken& overtaken = overtaken_[priority];
        const std::uint64_t others = handledSince(header.timeStamp);
        overtaken.byOneAtMost += others <= 1 ? 1 : 0;
        overtaken.most = std::max(overtaken.most, others);
        handledAt_[handled_++ % remembered] = now;
    }

    const Tally& counts() const noexcept { return counts_; }
    /// From publishing to handling.
    const DelayHistogram& delays(Priority priority) const noexcept {
        return delays_[indexOf(priority)];
    }
    const Overtaken& overtaken(Priority priority) const noexcept {
        return overtaken_[indexOf(priority)];
    }

private:
    /// The times are in order, so half of them are left out at each step.
    std::uint64_t handledSince(Clock::time_point time) const noexcept {
        std::uint64_t first = handled_ - std::min<std::uint64_t>(handled_, remembered);
        for (std::uint64_t end = handled_; first != end;) {
            const std::uint64_t middle = first + (end - first) / 2;
            if (handledAt_[middle % remembered] > time) {
                end = middle;
            } else {
                first = middle + 1;
            }
        }
        return handled_ - first;
    }

    Tally counts_{};
    std::array<DelayHistogram, priorityCount> delays_;
    std::array<Overtaken, priorityCount> overtaken_;
    std::array<Clock::time_point, remembered> handledAt_{};
    std::uint64_t handled_ = 0;
};

}  // namespace hostwatch
