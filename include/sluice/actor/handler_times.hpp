#pragma once

#include <sluice/base/counter.hpp>
#include <sluice/base/on_exit.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <type_traits>

namespace sluice {

/// The number and durations of an object's handler calls. Without Traits::handlerTimes, all
/// durations are zero. While the object runs, the values may be inconsistent with each other.
struct HandlerTimes {
    std::uint64_t handled = 0;  ///< handler calls, including those for timers
    std::chrono::nanoseconds inHandlers{0};
    std::chrono::nanoseconds longestHandler{0};
    /// The total time from the messages' time stamps to their handler calls; 0 without time stamps.
    std::chrono::nanoseconds inQueue{0};
    std::chrono::nanoseconds longestInQueue{0};
};

namespace detail {

/// The maximum and the saturating sum of durations. Only one thread may call add().
template <class Platform>
class DurationBook {
    using Nanoseconds = std::chrono::nanoseconds;

public:
    void add(Nanoseconds duration) noexcept {
        if (duration.count() <= 0) {
            return;
        }
        const auto ticks = static_cast<std::uint64_t>(duration.count());
        constexpr auto most = static_cast<std::uint64_t>(Nanoseconds::max().count());
        sum_.set(std::min(sum_.get() + ticks, most));
        if (ticks > longest_.get()) {
            longest_.set(ticks);
        }
    }
    [[nodiscard]] Nanoseconds sum() const noexcept { return durationOf(sum_); }
    [[nodiscard]] Nanoseconds longest() const noexcept { return durationOf(longest_); }

private:
    // Not a SingleWriterCounter, which may have only 32 bits: 4 seconds in nanoseconds.
    using Number = SingleWriterNumber<Platform>;
    static Nanoseconds durationOf(const Number& number) noexcept {
        return Nanoseconds(static_cast<Nanoseconds::rep>(number.get()));
    }

    Number sum_;
    Number longest_;
};

/// Calls the handlers of one object, counts the calls and, if Traits::handlerTimes, measures them.
template <class Traits, bool Counts>
class HandlerBook {
    using Platform = typename Traits::Platform;
    struct Durations {
        DurationBook<Platform> inHandlers;
        DurationBook<Platform> inQueue;
    };
    struct Nothing {};

public:
    template <class Header, class ReadClock, class Call>
    void call([[maybe_unused]] const Header& header, [[maybe_unused]] ReadClock readClock,
              Call handle) {
        if constexpr (Counts || Traits::handlerTimes) {
            book_.handled.add(1);
        }
        if constexpr (Traits::handlerTimes) {
            const auto start = readClock();
            if constexpr (Header::hasTimeStamp) {
                book_.inQueue.add(start - header.timeStamp);
            }
            const OnExit addTime{[&] { book_.inHandlers.add(readClock() - start); }};
            handle();
        } else {
            handle();
        }
    }

    [[nodiscard]] std::uint64_t handled() const noexcept { return book_.handled.get(); }
    [[nodiscard]] HandlerTimes times() const noexcept {
        HandlerTimes times;
        times.handled = handled();
        if constexpr (Traits::handlerTimes) {
            times.inHandlers = book_.inHandlers.sum();
            times.longestHandler = book_.inHandlers.longest();
            times.inQueue = book_.inQueue.sum();
            times.longestInQueue = book_.inQueue.longest();
        }
        return times;
    }

private:
    struct Book : std::conditional_t<Traits::handlerTimes, Durations, Nothing> {
        SingleWriterCounter<Platform> handled;
    };
    Book book_;
};

}  // namespace detail

}  // namespace sluice
