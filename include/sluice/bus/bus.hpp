#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/bus/bus_statistics.hpp>
#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/detail/bus_counts.hpp>
#include <sluice/bus/detail/handler_table.hpp>
#include <sluice/bus/detail/ring_for.hpp>
#include <sluice/bus/messages.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/bus/subscription.hpp>
#include <sluice/bus/visitor.hpp>
#include <sluice/wait/park.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sluice {

/// A bounded multi-producer, single-consumer bus of typed messages. Messages of one priority are
/// handled in the order of publication. By default, a high-priority message waits for at most one
/// message of lower priority.
///
///     sluice::Bus<sluice::Messages<Temperature, Stop>> bus;
///     const auto stops = bus.subscribe<Stop>([](const Stop& stop) { ... });
///     (void)bus.publish(Temperature{21.5});            // any thread
///     (void)bus.publish(Stop{}, sluice::Priority::high);
///     bus.process();                                   // the consumer; handles the stop first
///
/// Use a bus if message types differ in urgency, or if publishers must not block. Use EventQueue if
/// a run-time key selects the listeners. Use MpscRing for one message type and one reader.
///
/// Thread safety: only one thread at a time may call process*(), run*(), wait*() and discard(). Any
/// thread and any handler may call the other members. A handler must neither destroy its bus nor
/// end the calling thread. Signal handlers and forked children must not use a bus. A thread
/// preempted in publish() delays later messages of the same priority.
///
/// Errors: publish() returns `closed` after close(). By default, publish() returns `full` while the
/// priority's quota is used up. Messages being published or handled also use quota. A message whose
/// constructor throws is not published. If a handler throws, the bus counts the failure, notifies
/// the observer and calls the remaining handlers. Exceptions of a visitor propagate to the caller.
///
/// Performance: a bus allocates no memory. The size of a bus is often hundreds of KiB, so place it
/// in static storage or on the heap.
template <class MessageList, class Traits = FullBusTraits>
class Bus {
    static_assert(detail::isMessageList<MessageList>,
                  "the types of a bus stand in a list: Bus<Messages<A, B, ...>, Traits>");
};

template <class... Ts, class Traits>
class Bus<Messages<Ts...>, Traits> {
    using List = Messages<Ts...>;
    static_assert(detail::areChecked<List, Traits>());
    using Platform = typename Traits::Platform;
    using Wait = typename Traits::Wait;
    using Observer = typename Traits::Observer;
    using RoleCheck = sluice::RoleCheck<Platform>;
    using QueuedMessage = detail::QueuedMessage<List, Traits>;
    using One = detail::One;
    using WaitByPolicy = detail::WaitByPolicy;
    using ConsumeOutcome = detail::ConsumeOutcome;
    static constexpr detail::Never never{};
    struct Sent {
        SendResult result;
        std::size_t count;  ///< accepted messages
    };

public:
    using MessageTypes = List;
    using Header = MessageHeader<Traits>;
    using Statistics = BusStatistics<List::count>;
    using Clock = typename Platform::Clock;

    Bus() = default;
    /// The observer must outlive the bus.
    explicit Bus(Observer& observer) : observer_(&observer) {}
    Bus(const Bus&) = delete;
    Bus& operator=(const Bus&) = delete;
    /// Ends all subscriptions and destroys all messages. No other thread may be in a member
    /// function. If a handler of a static bus calls std::exit(), the messages are not destroyed.
    ~Bus() {
        close();  // so that destructors of handlers and messages neither publish nor wait
        std::apply([](auto&... tables) { (tables.endAll(), ...); }, handlers_);
        if (consumer_.isHere()) {  // a handler has called std::exit(), and the bus is static
            Platform::runsHandlers() = false;  // ~Delivery() will assert if the handler returns
            return;
        }
        SLUICE_ASSERT(publishers_.areNone(),
                      "a bus is destroyed while a thread publishes: join the thread first");
        forEachRing(*this, [](auto& ring, Priority) {
            while (ring.consume([](QueuedMessage& queued) noexcept { queued.destroy(); }) != 0) {
            }
        });
    }

    // ---- Publishers. `options` are PublishOptions or a Priority. The default priority is medium.

    /// Copies or moves a message into the bus. A refused message is left untouched.
    template <class T, class Options = PublishOptions>
    SendResult publish(T&& message, const Options& options = {}) {
        return emplaceWith<std::decay_t<T>>(options, std::forward<T>(message));
    }

    /// Constructs a T in a slot of the bus. If the message is refused, the arguments are untouched.
    template <class T, class... Args>
    SendResult emplace(Args&&... args) {
        return emplaceWith<T>(PublishOptions{}, std::forward<Args>(args)...);
    }
    template <class T, class Options = PublishOptions, class... Args>
    SendResult emplaceWith(const Options& options, Args&&... args) {
        return publishOne<T>(detail::optionsOf<Traits>(options), WaitByPolicy(),
                             std::forward<Args>(args)...);
    }

