#pragma once

#include <sluice/actor/detail/timer_slots.hpp>
#include <sluice/actor/timer.hpp>
#include <sluice/base/assert.hpp>
#include <sluice/base/counter.hpp>
#include <sluice/bus/messages.hpp>
#include <sluice/wait/park.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

namespace sluice::detail {

/// A message of any type in MessageList, with its header.
template <class MessageList, class Traits>
class PostedMessage;

template <class... Ts, class Traits>
class PostedMessage<Messages<Ts...>, Traits> {
public:
    using Header = MessageHeader<Traits>;

    template <class T, class... Args>
    PostedMessage(std::in_place_type_t<T> type, const PublishOptions& options, Args&&... args)
        : header(headerOf(options)), content_(type, std::forward<Args>(args)...) {}

    /// Calls receive(message, header).
    template <class Receive>
    void visit(const Receive& receive) const {
        (void)(receiveIf<Ts>(receive) || ...);
    }

    Header header;

private:
    static Header headerOf(const PublishOptions& options) noexcept {
        Header header{};
        header.set(OptionFields<Traits>(options), options.priority);
        return header;
    }

    template <class T, class Receive>
    bool receiveIf(const Receive& receive) const {
        const T* const message = std::get_if<T>(&content_);
        if (message != nullptr) {
            receive(*message, header);
        }
        return message != nullptr;
    }

    std::variant<Ts...> content_;
};

/// A heap of indices below Count, ordered by deadline and, for equal deadlines, by insertion.
template <class TimePoint, std::size_t Count>
class DeadlineHeap {
public:
    using Index = std::uint32_t;

    [[nodiscard]] bool isEmpty() const noexcept { return size_ == 0; }
    /// Requires a non-empty heap.
    [[nodiscard]] Index first() const noexcept { return nodes_[0].index; }
    [[nodiscard]] TimePoint earliest() const noexcept {
        return isEmpty() ? TimePoint::max() : nodes_[0].deadline;
    }
    [[nodiscard]] bool contains(Index index) const noexcept { return position_[index] != 0; }

    /// Inserts an index that is not in the heap.
    void insert(Index index, TimePoint deadline) noexcept {
        rise(size_++, Node{deadline, ++insertions_, index});
    }

    /// Removes an index that is in the heap.
    void remove(Index index) noexcept {
        const std::size_t hole = position_[index] - 1U;
        position_[index] = 0;
        const Node last = nodes_[--size_];
        if (hole == size_) {
            return;
        }
        if (hole != 0 && last.isBefore(nodes_[parentOf(hole)])) {
            rise(hole, last);
        } else {
            sink(hole, last);
        }
    }

private:
    struct Node {
        TimePoint deadline{};
        std::uint64_t insertion = 0;  ///< orders nodes with equal deadlines
        Index index = 0;

        [[nodiscard]] bool isBefore(const Node& other) const noexcept {
            return deadline != other.deadline ? deadline < other.deadline
                                              : insertion < other.insertion;
        }
    };

    static constexpr std::size_t width = 4;  ///< children per node; all fit in two cache lines
    static std::size_t parentOf(std::size_t node) noexcept { return (node - 1) / width; }

    void put(std::size_t node, const Node& value) noexcept {
        nodes_[node] = value;
        position_[value.index] = static_cast<Index>(node + 1);
    }

    void rise(std::size_t hole, const Node& value) noexcept {
        while (hole != 0 && value.isBefore(nodes_[parentOf(hole)])) {
            put(hole, nodes_[parentOf(hole)]);
            hole = parentOf(hole);
        }
        put(hole, value);
    }

    void sink(std::size_t hole, const Node& value) noexcept {
        for (std::size_t child = earliestChild(hole);
             child < size_ && nodes_[child].isBefore(value); child = earliestChild(hole)) {
            put(hole, nodes_[child]);
            hole = child;
        }
        put(hole, value);
    }

