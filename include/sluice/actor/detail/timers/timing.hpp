#pragma once

#include <sluice/actor/detail/timers/object_timers.hpp>
#include <sluice/actor/timer.hpp>
#include <sluice/base/assert.hpp>
#include <sluice/wait/deadline.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// Adds timers to a mailbox: messages that its object gets later. Without timers, which is the
/// default, it adds nothing to the object. Mailbox is Posting or PooledPosting.
template <class Mailbox, class MessageList, class Traits, bool IsOn = hasTimers<Traits>>
class Timing : public Mailbox {
    template <class... Args>
    static Timer refuse() {
        static_assert(sizeof...(Args) == 0,
                      "this object has no timers: set maxTimers in its traits above 0");
        return {};
    }

public:
    using Clock = typename Traits::Platform::Clock;

    template <class... Args>
    Timer postAt(Args&&...) {
        return refuse<Args...>();
    }
    template <class... Args>
    Timer postAfter(Args&&...) {
        return refuse<Args...>();
    }
    template <class... Args>
    Timer postEvery(Args&&...) {
        return refuse<Args...>();
    }
    template <class... Args>
    Timer postEveryFrom(Args&&...) {
        return refuse<Args...>();
    }

protected:
    template <class... Args>
    explicit Timing(Args... args) : Mailbox(args...) {}
    ~Timing() = default;

    template <class IsOver, class Receive>
    std::size_t fireTimers(IsOver, const Receive&, std::size_t = 0) {
        return 0;
    }
    /// The earliest deadline of the timers that takeTimers() has taken over.
    [[nodiscard]] static constexpr typename Clock::time_point nextDeadline() noexcept {
        return Clock::time_point::max();
    }
    [[nodiscard]] static constexpr bool hasTimerNews() noexcept { return false; }
    void takeTimers() noexcept {}
};

template <class Mailbox, class MessageList, class Traits>
class Timing<Mailbox, MessageList, Traits, true> : public Mailbox {
public:
    using Clock = typename Traits::Platform::Clock;

    /// Makes the object handle a message at this time. If the time has passed, the object handles
    /// the message at once. The result is empty if the object is closed, or if it has
    /// Traits::maxTimers timers already.
    template <class T>
    [[nodiscard]] Timer postAt(typename Clock::time_point time, T&& message,
                               const PublishOptions& options = {}) {
        return arm(time, Clock::duration::zero(), options, std::forward<T>(message));
    }
    /// Makes the object handle a message after this delay.
    template <class Rep, class Period, class T>
    [[nodiscard]] Timer postAfter(std::chrono::duration<Rep, Period> delay, T&& message,
                                  const PublishOptions& options = {}) {
        if (this->isClosed()) {
            return {};  // an object without an executor has no clock
        }
        return postAt(deadlineAfter(this->now(), delay), std::forward<T>(message), options);
    }
    /// Makes the object handle a message after each period, for the first time one period from now.
    /// The period must be positive. It is rounded up to ticks of the clock.
    template <class Rep, class Period, class T>
    [[nodiscard]] Timer postEvery(std::chrono::duration<Rep, Period> period, T&& message,
                                  const PublishOptions& options = {}) {
        if (this->isClosed()) {
            return {};
        }
        return postEveryFrom(deadlineAfter(this->now(), period), period, std::forward<T>(message),
                             options);
    }
    /// Makes the object handle a message at `first`, and then after each period.
    template <class Rep, class Period, class T>
    [[nodiscard]] Timer postEveryFrom(typename Clock::time_point first,
                                      std::chrono::duration<Rep, Period> period, T&& message,
                                      const PublishOptions& options = {}) {
        SLUICE_ASSERT(period > period.zero(), "the period of a timer must be positive");
        if (!(period > period.zero())) {
            return {};
        }
        using Duration = typename Clock::duration;
        using Seconds = std::chrono::duration<double>;
        // Compares as floating point, because the longest durations would overflow in the clock's
        // ticks.
        const Duration ticks = Seconds(period) < Seconds(Duration::max())
                                   ? std::chrono::ceil<Duration>(period)
                                   : Duration::max();
        return arm(first, ticks, options, std::forward<T>(message));
    }

    /// Ends a timer. Returns false if the timer has ended before; a timer that fires once ends
    /// before its handler is called. After true, no further call of its handler begins. If the
    /// caller is not a handler of the object, one call may still be running.
    bool cancel(Timer timer) noexcept {
        const bool isCancelled = timers_.cancel(timer);
        if (isCancelled) {
            this->tell();
        }
        return isCancelled;
    }

    /// The number of messages of timers that were passed to handlers.
    [[nodiscard]] std::uint64_t firedTimers() const noexcept { return timers_.fired(); }

protected:
    template <class... Args>
    explicit Timing(Args... args) : Mailbox(args...) {}
    ~Timing() = default;

    template <class IsOver, class Receive, class... Max>
    std::size_t fireTimers(IsOver isOver, const Receive& receive, Max... max) {
        return timers_.fire([this] { return this->now(); }, isOver, receive, max...);
    }
    [[nodiscard]] typename Clock::time_point nextDeadline() const noexcept {
        return timers_.nextDeadline();
    }
    [[nodiscard]] bool hasTimerNews() const noexcept { return timers_.hasNews(); }
    void takeTimers() noexcept { timers_.takeNews(); }

private:
    template <class T>
    Timer arm(typename Clock::time_point first, typename Clock::duration period,
              const PublishOptions& options, T&& message) {
        if (!checkListed<MessageList, std::decay_t<T>>() || this->isClosed()) {
            return {};
        }
        Timer timer = timers_.arm(first, period, options, std::forward<T>(message));
        if (!timer && this->isHere()) {
            // A handler that cancels and starts timers may use up the slots before its own thread
            // frees the cancelled ones.
            timers_.takeNews();
            timer = timers_.arm(first, period, options, std::forward<T>(message));
        }
        this->tell();
        return timer;
    }

    ObjectTimers<MessageList, Traits> timers_;
};

}  // namespace sluice::detail
