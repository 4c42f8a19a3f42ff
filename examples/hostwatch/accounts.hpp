#pragma once

#include "delay_histogram.hpp"
#include "samples.hpp"
#include "transport.hpp"

#include <sluice/base/platform.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>

namespace hostwatch {

/// How often a file was read, and how often reading it failed. Counting is far from any hot path,
/// so a mutex is enough.
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

/// The counts of one sampler. Other threads may read `attempts` only after its thread has ended,
/// and `reading` at any time.
struct alignas(sluice::cacheLineSize) Account {
    Tally attempts{};
    ReadingAccount reading;
};

using Accounts = std::array<Account, sourceCount>;

/// How many messages of lower priority were handled while alarms waited. Unlike the time, it does
/// not depend on when the consumer got a processor.
struct Overtaken {
    std::uint64_t byOneAtMost = 0;  ///< alarms that waited for one other message, or none
    std::uint64_t byMore = 0;
    std::uint64_t most = 0;
};

/// The counts of the consumer.
class Deliveries {
public:
    /// `Overtaken::most` stops here.
    static constexpr std::size_t remembered = 4096;

    /// `returned` is when the publication of an alarm had returned, if it has.
    template <class Message>
    void record(const Message&, const Header& header,
                std::optional<Clock::time_point> returned = std::nullopt) noexcept {
        const std::size_t priority = indexOf(header.priority);
        const Clock::time_point now = Clock::now();
        ++counts_[MessageTypes::indexOf<Message>][priority];
        delays_[priority].record(now - header.timeStamp);
        if constexpr (std::is_same_v<Message, Alarm>) {
            const std::uint64_t others = returned ? handledSince(*returned) : 0;
            ++(others <= 1 ? overtaken_.byOneAtMost : overtaken_.byMore);
            overtaken_.most = std::max(overtaken_.most, others);
        } else {
            handledAt_[handled_++ % remembered] = now;
        }
    }

    const Tally& counts() const noexcept { return counts_; }
    /// From publishing to handling.
    const DelayHistogram& delays(Priority priority) const noexcept {
        return delays_[indexOf(priority)];
    }
    const Overtaken& overtaken() const noexcept { return overtaken_; }

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
    Overtaken overtaken_;
    std::array<Clock::time_point, remembered> handledAt_{};
    std::uint64_t handled_ = 0;
};

}  // namespace hostwatch