    /// Returns an index of at least size_ if the node has no child.
    [[nodiscard]] std::size_t earliestChild(std::size_t node) const noexcept {
        std::size_t earliest = node * width + 1;
        for (std::size_t child = earliest + 1; child <= node * width + width && child < size_;
             ++child) {
            if (nodes_[child].isBefore(nodes_[earliest])) {
                earliest = child;
            }
        }
        return earliest;
    }

    std::array<Node, Count> nodes_{};
    /// Maps each index to its position in nodes_ plus 1, or to 0 if the index is not in the heap.
    std::array<Index, Count> position_{};
    std::size_t size_ = 0;
    std::uint64_t insertions_ = 0;
};

/// The timers of one object, with their messages. Any thread may call arm(), cancel() and fired();
/// only the object's thread calls the other functions.
template <class MessageList, class Traits>
class ObjectTimers {
    using Platform = typename Traits::Platform;
    using Clock = typename Platform::Clock;
    using TimePoint = typename Clock::time_point;
    using Duration = typename Clock::duration;
    using Header = MessageHeader<Traits>;
    /// The maximum number of timers that fire between two batches of messages.
    static constexpr std::size_t batch = 32;

    /// Earlier deadlines become longAgo, so that differences between times cannot overflow.
    static constexpr TimePoint longAgo{Duration::min() / 2};

    struct Entry {
        template <class T>
        Entry(TimePoint first, Duration every, const PublishOptions& options, T&& value)
            : deadline(std::max(first, longAgo)),
              period(every),
              isHigh(options.priority == Priority::high),
              message(std::in_place_type<std::decay_t<T>>, options, std::forward<T>(value)) {}

        TimePoint deadline;
        Duration period;  ///< zero for a one-shot timer
        bool isHigh;
        PostedMessage<MessageList, Traits> message;
    };
    using Slots = TimerSlots<Platform, Entry, Traits::maxTimers>;
    using Index = typename Slots::Index;

public:
    /// Returns an empty Timer if no slot is free. The caller must wake the object's thread.
    template <class T>
    Timer arm(TimePoint first, Duration period, const PublishOptions& options, T&& message) {
        return slots_.arm(first, period, options, std::forward<T>(message));
    }
    bool cancel(Timer timer) noexcept { return slots_.cancel(timer); }
    [[nodiscard]] std::uint64_t fired() const noexcept { return fired_.get(); }

    // ---- The object's thread

    [[nodiscard]] bool hasChanges() const noexcept { return slots_.hasChanges(); }

    /// Applies the starts and cancellations of timers since the last call.
    void takeChanges() noexcept {
        slots_.takeChanges([this](Index index) { insert(index); },
                           [this](Index index) {
                               for (Queue* queue : {&high_, &others_}) {
                                   if (queue->contains(index)) {
                                       queue->remove(index);
                                   }
                               }
                           });
    }

    [[nodiscard]] TimePoint nextDeadline() const noexcept {
        return std::min(high_.earliest(), others_.earliest());
    }

    template <class ReadClock>
    [[nodiscard]] bool isHighDue(ReadClock readClock) {
        takeChanges();
        // Reads the clock only if a timer of high priority exists.
        return high_.earliest() != TimePoint::max() && high_.earliest() <= readClock();
    }

