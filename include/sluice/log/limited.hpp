#pragma once

/// \file
/// Rate-limited log calls: once, every n times, or at most n times a second.
///
///     SLUICE_LOG_ONCE(logger, spdlog::level::warn, "{} is deprecated", name);
///     SLUICE_LOG_EVERY(1000, logger, spdlog::level::info, "{} packets", count);
///     SLUICE_LOG_AT_MOST(5, logger, spdlog::level::err, "cannot reach {}", host);
///
/// Each call site (in a template: each instance) has one count for all threads and loggers. Calls
/// below the logger's level are not counted. A call that is held back does not evaluate its
/// arguments. `n` may have any type that static_cast converts to std::uint64_t; 0 counts as 1.
///
/// SLUICE_LOG_AT_MOST logs the first n calls of each second; n is at most 16,777,215. A second
/// begins with the first call after the previous second has passed. If calls were held back, the
/// line "N messages held back" precedes the next message.
///
/// Thread safety: no call waits. The counts use relaxed operations and order no memory access.

#include <sluice/log/deferred.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace sluice::log::detail {

class OnceLimit {
public:
    bool passes() noexcept {
        return !done_.load(std::memory_order_relaxed) &&
               !done_.exchange(true, std::memory_order_relaxed);
    }

private:
    std::atomic<bool> done_{false};
};

class EveryLimit {
public:
    bool passes(std::uint64_t n) noexcept {
        const std::uint64_t before = calls_.fetch_add(1, std::memory_order_relaxed);
        return before % std::max(n, std::uint64_t{1}) == 0;
    }

private:
    std::atomic<std::uint64_t> calls_{0};
};

class RateLimit {
public:
    bool passes(std::uint64_t n, std::chrono::steady_clock::time_point time) noexcept {
        const auto now = static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count());
        const std::uint64_t most = std::clamp(n, std::uint64_t{1}, countMask);
        std::uint64_t state = state_.load(std::memory_order_relaxed);
        std::uint64_t next = 0;
        do {
            // If another thread has begun a later second, the call counts for that second.
            const bool isOver = state == 0 || now >= (state >> countBits) + 1000;
            if (!isOver && (state & countMask) >= most) {
                heldBack_.fetch_add(1, std::memory_order_relaxed);
                return false;
            }
            next = isOver ? (now << countBits) | 1 : state + 1;
        } while (!state_.compare_exchange_weak(state, next, std::memory_order_relaxed));
        return true;
    }

    /// Returns the number of calls held back since the last takeHeldBack().
    std::uint64_t takeHeldBack() noexcept {
        return heldBack_.load(std::memory_order_relaxed) == 0
                   ? 0
                   : heldBack_.exchange(0, std::memory_order_relaxed);
    }

private:
    // state_ holds a second and its call count, so that both change together. The upper 40 bits are
    // the second's beginning in milliseconds, enough for 34 years. The lower 24 bits count calls.
    static constexpr unsigned countBits = 24;
    static constexpr std::uint64_t countMask = (std::uint64_t{1} << countBits) - 1;

    std::atomic<std::uint64_t> state_{0};  ///< 0: no call has passed yet
    std::atomic<std::uint64_t> heldBack_{0};
};

}  // namespace sluice::log::detail

/// Implements the rate-limited macros; the expression `passes` uses the variable sluiceLimit.
#define SLUICE_LOG_LIMITED(Limit, passes, logger, severity_, ...)                                  \
    do {                                                                                           \
        static ::sluice::log::detail::Limit sluiceLimit;                                           \
        auto&& sluiceLimitedHandle = logger;                                                       \
        auto& sluiceLimited = ::sluice::log::detail::loggerOf(sluiceLimitedHandle);                \
        if (::sluice::log::detail::isWanted(sluiceLimited, severity_) && passes) {                 \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
    } while (false)

/// SLUICE_LOG_ONCE(logger, severity, "format {}", arguments...): logs the first call.
#define SLUICE_LOG_ONCE(logger, severity_, ...)                                                    \
    SLUICE_LOG_LIMITED(OnceLimit, sluiceLimit.passes(), logger, severity_,                         \
                       SLUICE_LOG(sluiceLimited, severity_, __VA_ARGS__))

/// SLUICE_LOG_EVERY(n, logger, severity, "format {}", arguments...): logs one of n calls.
#define SLUICE_LOG_EVERY(n, logger, severity_, ...)                                                \
    SLUICE_LOG_LIMITED(EveryLimit, sluiceLimit.passes(static_cast<std::uint64_t>(n)), logger,      \
                       severity_, SLUICE_LOG(sluiceLimited, severity_, __VA_ARGS__))

/// SLUICE_LOG_AT_MOST(n, logger, severity, "format {}", arguments...): logs n calls a second.
#define SLUICE_LOG_AT_MOST(n, logger, severity_, ...)                                              \
    SLUICE_LOG_LIMITED(                                                                            \
        RateLimit,                                                                                 \
        sluiceLimit.passes(static_cast<std::uint64_t>(n), std::chrono::steady_clock::now()),       \
        logger, severity_,                                                                         \
        if (const auto sluiceHeldBack = sluiceLimit.takeHeldBack(); sluiceHeldBack != 0) {         \
            SLUICE_LOG(sluiceLimited, severity_, "{} messages held back", sluiceHeldBack);         \
        } SLUICE_LOG(sluiceLimited, severity_, __VA_ARGS__))
