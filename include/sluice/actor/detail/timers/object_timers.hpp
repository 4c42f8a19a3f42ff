#pragma once

#include <sluice/actor/detail/mailbox/posted_message.hpp>
#include <sluice/actor/detail/timers/deadline_heap.hpp>
#include <sluice/actor/detail/timers/timer_slots.hpp>
#include <sluice/actor/timer.hpp>
#include <sluice/base/single_writer_counter.hpp>
#include <sluice/bus/message_header.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// The timers of one object, with their messages. Any thread may call arm(), cancel() and fired().
/// The object's thread calls the other functions.
template <class MessageList, class Traits>
class ObjectTimers {
    using Platform = typename Traits::Platform;
    using Clock = typename Platform::Clock;
    using TimePoint = typename Clock::time_point;
    using Duration = typename Clock::duration;
    using Header = MessageHeader<Traits>;
    /// After this many handlers of timers, the object handles messages.
    static constexpr std::size_t batch = 32;

    /// Earlier deadlines become this one, because their difference from the present time could
    /// overflow.
    static constexpr TimePoint longAgo{Duration::min() / 2};

    struct Entry {
        template <class T>
        Entry(TimePoint first, Duration every, const PublishOptions& options, T&& value)
            : deadline(std::max(first, longAgo)),
              period(every),
              message(std::in_place_type<std::decay_t<T>>, options, std::forward<T>(value)) {}

        TimePoint deadline;
        Duration period;  ///< zero: it fires once
        PostedMessage<MessageList, Traits> message;
    };
    using Slots = TimerSlots<Platform, Entry, Traits::maxTimers>;
    using Index = typename Slots::Index;

public:
    /// Starts a timer. Empty if there is no free timer. Afterwards the caller must wake the
    /// object's thread.
    template <class T>
    Timer arm(TimePoint first, Duration period, const PublishOptions& options, T&& message) {
        return slots_.arm(first, period, options, std::forward<T>(message));
    }
    bool cancel(Timer timer) noexcept { return slots_.cancel(timer); }
    [[nodiscard]] std::uint64_t fired() const noexcept { return fired_.get(); }

    // ---- The object's thread

    [[nodiscard]] bool hasNews() const noexcept { return slots_.hasNews(); }

    /// Takes over the timers that were started and cancelled.
    void takeNews() noexcept {
        slots_.takeNews([this](Index index) { queue_.insert(index, slots_.entry(index).deadline); },
                        [this](Index index) {
                            if (queue_.contains(index)) {
                                queue_.remove(index);
                            }
                        });
    }

    [[nodiscard]] TimePoint nextDeadline() const noexcept {
        return queue_.isEmpty() ? TimePoint::max() : queue_.earliest();
    }

    /// Calls receive(message, header) for timers that are due at readClock(): at most `max` of
    /// them, and until isOver(). A periodic timer fires at most once in a call. Returns the number
    /// of timers that fired.
    template <class ReadClock, class IsOver, class Receive>
    std::size_t fire(ReadClock readClock, IsOver isOver, const Receive& receive,
                     std::size_t max = batch) {
        takeNews();
        if (queue_.isEmpty()) {
            return 0;  // without reading the clock
        }
        const TimePoint now = readClock();
        std::size_t count = 0;
        while (count < max && !queue_.isEmpty() && queue_.earliest() <= now && !isOver()) {
            const Index index = queue_.first();
            queue_.remove(index);
            count += slots_.entry(index).period == Duration::zero()
                         ? fireLast(index, receive)
                         : fireAgain(index, now, receive);
        }
        return count;
    }

private:
    template <class Receive>
    void handle(Entry& entry, const Receive& receive) {
        if constexpr (Header::hasTimeStamp) {
            entry.message.header.timeStamp = entry.deadline;
        }
        fired_.add(1);
        entry.message.visit(receive);
        if constexpr (Header::hasId) {
            ++entry.message.header.id;
        }
    }
    /// Fires a timer for the last time. Returns 0 if the timer has been cancelled, otherwise 1.
    /// takeNews() frees the slot of a cancelled timer.
    template <class Receive>
    std::size_t fireLast(Index index, const Receive& receive) {
        if (!slots_.end(index)) {
            return 0;
        }
        struct DestroyEntry {
            Slots& slots;
            Index index;
            ~DestroyEntry() { slots.destroyEntry(index); }
        } const atEnd{slots_, index};
        handle(slots_.entry(index), receive);
        return 1;
    }

    template <class Receive>
    std::size_t fireAgain(Index index, TimePoint now, const Receive& receive) {
        if (!slots_.begin(index)) {
            return 0;
        }
        struct Rearm {
            ObjectTimers& timers;
            Index index;
            TimePoint next;
            ~Rearm() {
                timers.slots_.entry(index).deadline = next;
                if (timers.slots_.rearm(index)) {
                    timers.queue_.insert(index, next);
                }
            }
        };
        Entry& entry = slots_.entry(index);
        const Rearm rearm{*this, index, following(entry, now)};
        handle(entry, receive);
        return 1;
    }

    /// Returns the next deadline of a periodic timer: the first multiple of the period after `now`,
    /// counted from the first deadline. So a late handler does not delay later deadlines. Periods
    /// that have passed are skipped.
    static TimePoint following(const Entry& entry, TimePoint now) noexcept {
        const Duration untilNext = entry.period - (now - entry.deadline) % entry.period;
        return untilNext < TimePoint::max() - now ? now + untilNext : TimePoint::max();
    }

    /// Used by the object's thread only. One more than timers, because it is indexed by slots.
    DeadlineHeap<TimePoint, Traits::maxTimers + 1> queue_;
    SingleWriterCounter<Platform> fired_;  ///< written by the object's thread
    Slots slots_;
};

/// Whether the traits let an object have timers.
template <class Traits>
inline constexpr bool hasTimers = Traits::maxTimers != 0;

}  // namespace sluice::detail