    /// Like publish(), but never waits for a free slot.
    template <class T, class Options = PublishOptions>
    SendResult tryPublish(T&& message, const Options& options = {}) {
        return publishFor(std::chrono::nanoseconds(0), std::forward<T>(message), options);
    }

    /// Like publish(), but waits up to `timeout` for a free slot, even with Overflow::reject. On
    /// the consumer's thread, publishFor() does not wait.
    template <class T, class Rep, class Period, class Options = PublishOptions>
    SendResult publishFor(std::chrono::duration<Rep, Period> timeout, T&& message,
                          const Options& options = {}) {
        return publishOne<std::decay_t<T>>(detail::optionsOf<Traits>(options), timeout,
                                           std::forward<T>(message));
    }

    /// Publishes copies of [first, last) until a copy is refused, and returns the number of
    /// accepted copies. Copies that fit immediately are consecutive messages of their priority. If
    /// a copy's constructor throws, the earlier copies remain published.
    template <class Iterator, class Options = PublishOptions>
    [[nodiscard]] std::size_t publishAll(Iterator first, Iterator last,
                                         const Options& options = {}) {
        const auto& all = detail::optionsOf<Traits>(options);
        using T = typename std::iterator_traits<Iterator>::value_type;
        static_assert(std::is_base_of_v<std::forward_iterator_tag,
                                        typename std::iterator_traits<Iterator>::iterator_category>,
                      "publishAll() counts the range first: it needs forward iterators");
        const auto build = [&](QueuedMessage& queued) {
            const Iterator each = first;
            ++first;  // before build(), because ++first may throw
            queued.template build<T>(*each);
        };
        constexpr std::size_t type = detail::listedIndex<List, T>();
        const auto count = static_cast<std::size_t>(std::distance(first, last));
        std::size_t accepted = 0;
        for (std::size_t n = 1; n != 0 && accepted != count; accepted += n) {
            n = send(type, all, count - accepted, WaitByPolicy(), build).count;
        }
        return accepted;
    }

    /// Increments the `full` count for a message that was dropped without calling publish().
    template <class T>
    void countAsFull(Priority priority) noexcept {
        SLUICE_ASSERT(detail::indexOf(priority) < priorityCount, "there is no such priority");
        forEachRing(*this, [&](auto&, auto each) {
            if (each == priority || !Traits::priorities) {
                counts_.template count<each, detail::PublishOutcome::full>(
                    detail::listedIndex<List, T>(), 1);
            }
        });
    }

    // ---- Subscribers

    /// Subscribes handler(const T&) or handler(const T&, const Header&). Handlers run in
    /// subscription order. The handler may run before subscribe() returns. If T already has
    /// Traits::maxHandlers handlers, including unsubscribed handlers that still run, subscribe()
    /// notifies the observer, asserts and returns an empty Subscription.
    template <class T, class Handler>
    Subscription subscribe(Handler&& handler) {
        const bool isEmpty = detail::isEmptyCallable<std::decay_t<Handler>>(handler);
        Subscription subscription = trySubscribe<T>(std::forward<Handler>(handler));
        if (subscription.bus_ == nullptr && !isEmpty) {
            if (observer_ != nullptr) {
                observer_->subscriptionRefused(detail::listedIndex<List, T>());
            }
            SLUICE_ASSERT(isClosed(),
                          "a type of message has too many handlers: raise maxHandlers of "
                          "the traits, or call trySubscribe()");
        }
        return subscription;
    }

    /// Like subscribe(), but if T has maxHandlers handlers, only returns an empty Subscription.
    template <class T, class Handler>
    Subscription trySubscribe(Handler&& handler) {
        using H = std::decay_t<Handler>;
        if constexpr (!detail::checkListed<List, T>() ||
                      !detail::checkHandler<H, T, Header, Traits::handlerSize>()) {
            return {};  // avoids follow-up errors
        } else if (detail::isEmptyCallable<H>(handler)) {
            SLUICE_ASSERT(false, "an empty handler is to be subscribed, which cannot be called");
            return {};
        } else {
            const auto id = handlersOf<T>().add([&]() -> decltype(auto) {
                return detail::withHeader<T, Header>(std::forward<Handler>(handler));
            });
            return {id.generation == 0 ? nullptr : this, &remove<T>,
                    static_cast<std::uint32_t>(id.slot), id.generation};
        }
    }

    template <class T>
    [[nodiscard]] std::size_t subscriptionCount() const noexcept {
        return std::get<detail::listedIndex<List, T>()>(handlers_).size();
    }

    // ---- The consumer

