#pragma once

#include <sluice/base/counter.hpp>
#include <sluice/log/detail/backend/logger_list.hpp>
#include <sluice/log/detail/backend/sink_writer.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <atomic>
#include <cstdint>

namespace sluice::log::detail {

/// The flushes of loggers that were requested and not carried out yet. Each logger stores one
/// stamp, so any number of requests takes no memory. Any thread may call want(). The harvesting
/// thread calls the other members.
class FlushRequests {
public:
    /// Requests a flush of the logger's sinks after all records with smaller stamps are written.
    void want(LoggerState& logger, Stamp stamp) noexcept {
        storeMax(logger.flushWanted, stamp);
        wanted_.fetch_add(1, std::memory_order_release);
    }

    /// Carries out the requests with stamps up to `limit`. All records with smaller stamps are
    /// written. A request that was taken keeps its stamp, so later requests cannot delay it.
    void carryOut(LoggerList& loggers, SinkWriter& writer, Stamp limit) noexcept {
        const std::uint64_t wanted = wanted_.load(std::memory_order_acquire);
        if (wanted == done_) {
            return;
        }
        bool isDone = true;
        loggers.forEach(
            [&](LoggerState& logger) { isDone = carryOut(logger, writer, limit) && isDone; });
        done_ = isDone ? wanted : done_;
    }

    /// The same for one logger. False if its request has to wait.
    static bool carryOut(LoggerState& logger, SinkWriter& writer, Stamp limit) noexcept {
        // After a flush it looks again: a thread may have requested another flush meanwhile.
        for (;;) {
            if (logger.flushTaken == 0) {
                // Relaxed: wanted_ was acquired.
                logger.flushTaken = logger.flushWanted.exchange(0, std::memory_order_relaxed);
            }
            if (logger.flushTaken == 0) {
                return true;
            }
            if (logger.flushTaken > limit) {
                return false;
            }
            logger.flushTaken = 0;
            writer.flush(logger);
        }
    }

    /// Called in the child of a fork. The parent carries out the earlier requests.
    static void forget(LoggerState& logger) noexcept {
        logger.flushTaken = 0;
        logger.flushWanted.store(0, std::memory_order_relaxed);  // relaxed: there is one thread
    }

private:
    std::atomic<std::uint64_t> wanted_{0};  ///< number of want() calls
    std::uint64_t done_ = 0;                ///< value of wanted_ when no request was left
};

}  // namespace sluice::log::detail