    /// Calls receive(message, header) for a batch of due timers, high priority first. Stops when
    /// isOver() returns true. Each timer fires at most once per fire() call. Returns the number of
    /// fired timers.
    template <class ReadClock, class IsOver, class Receive>
    std::size_t fire(ReadClock readClock, IsOver isOver, const Receive& receive) {
        takeChanges();
        if (nextDeadline() == TimePoint::max()) {
            return 0;  // without reading the clock
        }
        const TimePoint now = readClock();
        std::size_t count = 0;
        while (count < batch && nextDeadline() <= now && !isOver()) {
            Queue& queue = high_.earliest() <= now ? high_ : others_;
            const Index index = queue.first();
            queue.remove(index);
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
    /// Returns 0 if the timer has been cancelled; takeChanges() then frees its slot.
    template <class Receive>
    std::size_t fireLast(Index index, const Receive& receive) {
        if (!slots_.end(index)) {
            return 0;
        }
        const OnExit destroyEntry{[&] { slots_.destroyEntry(index); }};
        handle(slots_.entry(index), receive);
        return 1;
    }

    template <class Receive>
    std::size_t fireAgain(Index index, TimePoint now, const Receive& receive) {
        if (!slots_.begin(index)) {
            return 0;
        }
        Entry& entry = slots_.entry(index);
        const OnExit rearm{[&, next = following(entry, now)] {
            entry.deadline = next;
            if (slots_.rearm(index)) {
                insert(index);
            }
        }};
        handle(entry, receive);
        return 1;
    }

    /// The next deadline after `now`: entry.deadline plus a multiple of the period, so that a late
    /// handler does not shift later deadlines.
    static TimePoint following(const Entry& entry, TimePoint now) noexcept {
        const Duration untilNext = entry.period - (now - entry.deadline) % entry.period;
        return untilNext < TimePoint::max() - now ? now + untilNext : TimePoint::max();
    }

    void insert(Index index) noexcept {
        const Entry& entry = slots_.entry(index);
        (entry.isHigh ? high_ : others_).insert(index, entry.deadline);
    }

    /// The heap has one index more than maxTimers, for the spare slot of TimerSlots.
    using Queue = DeadlineHeap<TimePoint, Traits::maxTimers + 1>;
    Queue high_;                           ///< the timers of high priority
    Queue others_;                         ///< the other timers
    SingleWriterCounter<Platform> fired_;  ///< written by the object's thread
    Slots slots_;
};

struct NoTimers {
    static bool cancel(Timer /*timer*/) noexcept { return false; }
    static std::uint64_t fired() noexcept { return 0; }
    static bool hasChanges() noexcept { return false; }
    static void takeChanges() noexcept {}
};

template <class Traits>
inline constexpr bool hasTimers = Traits::maxTimers != 0;

/// Contains timers_, which takes no memory in an object without timers.
template <class MessageList, class Traits, bool HasTimers = hasTimers<Traits>>
struct TimersMember {
    ObjectTimers<MessageList, Traits> timers_;
};
template <class MessageList, class Traits>
struct TimersMember<MessageList, Traits, false> {
    inline static NoTimers timers_{};
};

/// Adds timers to Mailbox, which is a Posting or a PooledPosting.
template <class Mailbox, class MessageList, class Traits>
class Timing : public Mailbox, TimersMember<MessageList, Traits> {
    using TimersMember<MessageList, Traits>::timers_;

public:
    using Clock = typename Traits::Platform::Clock;

    /// Makes the object handle a message at `time`, or immediately if that time has passed. Returns
    /// an empty Timer if the object is closed or has Traits::maxTimers timers. `options` may be a
    /// Priority.
    template <class T, class Options = PublishOptions>
    [[nodiscard]] Timer postAt(typename Clock::time_point time, T&& message,
                               const Options& options = {}) {
        return arm(time, Clock::duration::zero(), optionsOf<Traits>(options),
                   std::forward<T>(message));
    }
    template <class Rep, class Period, class T, class Options = PublishOptions>
    [[nodiscard]] Timer postAfter(std::chrono::duration<Rep, Period> delay, T&& message,
                                  const Options& options = {}) {
        if (this->isClosed()) {
            return {};  // an unstarted PooledObject has no clock
        }
        return postAt(deadlineAfter(this->now(), delay), std::forward<T>(message), options);
    }
    /// Makes the object handle a message after each period. The period must be positive, and is
    /// rounded up to ticks of the clock.
    template <class Rep, class Period, class T, class Options = PublishOptions>
    [[nodiscard]] Timer postEvery(std::chrono::duration<Rep, Period> period, T&& message,
                                  const Options& options = {}) {
        if (this->isClosed()) {
            return {};
        }
        return postEveryFrom(deadlineAfter(this->now(), period), period, std::forward<T>(message),
                             options);
    }
    /// Makes the object handle a message at the time `first`, and then after each period.
    template <class Rep, class Period, class T, class Options = PublishOptions>
    [[nodiscard]] Timer postEveryFrom(typename Clock::time_point first,
                                      std::chrono::duration<Rep, Period> period, T&& message,
                                      const Options& options = {}) {
        SLUICE_ASSERT(period > period.zero(), "the period of a timer must be positive");
        if (!(period > period.zero())) {
            return {};
        }
        using Duration = typename Clock::duration;
        using Seconds = std::chrono::duration<double>;
        // Compares as double, because converting a very long period to Duration would overflow.
        const Duration ticks = Seconds(period) < Seconds(Duration::max())
                                   ? std::chrono::ceil<Duration>(period)
                                   : Duration::max();
        return arm(first, ticks, optionsOf<Traits>(options), std::forward<T>(message));
    }

    /// Returns false if the timer has ended; a one-shot timer ends before its handler is called. If
    /// cancel() returns true, the timer's handler may still be running, but is not called again.
    bool cancel(Timer timer) noexcept {
        const bool isCancelled = timers_.cancel(timer);
        if (isCancelled) {
            this->wakeOwner();
        }
        return isCancelled;
    }

    /// The number of timer messages passed to handlers.
    [[nodiscard]] std::uint64_t firedTimers() const noexcept { return timers_.fired(); }

protected:
    template <class... Args>
    explicit Timing(Args... args) : Mailbox(args...) {}
    ~Timing() = default;

    template <class IsOver, class Receive>
    std::size_t fireTimers([[maybe_unused]] IsOver isOver,
                           [[maybe_unused]] const Receive& receive) {
        if constexpr (hasTimers<Traits>) {
            return timers_.fire([this] { return this->now(); }, isOver, receive);
        } else {
            return 0;
        }
    }
    /// The earliest deadline; ignores timer changes that takeTimers() has not applied yet.
    [[nodiscard]] typename Clock::time_point nextDeadline() const noexcept {
        if constexpr (hasTimers<Traits>) {
            return timers_.nextDeadline();
        } else {
            return Clock::time_point::max();
        }
    }
    [[nodiscard]] bool hasTimerChanges() const noexcept { return timers_.hasChanges(); }
    [[nodiscard]] bool isHighTimerDue() {
        if constexpr (hasTimers<Traits>) {
            return timers_.isHighDue([this] { return this->now(); });
        } else {
            return false;
        }
    }
    void takeTimers() noexcept { timers_.takeChanges(); }

private:
    template <class T>
    Timer arm(typename Clock::time_point first, typename Clock::duration period,
              const PublishOptions& options, T&& message) {
        static_assert(hasTimers<Traits> || sizeof(T) == 0,
                      "this object has no timers: set maxTimers in its traits above 0");
        if constexpr (!hasTimers<Traits>) {
            return {};
        } else {
            if (!checkListed<MessageList, std::decay_t<T>>() || this->isClosed()) {
                return {};
            }
            Timer timer = timers_.arm(first, period, options, std::forward<T>(message));
            if (!timer && this->isHere()) {
                timers_.takeChanges();  // frees the slots of cancelled timers
                timer = timers_.arm(first, period, options, std::forward<T>(message));
            }
            this->wakeOwner();
            return timer;
        }
    }
};

/// Adds coroutines to an object; Base is Timing. The specialisation for objects with coroutines is
/// in <sluice/actor/coroutine.hpp>.
template <class Base, class Traits, bool IsOn = Traits::maxCoroutines != 0>
class Coroutines;

template <class Base, class Traits>
class Coroutines<Base, Traits, false> : public Base {
protected:
    template <class... Args>
    explicit Coroutines(Args... args) : Base(args...) {}
    ~Coroutines() = default;

    void endCoroutines() noexcept {}
    [[nodiscard]] static constexpr bool hasCoroutines() noexcept { return false; }
};

}  // namespace sluice::detail