    /// Calls handlers for up to min(max, capacity()) queued messages, and returns the number of
    /// messages. A message published during process() may wait for the next process().
    std::size_t process(std::size_t max = unlimited) {
        return afterwards(
            deliver(max, never, [this](auto& delivery) { this->callHandlers(delivery); }));
    }

    /// Like process(), but calls visitor(T&, const Header&) or visitor(T&) for each message. The
    /// visitor may move from the message. See overload() and partial().
    template <class Visitor>
    std::size_t processWith(Visitor&& visitor, std::size_t max = unlimited) {
        return processUntil(never, visitor, max);
    }

    /// Like processWith(), but stops when isOver() returns true. Calls isOver() before each
    /// message, and perhaps after the last message.
    template <class IsOver, class Visitor>
    std::size_t processUntil(const IsOver& isOver, Visitor&& visitor, std::size_t max = unlimited) {
        if (SLUICE_UNLIKELY(owesValues_)) {
            handleValues(false);
        }
        return afterwards(
            deliver(max, isOver, [&visitor](auto& delivery) { visit(delivery, visitor); }));
    }

    /// Processes and awaits messages until the bus is closed and drained.
    void run() {
        runWhileOpen([this](std::size_t max) { return process(max); });
    }
    template <class Visitor>
    void runWith(Visitor&& visitor) {
        runWhileOpen([&](std::size_t max) { return processWith(visitor, max); });
    }

    /// Waits for a message or a new LastValue. Returns false after the timeout, or when the bus is
    /// closed and drained. A message whose constructor threw also ends the wait. In a message's
    /// handler, waitFor() returns immediately, unless that message's priority has dropOldest.
    template <class Rep, class Period>
    bool waitFor(std::chrono::duration<Rep, Period> timeout) {
        return waitUntil(deadlineAfter<Clock>(timeout));
    }
    /// Like waitFor(), but also returns if isOver() is true. Checks isOver() first, and again after
    /// each waiting().notifyAll().
    template <class IsOver = detail::Never>
    bool waitUntil(typename Clock::time_point deadline, const IsOver& isOver = never) {
        std::optional<typename RoleCheck::Scope> role;
        if (!consumer_.isHere()) {  // a handler's thread already has the consumer role
            role.emplace(consumerRole_, oneConsumer);
        }
        time_.suspend();
        bool hasMessage = false;
        const auto isReady = [&] {
            hasMessage = (hasNewValue() && !consumer_.isHere()) ||
                         anyRing([](const auto& ring) { return ring.hasArrival(); });
            return hasMessage || isDrained() || isOver();
        };
        (void)notEmpty_.waitUntil(isReady, deadline);
        return hasMessage;  // true even if a publisher has dropped the message since
    }

    /// The wait strategy (such as EventFdWait) by which the consumer waits for messages.
    [[nodiscard]] Wait& waiting() noexcept { return notEmpty_; }
    [[nodiscard]] typename Traits::Trace& trace() noexcept { return trace_; }

    /// Destroys all queued messages, counts them as discarded and returns their number.
    std::size_t discard() {
        handleValues(true);
        // With a limit above capacity(), consume() also skips empty slots behind the last message.
        return consume<true>(capacity() + 1, never,
                             [](auto& delivery) { delivery.outcome = ConsumeOutcome::discarded; });
    }

    /// Sets whether publish() may wait for a free slot before any thread has consumed from the bus.
    void letPublishersWait(bool isOn) noexcept { consumer_.letPublishersWait(isOn); }

    // ---- Any thread

    /// Makes later publish() calls return `closed`, and wakes all waiting publishers. Idempotent.
    void close() noexcept {
        valueCount_.fetch_or(closed, std::memory_order_relaxed);  // E3 close, of LastValue
        forEachRing(*this, [](auto& ring, Priority) { ring.close(); });
        notifyWaiters();
    }

    /// Closes the bus, and makes the consumer discard all queued messages, either after its current
    /// handler or in the next process*(). Idempotent.
    void stop() noexcept {
        attention_.fetch_or(stopped, std::memory_order_relaxed);  // value only
        close();
    }

    /// Returns true after stop(). A long handler can poll isStopped() to end early.
    [[nodiscard]] bool isStopped() const noexcept {
        return (attention_.load(std::memory_order_relaxed) & stopped) != 0;  // value only
    }

    [[nodiscard]] bool isClosed() const noexcept {
        return !anyRing([](const auto& ring) { return !ring.isClosed(); });
    }

    /// Returns true once the bus is closed and all accepted messages are handled or discarded.
    [[nodiscard]] bool isDrained() const noexcept {
        return !anyRing([](const auto& ring) { return !ring.isDrained(); }) &&
               valueCount_.load(std::memory_order_acquire) < oneValue;  // E2 handled, of LastValue
    }

