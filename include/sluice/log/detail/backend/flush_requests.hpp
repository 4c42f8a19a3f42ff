#pragma once

#include <sluice/base/store_max.hpp>
#include <sluice/log/detail/backend/logger_list.hpp>
#include <sluice/log/detail/backend/sink_writer.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <atomic>
#include <cstdint>

namespace sluice::log::detail {

/// Flushes of loggers that are wanted and not yet carried out. Each logger has one key, so any
/// number of them takes no memory. Any thread may call want(); the others belong to who harvests.
class FlushRequests {
public:
    /// The sinks are to be flushed when every record with a smaller key is written.
    void want(LoggerState& logger, Key key) noexcept {
        storeMax(logger.flushWanted, key);
        wanted_.fetch_add(1, std::memory_order_release);
    }

    /// Every record with a key below `limit` is written. A flush that is taken waits for its limit;
    /// those that are wanted meanwhile cannot put it off.
    void carryOut(LoggerList& loggers, SinkWriter& writer, Key limit) noexcept {
        const std::uint64_t wanted = wanted_.load(std::memory_order_acquire);
        if (wanted == done_) {
            return;
        }
        bool isDone = true;
        loggers.forEach(
            [&](LoggerState& logger) { isDone = carryOut(logger, writer, limit) && isDone; });
        done_ = isDone ? wanted : done_;
    }

    /// The same for one logger. False when its flush has to wait.
    static bool carryOut(LoggerState& logger, SinkWriter& writer, Key limit) noexcept {
        // Again after a flush: one that was wanted while an earlier one waited is still there.
        for (;;) {
            if (logger.flushTaken == 0) {
                // Relaxed: the count of flushes was acquired.
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

    /// In the child of a fork: what was wanted is the parent's to do.
    static void forget(LoggerState& logger) noexcept {
        logger.flushTaken = 0;
        logger.flushWanted.store(0, std::memory_order_relaxed);  // relaxed: there is one thread
    }

private:
    std::atomic<std::uint64_t> wanted_{0};  // calls of want()
    std::uint64_t done_ = 0;                // of them: those that nothing is left of
};

}  // namespace sluice::log::detail
