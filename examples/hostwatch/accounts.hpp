#pragma once

#include "delay_histogram.hpp"
#include "samples.hpp"
#include "transport.hpp"

#include <sluice/base/cache_line.hpp>

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

/// What the consumer counts for itself.
struct Deliveries {
    Tally counts{};
    std::array<DelayHistogram, priorityCount> delays;  ///< from publishing to handling

    template <class Message>
    void record(const Message&, const Header& header) noexcept {
        const std::size_t priority = indexOf(header.priority);
        ++counts[MessageTypes::indexOf<Message>][priority];
        delays[priority].record(Clock::now() - header.timeStamp);
    }
};

}  // namespace hostwatch