    /// Closes the bus, and waits until the consumer has handled all accepted messages. Returns
    /// false if the deadline passes first. In a handler, drain() does not wait. On the consumer's
    /// thread, call process() before drain(), because drain() handles no message.
    bool drain(typename Clock::time_point deadline) {
        close();
        return consumer_.isHere() ? isDrained()
                                  : drained_.waitUntil([this] { return isDrained(); }, deadline);
    }

    /// The fill level of the fullest priority. Counts the same messages as sizeApprox().
    [[nodiscard]] Pressure pressure() const noexcept {
        Pressure pressure = Pressure::normal;
        forEachRing(*this, [&](const auto& ring, Priority each) {
            pressure = std::max(pressure, pressureOf(ring.sizeExact(), roomOf(each)));
        });
        return pressure;
    }

    /// The number of messages in the bus, including messages being published or handled. With
    /// dropOldest, a message being handled does not count.
    [[nodiscard]] std::size_t sizeApprox() const noexcept {
        std::size_t sum = 0;
        forEachRing(*this, [&](const auto& ring, Priority) { sum += ring.sizeExact(); });
        return sum;
    }

    [[nodiscard]] static constexpr std::size_t capacity() noexcept {
        return detail::allRooms<Traits>();
    }

    /// The quota of a priority, in messages: see Traits::depth and Traits::rooms.
    [[nodiscard]] static constexpr std::size_t roomOf(Priority priority) noexcept {
        return detail::roomOf<Traits>(priority);
    }

    [[nodiscard]] Statistics statistics() const {
        static_assert(Traits::statistics, "this bus keeps no statistics: see its traits");
        Statistics statistics = counts_.get([this](Priority priority) {
            std::uint64_t pushes = 0;
            forEachRing(*this, [&](const auto& ring, Priority p) {
                pushes = p == priority ? ring.pushCount() : pushes;
            });
            return pushes;
        });
        statistics.highWater = std::max(statistics.highWater, fullest());
        return statistics;
    }

private:
    template <Priority P>
    using RingForPriority = detail::RingFor<detail::ringKind<Traits, P>, QueuedMessage,
                                            detail::roomOf<Traits>(P), Traits>;
    template <Priority P>
    using RingOf = typename RingForPriority<P>::Type;
    template <detail::RingKind, class, std::size_t, class>
    friend struct detail::RingFor;
    template <class, class>
    friend class Loan;
    template <class, class>
    friend class LastValue;

    template <Priority P>
    RingOf<P>& ring() noexcept {
        return std::get<detail::indexOf(P)>(std::tie(low_, medium_, high_));
    }

    /// Calls f(ring, priority) for each ring, the highest priority first.
    template <class Self, class F>
    static void forEachRing(Self& self, const F& f) {
        if constexpr (Traits::priorities) {
            f(self.high_, std::integral_constant<Priority, Priority::high>());
        }
        f(self.medium_, std::integral_constant<Priority, Priority::medium>());
        if constexpr (Traits::priorities) {
            f(self.low_, std::integral_constant<Priority, Priority::low>());
        }
    }

    template <class Predicate>
    [[nodiscard]] bool anyRing(const Predicate& holds) const {
        bool isAny = false;
        forEachRing(*this, [&](const auto& ring, Priority) { isAny = isAny || holds(ring); });
        return isAny;
    }

    [[nodiscard]] std::size_t fullest() const noexcept {
        std::size_t most = 0;
        forEachRing(*this, [&](auto& ring, Priority) { most = std::max(most, ring.sizeExact()); });
        return most;
    }

    template <Priority P>
    SLUICE_ALWAYS_INLINE void trace(TraceStep step, const QueuedMessage& queued) noexcept {
        trace_.record(step, queued.typeIndex(), P, queued.idOrZero());
    }

    template <class T, class Options, class Waiting, class... Args>
    SLUICE_ALWAYS_INLINE SendResult publishOne(const Options& options, const Waiting& waiting,
                                               Args&&... args) {
        const auto build = [&](QueuedMessage& queued) {
            queued.template build<T>(std::forward<Args>(args)...);
        };
        return send(detail::listedIndex<List, T>(), options, One(), waiting, build).result;
    }

    template <class Options, class Count, class Waiting, class Build>
    Sent send(std::size_t type, const Options& options, Count count, const Waiting& waiting,
              const Build& build) {
        [[maybe_unused]] const Priority priority = detail::priorityOf(options);
        SLUICE_ASSERT(detail::indexOf(priority) < priorityCount,
                      "there is no such priority: publish with low, medium or high");
        const detail::OptionFields<Traits> fields(options);
        if constexpr (Traits::priorities) {
            if (priority == Priority::high) {
                return sendTo<Priority::high>(type, fields, count, waiting, build);
            }
            if (priority == Priority::low) {
                return sendTo<Priority::low>(type, fields, count, waiting, build);
            }
        }
        return sendTo<Priority::medium>(type, fields, count, waiting, build);
    }

