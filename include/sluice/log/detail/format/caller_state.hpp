#pragma once

#include <sluice/base/asymmetric_fence.hpp>
#include <sluice/log/detail/format/pair_codec.hpp>
#include <sluice/log/detail/format/thread_mdc.hpp>

#include <spdlog/details/os.h>

#include <cstdint>
#include <utility>

namespace sluice::log::detail {

/// The parts of a log call that come from its thread.
///
/// Each thread has one object, which all shared libraries share. It needs no destructor, so log
/// calls in other destructors of the thread may use it. A signal handler of the thread may also use
/// it, because each flag is set after its data and cleared before its data.
///
/// Tests: tests/unit/log/scoped_context_test.cpp, with_test.cpp, logger_test.cpp.
class CallerState {
public:
    /// The flags of a RecordHead that come from the thread. See RecordHead::Flags.
    static constexpr std::uint8_t keepsTime = 2;
    static constexpr std::uint8_t hasPairs = 16;

    /// Returns the flags for the next record of this thread.
    static std::uint8_t flags() noexcept {
        return static_cast<std::uint8_t>(state_.flags_ | (mdc() != nullptr ? hasPairs : 0U));
    }

    /// The system's number of the calling thread.
    static std::uint32_t thread() noexcept {
        if (__builtin_expect(state_.thread_ == 0, 0)) {
            findThread();
        }
        return state_.thread_;
    }

    /// Between beginOwnTime() and endOwnTime(), the records of the thread keep the times that the
    /// caller gives. Pairs of calls may be nested.
    static void beginOwnTime() noexcept {
        ++state_.ownTimes_;
        state_.flags_ |= keepsTime;
    }
    static void endOwnTime() noexcept {
        state_.ownTimes_ -= state_.ownTimes_ != 0 ? 1U : 0U;
        if (state_.ownTimes_ == 0) {
            state_.flags_ = static_cast<std::uint8_t>(state_.flags_ & ~keepsTime);
        }
    }

    /// Sets the pairs of the next record of this thread. Returns the earlier pairs.
    static PairList setPairs(PairList pairs) noexcept {
        const PairList before = state_.pairs_;
        clearPairFlag();
        state_.pairs_ = pairs;
        setPairFlag();
        return before;
    }

    /// Sets the context of this thread; null for none. Returns the earlier context.
    static const PairBytes* setContext(const PairBytes* context) noexcept {
        const PairBytes* const before = state_.context_;
        clearPairFlag();
        state_.context_ = context;
        setPairFlag();
        return before;
    }
    /// The content of spdlog's mdc of this thread; null for none.
    static const ThreadMdc::Map* mdc() noexcept {
        return state_.isTracing_ ? nullptr : ThreadMdc::findFull();
    }
    /// The context of this thread; empty for none.
    static PairBytes context() noexcept {
        return state_.context_ == nullptr ? PairBytes() : *state_.context_;
    }

    /// Between beginTrace() and endTrace(), the thread writes the lines of a backtrace. These lines
    /// come from earlier calls, so they get neither the time nor the context of the present call.
    static void beginTrace() noexcept {
        beginOwnTime();
        state_.isTracing_ = true;
        state_.hidden_ = setContext(nullptr);
    }
    static void endTrace() noexcept {
        endOwnTime();
        state_.isTracing_ = false;
        if (state_.hidden_ != nullptr) {
            setContext(std::exchange(state_.hidden_, nullptr));
        }
    }

private:
    static void clearPairFlag() noexcept {
        state_.flags_ = static_cast<std::uint8_t>(state_.flags_ & ~hasPairs);
        sluice::detail::compilerBarrier();
    }
    static void setPairFlag() noexcept {
        sluice::detail::compilerBarrier();
        if (state_.pairs_.count != 0 || state_.context_ != nullptr) {
            state_.flags_ |= hasPairs;
        }
    }
    [[gnu::cold, gnu::noinline]] static void findThread() noexcept {
        state_.thread_ = static_cast<std::uint32_t>(spdlog::details::os::thread_id());
    }

    std::uint8_t flags_ = 0;
    bool isTracing_ = false;
    std::uint32_t thread_ = 0;  ///< number of the thread; 0: not known yet
    /// Calls of beginOwnTime() without their endOwnTime().
    unsigned ownTimes_ = 0;
    PairList pairs_;
    const PairBytes* context_ = nullptr;
    const PairBytes* hidden_ = nullptr;  ///< the context that returns after a backtrace

    static thread_local CallerState state_;
};

[[gnu::visibility("default")]] inline thread_local CallerState CallerState::state_;

/// While a ScopedPairs lives, the next record of its thread has these pairs.
class ScopedPairs {
public:
    explicit ScopedPairs(PairList pairs) noexcept : before_(CallerState::setPairs(pairs)) {}
    ~ScopedPairs() { CallerState::setPairs(before_); }
    ScopedPairs(const ScopedPairs&) = delete;
    ScopedPairs& operator=(const ScopedPairs&) = delete;

private:
    const PairList before_;
};

}  // namespace sluice::log::detail