    template <Priority P, class Count, class Waiting, class Build>
    SLUICE_ALWAYS_INLINE Sent sendTo(std::size_t type, detail::OptionFields<Traits> fields,
                                     Count count, const Waiting& waiting, const Build& build) {
        const auto attempt = [&]() SLUICE_INLINE_LAMBDA {
            return trySendTo<P>(fields, count, build);
        };
        Sent sent = attempt();
        if (SLUICE_UNLIKELY(sent.result != SendResult::ok)) {
            const CallCheck::Scope call(publishers_);
            if constexpr (detail::dropsOldest<Traits, P> || canBlock ||
                          !std::is_same_v<Waiting, WaitByPolicy>) {
                makeRoom<P>(sent, waiting, attempt);
            }
            if (sent.result != SendResult::ok) {
                counts_.template rejected<P>(type, sent.result, count);
                trace_.record(TraceStep::refused, type, P, 0);
                return sent;
            }
        }
        if (notifier_.isBelow([&] { return pressureOf(ring<P>().sizeExact(), roomOf(P)); })) {
            const CallCheck::Scope call(publishers_);
            notifier_.notify(*this, observer_);
        }
        return sent;
    }

    template <Priority P, class Count, class Build>
    SLUICE_ALWAYS_INLINE Sent trySendTo(detail::OptionFields<Traits> fields, Count count,
                                        const Build& build) {
        RingOf<P>& ring = this->ring<P>();
        if constexpr (Traits::producers == Producers::one) {
            SLUICE_ASSERT(!isBuilding_,
                          "with one producer, nothing is published while a constructor or a loan "
                          "fills a slot");
            if (isBuilding_) {
                return {ring.isClosed() ? SendResult::closed : SendResult::full, 0};
            }
        }
        const CallCheck::Scope call(publishers_);
        EndOfSend<P> end{*this};
        auto claim = ring.tryReserve(count);
        if (SLUICE_UNLIKELY(!claim)) {
            const bool isClosed = claim.result() == SendResult::closed;
            // The end of this attempt may drain an SpscRing, so EndOfSend notifies all waiters.
            end.isDue = Traits::producers == Producers::one && isClosed;
            return {isClosed ? SendResult::closed : SendResult::full, 0};
        }
        end.isDue = true;
        struct CountThrown {  // its destructor runs before `claim` frees the slots
            EndOfSend<P>& end;
            const decltype(claim)& claimed;
            SLUICE_ALWAYS_INLINE ~CountThrown() {
                if (Traits::producers == Producers::many && !end.isOfMessage) {
                    end.bus.counts_.thrown(P, claimed.size());
                }
            }
        } const countThrown{end, claim};
        do {
            end.isOfMessage = false;
            QueuedMessage& queued = claim.emplace();
            if constexpr (Traits::producers == Producers::one) {
                isBuilding_ = true;  // rejects a nested publication, which would claim this slot
            }
            build(queued);
            queued.complete(fields, P, time_, claim);
            trace<P>(TraceStep::published, queued);
            claim.commit();
            end.isOfMessage = true;
            ++end.committed;
            if constexpr (!std::is_same_v<Count, One>) {
                notEmpty_.notifyAll();  // before the next constructor, which may be slow
            }
        } while (!std::is_same_v<Count, One> && claim);
        return {SendResult::ok, end.committed};
    }

    /// Notifies the consumer after an attempt to publish. If a constructor threw, notifies all
    /// waiters, because the consumer must skip an empty slot, which may drain the bus.
    template <Priority P>
    struct EndOfSend {
        Bus& bus;
        bool isDue = false;
        bool isOfMessage = false;
        std::size_t committed = 0;

        SLUICE_ALWAYS_INLINE ~EndOfSend() {
            if constexpr (Traits::producers == Producers::one) {
                bus.isBuilding_ = false;
            }
            if constexpr (detail::dropsOldest<Traits, P>) {
                if (committed != 0) {  // a publisher drops only after it has committed a message
                    RingForPriority<P>::template dropExcess<P>(bus);
                }
            }
            if (isOfMessage) {
                bus.notEmpty_.notifyAll();
            } else if (isDue) {
                bus.notifyWaiters();
            }
        }
    };

    /// Retries a refused publication. With dropOldest, first drops old messages. With
    /// Overflow::block, or when called by publishFor(), first waits for a free slot.
    template <Priority P, class Waiting, class Attempt>
    [[gnu::noinline]] void makeRoom(Sent& sent, const Waiting& waiting, const Attempt& attempt) {
        const auto isOver = [&] {
            bool isMore = false;
            do {
                if constexpr (detail::dropsOldest<Traits, P>) {
                    isMore = RingForPriority<P>::template dropExcess<P>(*this);
                }
                sent = attempt();
            } while (isMore && sent.result == SendResult::full);
            return sent.result != SendResult::full;
        };
        if (sent.result == SendResult::full && !(detail::dropsOldest<Traits, P> && isOver())) {
            const auto deadline = detail::roomDeadline<Traits, Clock>(waiting, P);
            // A handler of another bus needs a deadline: two waiting handlers could deadlock.
            const bool hasEnd = deadline != Clock::time_point::max();
            if (deadline != Clock::time_point::min() && !consumer_.isMine() && !isBuilding_ &&
                (hasEnd || !HandlerThread<Platform>::isHere()) && Traits::mayWait()) {
                attention_.fetch_add(oneWaiter, std::memory_order_relaxed);  // hint
                const detail::OnExit leave{
                    [this] { attention_.fetch_sub(oneWaiter, std::memory_order_relaxed); }};
                (void)notFull_[detail::indexOf(P)].waitUntil(isOver, deadline);
            }
        }
        if (sent.result == SendResult::ok) {
            counts_.sawUsed(roomOf(P));
        }
    }

    // ---- Consuming

    static constexpr std::size_t chunk = 64;  ///< messages between two readings of the clock
    static constexpr bool canBlock = detail::hasPolicy<Traits>(Overflow::block);

    struct Batch {
        Batch(Bus& b, bool isDiscardingBatch) noexcept : bus(b), isDiscarding(isDiscardingBatch) {
            bus.consumer_.begin();
        }
        ~Batch() {
            bus.endBatch(*this);
            bus.consumer_.end();
        }

        [[nodiscard]] bool isStopped() const noexcept { return bus.isStopped() && !isDiscarding; }

        Bus& bus;
        const HandlerThread<Platform> handling;
        const bool isDiscarding;
        bool hasServed = false;
        bool hasThrown = false;
        std::size_t untilChunk = 1;  // messages until the next endChunk()
    };

    /// Counts and destroys a message when its handlers have returned.
    template <Priority P>
    struct Delivery {
        static constexpr Priority priority = P;

        Bus& bus;
        Batch& batch;
        QueuedMessage& queued;
        ConsumeOutcome outcome = ConsumeOutcome::handled;

        SLUICE_ALWAYS_INLINE ~Delivery() {
            SLUICE_ASSERT(HandlerThread<Platform>::isHere(), "a handler has destroyed its bus");
            if (outcome == ConsumeOutcome::failed) {  // a visitor threw: counts as handled, too
                bus.counts_.count(queued.typeIndex(), P, outcome);
                batch.hasThrown = true;
                bus.owesValues_ = true;
                outcome = ConsumeOutcome::handled;
            }
            bus.counts_.count(queued.typeIndex(), P, outcome);
            if constexpr (Traits::timeStamp != TimeStamp::none) {
                if (outcome == ConsumeOutcome::handled) {
                    bus.time_.handled(queued.timeStamp, P, bus.counts_);
                }
            }
            const bool isHandled = outcome == ConsumeOutcome::handled;
            bus.template trace<P>(isHandled ? TraceStep::ends : TraceStep::dropped, queued);
            queued.destroy();
            if constexpr (Traits::statistics || Traits::timeStamp == TimeStamp::cached ||
                          !std::is_same_v<Observer, BusObserver>) {
                if (SLUICE_UNLIKELY(--batch.untilChunk == 0)) {
                    // With dropOldest, sizeExact() does not count the message being handled.
                    bus.endChunk(batch, detail::dropsOldest<Traits, P>
                                            ? std::min(bus.ring<P>().sizeExact() + 1, roomOf(P))
                                            : 0);
                }
            }
        }
    };

    /// Not inlined, so that the loop over the messages has more registers.
    template <class IsOver, class Handle>
    [[gnu::noinline]] std::size_t deliver(std::size_t max, const IsOver& isOver, Handle handle) {
        return consume<false>(std::min(max, capacity()), isOver, handle);
    }
    std::size_t afterwards(std::size_t delivered) {
        if (SLUICE_UNLIKELY(isStopped() || hasNewValue())) {
            handleValues(false);
            static_cast<void>(isStopped() ? discard() : 0);
        }
        return delivered;
    }
    [[gnu::noinline]] void handleValues(bool isForgotten) {
        owesValues_ = false;
        if (values_ != nullptr && !consumer_.isHere()) {
            const typename RoleCheck::Scope role(consumerRole_, oneConsumer);
            const Batch batch(*this, isForgotten);
            values_->handleAll(*values_, isForgotten);
        }
    }

    template <bool IsDiscarding, class IsOver, class Handle>
    SLUICE_ALWAYS_INLINE std::size_t consume(std::size_t max, const IsOver& isOver,
                                             const Handle& handle) {
        SLUICE_ASSERT(!consumer_.isHere(),
                      "a handler consumes from its own bus: let it return, and consume then");
        if (consumer_.isHere() || max == 0) {  // process(0) does not count as an empty poll
            return 0;
        }
        // The role check is no member of Batch, because NDEBUG must not change Batch.
        const typename RoleCheck::Scope role(consumerRole_, oneConsumer);
        Batch batch(*this, IsDiscarding);
        if constexpr (!Traits::priorities) {
            return isOver() || batch.isStopped()
                       ? 0
                       : serve<Priority::medium>(batch, max, handle, [&] { return !isOver(); });
        } else if constexpr (Traits::service == PriorityOrder::strict) {
            return serveStrictly(batch, max, isOver, handle);
        } else {
            const auto isEnded = [&] { return isOver() || batch.isStopped(); };
            return weighted_.serve(max, isEnded, [&](auto priority) {
                return serve<priority>(batch, 1, handle, [] { return true; }) != 0;
            });
        }
    }

    template <class IsOver, class Handle>
    SLUICE_ALWAYS_INLINE std::size_t serveStrictly(Batch& batch, std::size_t max,
                                                   const IsOver& isOver, const Handle& handle) {
        constexpr std::size_t patience = 16;  // low messages between two polls of the medium ring
        std::size_t left = max;
        bool isEnded = isOver();
        for (std::size_t served = 0; left != 0 && !isEnded && !batch.isStopped(); left -= served) {
            served =
                serve<Priority::high>(batch, left, handle, [&] { return !(isEnded = isOver()); });
            const auto isHighThere = ring<Priority::high>().arrival();
            const auto untilHigh = [&]() SLUICE_INLINE_LAMBDA {
                return !(isEnded = isOver()) && !isHighThere();
            };
            if (served == 0 && !isEnded) {
                served = serve<Priority::medium>(batch, left, handle, untilHigh);
            }
            if (served == 0 && !isEnded && !isHighThere()) {
                served = serve<Priority::low>(batch, std::min(left, patience), handle, untilHigh);
            }
            if (served == 0 && !isHighThere()) {  // no priority has a message
                break;
            }
        }
        return max - left;
    }

    template <Priority P, class Handle, class KeepGoing>
    SLUICE_ALWAYS_INLINE std::size_t serve(Batch& batch, std::size_t max, const Handle& handle,
                                           const KeepGoing& keepGoing) {
        return ring<P>().consumeWhile(
            [&](QueuedMessage& queued) SLUICE_INLINE_LAMBDA {
                Delivery<P> delivery{*this, batch, queued};
                if (queued.hasExpired() && !batch.isDiscarding) {
                    delivery.outcome = ConsumeOutcome::expired;
                } else {
                    handle(delivery);
                }
            },
            max, [&]() SLUICE_INLINE_LAMBDA { return passSlot<P>(batch) && keepGoing(); });
    }

    template <class Delivery>
    SLUICE_ALWAYS_INLINE void callHandlers(Delivery& delivery) noexcept {
        QueuedMessage& queued = delivery.queued;
        trace<Delivery::priority>(TraceStep::begins, queued);
        queued.visit([&](auto& message) {
            using T = std::decay_t<decltype(message)>;
            static constexpr std::size_t type = List::template indexOf<T>;
            // No lambda captures `delivery` by reference, so its fields stay in registers.
            const auto failed = [this](const auto& exception) {
                counts_.count(type, Delivery::priority, ConsumeOutcome::failed);
                if (observer_ != nullptr) {
                    observer_->handlerFailed(type, exception);
                }
            };
            const auto none = [this] {
                counts_.count(type, Delivery::priority, ConsumeOutcome::unhandled);
            };
            handlersOf<T>().callAll(consumer_, failed, none, std::as_const(message),
                                    queued.header());
        });
    }

    template <class Delivery, class Visitor>
    SLUICE_ALWAYS_INLINE static void visit(Delivery& delivery, Visitor& visitor) {
        QueuedMessage& queued = delivery.queued;
        delivery.bus.template trace<Delivery::priority>(TraceStep::begins, queued);
        delivery.outcome = ConsumeOutcome::failed;  // unless the visitor returns
        queued.visit([&](auto& message) {
            if (!detail::callVisitor(visitor, message, queued.header())) {
                delivery.bus.counts_.count(queued.typeIndex(), Delivery::priority,
                                           ConsumeOutcome::unhandled);
            }
        });
        delivery.outcome = ConsumeOutcome::handled;
    }

    [[gnu::noinline]] void endChunk(Batch& batch, std::size_t used) noexcept {
        if constexpr (Traits::statistics) {
            const bool hasSecond = anyRing([](const auto& ring) { return ring.hasSecond(); });
            counts_.sawUsed(hasSecond ? std::max(fullest(), used) : 1);
        }
        if (batch.hasServed) {
            time_.settle(chunk, counts_);
            notifier_.notify(*this, observer_);
        }
        batch.untilChunk = batch.hasServed ? chunk : chunk - 1;
        batch.hasServed = true;
    }

    void endBatch(const Batch& batch) noexcept {
        if (batch.hasServed) {
            emptyBatches_ = 0;
            time_.settle(chunk - batch.untilChunk, counts_);
            notifier_.notify(*this, observer_);
        } else if (++emptyBatches_ % chunk == 0) {
            time_.suspend();  // not in every empty poll, because suspend() slows publishers
            notifier_.notify(*this, observer_);
        }
        notifyWaiters(!canBlock || batch.hasThrown);  // the bus may now be drained
    }

    [[nodiscard]] bool hasNewValue() const noexcept {
        return valueCount_.load(std::memory_order_relaxed) >= oneValue;  // hint
    }

    template <class Process>
    void runWhileOpen(const Process& process) {
        const typename Traits::Pacing pacing;
        while (!isDrained()) {
            if (const std::size_t n = process(values_ == nullptr ? unlimited : chunk); n != 0) {
                pacing.polled(n);
            } else {
                (void)waitUntil(Clock::time_point::max());
            }
        }
    }

    /// Returns false if the batch must end because of stop().
    template <Priority P>
    SLUICE_ALWAYS_INLINE bool passSlot(const Batch& batch) noexcept {
        return (!canBlock && SLUICE_LIKELY(attention_.load(std::memory_order_relaxed) == 0)) ||
               attend(batch, notFull_[detail::indexOf(P)]);
    }
    [[gnu::noinline]] bool attend(const Batch& batch, Wait& notFull) noexcept {
        notifyOneOf(notFull);
        return !batch.isStopped();
    }
    void notifyWaiters(bool alsoPublishers = true) noexcept {
        notEmpty_.notifyAll();
        drained_.notifyAll();
        for (std::size_t i = 0; alsoPublishers && i != priorityCount; ++i) {
            notFull_[i].notifyAll();
        }
    }

    template <class T>
    using HandlersOf = detail::HandlerTable<void(const T&, const Header&), Traits>;

    template <class T>
    HandlersOf<T>& handlersOf() noexcept {
        return std::get<detail::listedIndex<List, T>()>(handlers_);
    }

    template <class T>
    static detail::UnsubscribeResult remove(void* self, std::uint32_t slot, CounterWord generation,
                                            detail::UnsubscribeStep step) noexcept {
        Bus& bus = *static_cast<Bus*>(self);
        return bus.handlersOf<T>().remove({slot, generation}, step, bus.consumer_);
    }

    using Counts = std::conditional_t<Traits::statistics, detail::BusCounts<Traits, List::count>,
                                      detail::NoBusCounts<List::count>>;
    static constexpr std::size_t line = Traits::cacheLineSize;

    std::tuple<HandlersOf<Ts>...> handlers_;

    alignas(line) alignas(Observer*) Observer* observer_ = nullptr;
    detail::PressureNotifier<Platform, Observer> notifier_;
    CallCheck publishers_;
    typename Platform::template Atomic<unsigned> attention_{0};  // stop(), and waiting publishers
    static constexpr unsigned stopped = 1, oneWaiter = 2;
    Wait notEmpty_;                            // the consumer waits here
    Wait drained_;                             // for drain()
    std::array<Wait, priorityCount> notFull_;  // publishers wait here

    Counts counts_;
    std::conditional_t<Traits::timeStamp == TimeStamp::none, detail::NoTimeKeeper,
                       detail::TimeKeeper<Traits, Counts>>
        time_;
    RingOf<Priority::high> high_;
    RingOf<Priority::medium> medium_;
    RingOf<Priority::low> low_;

    // Written by the consumer.
    alignas(line) alignas(
        detail::ConsumerState<Platform>) detail::ConsumerState<Platform> consumer_;
    detail::WeightedOrder<Traits> weighted_;
    std::size_t emptyBatches_ = 0;
    RoleCheck consumerRole_;
    bool owesValues_ = false;  // a visitor threw before afterwards() could handle LastValues

    // With Producers::one, true while the only publisher fills a slot.
    alignas(line) bool isBuilding_ = false;
    typename Traits::Trace trace_;

    /// Twice the number of LastValues with an unhandled value, plus 1 if the bus is closed.
    typename Platform::template Atomic<unsigned> valueCount_{0};
    static constexpr unsigned closed = 1, oneValue = 2;
    detail::BusValue* values_ = nullptr;  // written by LastValue
};

}  // namespace sluice
