#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/bus/bus_statistics.hpp>
#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/detail/bus_core.hpp>
#include <sluice/bus/detail/bus_harvest.hpp>
#include <sluice/bus/detail/handler_table.hpp>
#include <sluice/bus/detail/rooms.hpp>
#include <sluice/bus/message_header.hpp>
#include <sluice/bus/messages.hpp>
#include <sluice/bus/pressure.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/bus/publishing.hpp>
#include <sluice/bus/subscription.hpp>
#include <sluice/bus/visitor.hpp>
#include <sluice/fixed/fixed_function.hpp>
#include <sluice/wait/event_count.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sluice {

namespace detail {
template <class Bus, std::size_t Count>
class BusGroup;
}  // namespace detail

/// Carries typed messages from any number of publishers to the handlers of one consumer, urgent
/// messages first. So the parts of a program talk without knowing each other, and without a heap.
///
///     sluice::Bus<sluice::Messages<Temperature, Stop>> bus;
///     const auto stops = bus.subscribe<Stop>([](const Stop& stop) { ... });
///     (void)bus.publish(Temperature{21.5});            // any thread
///     (void)bus.publish(Stop{}, sluice::Priority::high);
///     bus.process();                                   // the consumer; the stop comes first
///
/// Use it if messages have a few known types and different urgency, or must not block their
/// publishers. Use EventQueue for listeners that are found by run-time values. Use MpscRing for one
/// type of message and one reader.
///
/// Threads: any thread publishes, also a handler. (With Producers::one, one thread at a time.) The
/// consumer, one thread at a time, calls process, processWith, processUntil, run, runWith, waitFor,
/// waitUntil and discard. Any thread calls the other members. A handler may call all members,
/// except those of the consumer of its own bus, and may not destroy the bus. A signal handler may
/// call no member. The child of a fork may not use, unsubscribe from or destroy the buses of its
/// parent, because the threads that were in them do not exist in the child.
///
/// Progress: publishing is lock-free up to the slot of its ring. A publisher that is stopped in the
/// middle delays the delivery of later messages of its own priority. When the ring is full behind
/// its slot, later publishers of that priority are refused. It delays no other priority. (Without
/// priorities, it delays all messages.) BusOverflow::block waits for room; dropOldest never waits.
/// Consuming is wait-free, with three exceptions: handlers, the lock of a changed table of
/// handlers, and the rings of dropOldest, which are lock-free. pressure() and sizeApprox() look
/// again when a slot was freed between their looks.
///
/// Order: if one publication has returned before another one of the same priority begins, its
/// message is delivered first. With PriorityOrder::strict a published message of high priority
/// waits for at most one lower message: the one whose handlers run. A message of medium priority
/// waits for at most 16 messages of low priority. With PriorityOrder::weighted, the first message
/// of a priority waits for at most twice the weights of the others.
///
/// Admission: each priority has a room of its own. A message is accepted while the bus holds fewer
/// messages of its priority than the room. Messages being published or handled count. A slot whose
/// constructor threw counts until the consumer has passed it. With dropOldest, messages being
/// handled do not count. A refusal is exact: the room was full at some moment during the call.
///
/// Memory promise: the handlers of a message see the writes of its publisher before the
/// publication. A thread that sees the message removed also sees the writes of its handlers.
///
/// Capacity: slots for all rooms lie in the object, so give it static storage or a place on the
/// heap. The constructor allocates the registry of the counts. attachThread(), or otherwise the
/// first publication of a thread, allocates the counters of that thread. Without statistics, and on
/// SingleCorePlatform, no call allocates.
///
/// Exceptions: if the constructor of a message throws, the exception passes to the publisher. This
/// message is not published, and none after it in its range. If a handler throws, the bus counts it
/// and tells the observer; the other handlers still run. A handler must not end its thread. An
/// exception of a visitor passes through; its message counts as delivered and failed.
///
/// Shutdown: close() refuses later messages. Accepted messages stay until the consumer handles or
/// discards them. The destructor of the bus destroys the rest.
///
/// Origin: slots and compile-time types as in D. Liu's MCCC bus.
///
/// Edges: those of the rings, HandlerTable and BusCore.
///
/// Tests: tests/unit/bus, tests/stress/bus_stress_test.cpp, tests/model/bus_model_test.cpp.
template <class MessageList, class Traits = FullBusTraits>
class Bus {
    static_assert(detail::isMessageList<MessageList>,
                  "the types of a bus stand in a list: Bus<Messages<A, B, ...>, Traits>");
};

template <class... Ts, class Traits>
class Bus<Messages<Ts...>, Traits>
    : public Publishing<Bus<Messages<Ts...>, Traits>, Messages<Ts...>, Traits,
                        detail::QueuedMessage<Messages<Ts...>, Traits>> {
    using List = Messages<Ts...>;
    using Core = detail::BusCore<List, Traits>;
    using QueuedMessage = typename Core::QueuedMessage;
    friend Publishing<Bus, List, Traits, QueuedMessage>;
    template <class, std::size_t>
    friend class detail::BusGroup;
    using Observer = typename Traits::Observer;

public:
    using MessageTypes = List;
    using Header = MessageHeader<Traits>;
    using Statistics = BusStatistics<List::count>;
    using Clock = typename Core::Clock;

    Bus() : core_(nullptr) {}
    /// The observer must outlive the bus.
    explicit Bus(Observer& observer) : core_(&observer) {}
    Bus(const Bus&) = delete;
    Bus& operator=(const Bus&) = delete;
    /// Ends all subscriptions and destroys all messages. The handlers are destroyed first, while
    /// all parts of the bus exist, because their captures may own subscriptions of the bus.
    ~Bus() { end(); }

    // ---- Publishers: publish, tryPublish, publishFor, emplace, emplaceWith, publishAll, see
    // Publishing

    /// Allocates the counters of the calling thread, so that its publications allocate nothing.
    /// Returns false if there is no memory.
    bool attachThread() noexcept { return core_.counts().attachThread(); }

    // ---- Subscribers

    /// Makes the bus call handler(const T&) or handler(const T&, const Header&) for each T that the
    /// next process() and later calls serve. Handlers are called in the order of their
    /// subscription.
    ///
    /// The result is empty if T has Traits::maxHandlers handlers already. A handler that has ended
    /// itself counts until it returns. An empty handler, such as a null pointer, is misuse: it is
    /// not subscribed. The consumer may call the handler before this call has returned. So a
    /// handler that ends its own subscription may run before the program has stored it.
    template <class T, class Handler>
    Subscription subscribe(Handler&& handler) {
        using H = std::decay_t<Handler>;
        constexpr bool isListed = detail::checkListed<List, T>();
        constexpr bool takesHeader = std::is_invocable_v<H&, const T&, const Header&>;
        constexpr bool takesIt = takesHeader || std::is_invocable_v<H&, const T&>;
        constexpr bool isUnconverted = !takesIt || detail::takesUnconverted<H, T>;
        constexpr bool fits = sizeof(H) <= Traits::handlerSize;
        static_assert(takesIt, "a handler takes (const T&) or (const T&, const Header&)");
        static_assert(isUnconverted, "the handler takes the message only by converting it: "
                                     "subscribe it for its own type");
        static_assert(fits,
                      "a handler's captures take more than handlerSize of the traits: capture a "
                      "pointer, or raise it");
        if constexpr (!isListed || !takesIt || !isUnconverted ||
                      !fits) {  // avoids follow-up errors
            return {};
        } else if (detail::isEmptyCallable<H>(handler)) {
            SLUICE_ASSERT(false, "an empty handler is to be subscribed, which nobody could call");
            return {};
        } else if constexpr (takesHeader) {
            return subscribed<T>(handlersOf<T>().add(std::forward<Handler>(handler)));
        } else {
            return subscribed<T>(handlersOf<T>().add(
                [h = H(std::forward<Handler>(handler))](const T& message, const Header&) mutable {
                    static_cast<void>(std::invoke(h, message));
                }));
        }
    }

    /// The number of subscriptions for T.
    template <class T>
    [[nodiscard]] std::size_t subscriptionCount() const noexcept {
        return std::get<detail::listedIndex<List, T>()>(handlers_).size();
    }

    // ---- The consumer

    /// Hands the queued messages, at most `max`, to their handlers. Returns their number, which is
    /// never more than capacity(). Messages published during the call may be handled now or by the
    /// next call.
    std::size_t process(std::size_t max = unlimited) {
        return core_.harvest(max, [this](auto& delivery) { this->dispatch(delivery); });
    }

    /// As process(), but calls visitor(T&, const Header&) or visitor(T&) instead of the handlers.
    /// The visitor takes every T of the list, and may move the message out. See overload() and
    /// partial().
    template <class Visitor>
    std::size_t processWith(Visitor&& visitor, std::size_t max = unlimited) {
        return core_.harvest(max, [&visitor](auto& delivery) { show(delivery, visitor); });
    }

    /// As processWith(), but asks isOver() before each message. If isOver() is true, the message is
    /// discarded, and counts as discarded. Returns the number of messages that left the bus.
    template <class IsOver, class Visitor>
    std::size_t processUntil(IsOver isOver, Visitor&& visitor, std::size_t max = unlimited) {
        return core_.harvest(max, [&](auto& delivery) {
            delivery.isFailed = true;  // stays true if isOver() throws
            if (__builtin_expect(isOver(), 0)) {
                delivery.isDiscarded = true;
            } else {
                show(delivery, visitor);
            }
        });
    }

    /// Processes messages, and waits while there are none. Returns when the bus is closed and
    /// drained.
    void run() {
        runUntilDrained([this] { return process(); });
    }
    template <class Visitor>
    void runWith(Visitor&& visitor) {
        runUntilDrained([this, &visitor] { return processWith(visitor); });
    }

    /// Waits for a message. Returns false if none came in time, or if the bus is closed and
    /// drained.
    template <class Rep, class Period>
    bool waitFor(std::chrono::duration<Rep, Period> atMost) {
        return waitUntil(deadlineAfter<Clock>(atMost));
    }
    /// As waitFor(), with a deadline. isOver() ends the wait, too: make it true, then call
    /// waiting().notifyAll().
    bool waitUntil(typename Clock::time_point deadline) {
        return waitUntil(deadline, [] { return false; });
    }
    template <class IsOver>
    bool waitUntil(typename Clock::time_point deadline, const IsOver& isOver) {
        return core_.waitUntil(deadline, isOver);
    }

    /// Counts a message as `full` that the caller has not offered to the bus, because of a limit of
    /// its own.
    template <class T>
    void countAsFull(Priority priority) noexcept {
        SLUICE_ASSERT(detail::indexOf(priority) < priorityCount, "there is no such priority");
        core_.counts().count(detail::listedIndex<List, T>(),
                             Traits::priorities ? priority : Priority::medium,
                             detail::PublishOutcome::full, 1);
    }
    /// Sets whether publishers wait for room before a thread has consumed for the first time. By
    /// default they wait. One thread calls it, while no thread consumes.
    void letPublishersWait(bool isOn) noexcept { core_.consumer().letPublishersWait(isOn); }

    /// The wait strategy of the consumer. It may have functions of its own: see EventFdWait.
    [[nodiscard]] typename Traits::Wait& waiting() noexcept { return core_.arrived(); }

    /// Destroys all messages in the bus, and counts them as discarded. Returns their number.
    std::size_t discard() {
        return core_.harvest(unlimited, [](auto& delivery) { delivery.isDiscarded = true; });
    }

    // ---- Anybody

    /// Refuses later messages, and ends all waiting for room. May be called repeatedly.
    void close() noexcept { core_.close(); }

    [[nodiscard]] bool isClosed() const noexcept { return core_.rings().isClosed(); }

    /// Whether the bus is closed and all accepted messages have left it. Once true, it stays true.
    [[nodiscard]] bool isDrained() const noexcept { return core_.rings().isDrained(); }

    /// Whether the caller is a handler or visitor of this bus, or was called by one. If such a
    /// caller waits for the consumer, it waits for itself.
    [[nodiscard]] bool isConsumedHere() const noexcept { return core_.consumer().isHere(); }

    /// Closes the bus, and waits until the consumer has handled all accepted messages. Returns
    /// false if the deadline came first. In a handler it does not wait. If the calling thread is
    /// the consumer, it calls process() first: while it waits here, no thread consumes.
    bool drain(typename Clock::time_point deadline) { return core_.drain(deadline); }

    /// Whether drain() also waits until the calls that published the handled messages have
    /// returned. If it is false, join all publishers before the bus is destroyed. Otherwise join:
    /// - a publisher whose last call was refused or threw;
    /// - a publisher for whose counters attachThread() finds no memory;
    /// - a publisher that publishes while the destructors of its thread_local objects run.
    ///
    /// Join the consumer in any case. Debug builds notice a bus that is destroyed while a thread
    /// publishes.
    static constexpr bool drainAwaitsPublishers =
        Traits::statistics || !Traits::Platform::hasThreads;

    /// The level of the highest priority whose room is full. (With dropOldest, a message that is
    /// being handled counts here, although the next message drops nothing.)
    [[nodiscard]] Pressure pressure() const noexcept { return core_.rings().pressure(); }

    /// The number of messages in the bus, never more than capacity(). Messages that are being
    /// published or handled count.
    [[nodiscard]] std::size_t sizeApprox() const noexcept { return core_.rings().size(); }

    /// The largest number of messages in the bus: the sum of all rooms. (With dropOldest, the bus
    /// may hold one message more, which is being handled; statistics() counts it as queued.)
    [[nodiscard]] static constexpr std::size_t capacity() noexcept {
        return detail::allRooms<Traits>();
    }

    /// The room of a priority, in messages. Without priorities, all messages have medium priority.
    [[nodiscard]] static constexpr std::size_t roomOf(Priority priority) noexcept {
        return detail::roomOf<Traits>(priority);
    }

    /// The counts so far.
    [[nodiscard]] Statistics statistics() const {
        static_assert(Traits::statistics, "this bus keeps no statistics: see its traits");
        if constexpr (Traits::statistics) {  // avoids follow-up errors
            return core_.statistics();
        } else {
            return {};
        }
    }

private:
    template <class T>
    using HandlersOf = detail::HandlerTable<void(const T&, const Header&), Traits>;

    void end() noexcept {
        core_.close();  // so that no destructor of a handler waits for room
        std::apply([](auto&... tables) { (tables.endAll(), ...); }, handlers_);
        core_.end();
    }

    [[nodiscard]] auto stay() noexcept { return typename Core::Counts::Staying(core_.counts()); }
    template <class Count, class Waiting, class Build>
    detail::PublishAnswer publishThrough(std::size_t type, const PublishOptions& options,
                                         Count count, const Waiting& waiting, const Build& build) {
        return core_.publish(type, options.priority, detail::OptionFields<Traits>(options), count,
                             waiting, build);
    }

    template <class T>
    HandlersOf<T>& handlersOf() noexcept {
        return std::get<detail::listedIndex<List, T>()>(handlers_);
    }

    template <class T>
    Subscription subscribed(typename HandlersOf<T>::Id id) noexcept {
        return id.generation == 0
                   ? Subscription()
                   : Subscription(this, &remove<T>, static_cast<std::uint32_t>(id.slot),
                                  id.generation);
    }

    template <class T>
    static detail::UnsubscribeResult remove(void* self, std::uint32_t slot,
                                            std::uint64_t generation,
                                            detail::UnsubscribeCaller caller) noexcept {
        Bus& bus = *static_cast<Bus*>(self);
        const typename HandlersOf<T>::Id id{slot, static_cast<CounterWord>(generation)};
        return bus.handlersOf<T>().remove(id, caller, bus.core_.consumer());
    }

    template <class Delivery>
    [[gnu::always_inline]] void dispatch(Delivery& delivery) noexcept {
        QueuedMessage& queued = delivery.queued;
        queued.visit([&](auto& message) {
            using T = std::decay_t<decltype(message)>;
            const auto failed = [&](const auto& exception) {
                delivery.countFailure();
                this->tellFailure(List::template indexOf<T>, exception);
            };
            handlersOf<T>().callAll(core_.consumer(), failed, std::as_const(message),
                                    queued.header());
        });
    }

    template <class Delivery, class Visitor>
    [[gnu::always_inline]] static void show(Delivery& delivery, Visitor& visitor) {
        QueuedMessage& queued = delivery.queued;
        delivery.isFailed = true;  // stays true if the visitor throws
        queued.visit(
            [&](auto& message) { detail::callVisitor(visitor, message, queued.header()); });
        delivery.isFailed = false;
    }

    template <class Exception>
    void tellFailure([[maybe_unused]] std::size_t type,
                     [[maybe_unused]] const Exception& exception) noexcept {
#if defined(__cpp_exceptions)
        if (core_.observer() != nullptr) {
            core_.observer()->handlerFailed(type, exception);
        }
#endif
    }

    template <class Harvest>
    void runUntilDrained(Harvest harvest) {
        const typename Traits::Pacing pacing;
        while (!isDrained()) {
            const std::size_t count = harvest();
            if (count != 0) {
                pacing.polled(count);
            } else {
                (void)waitUntil(Clock::time_point::max());
            }
        }
    }

    std::tuple<HandlersOf<Ts>...> handlers_;
    Core core_;
};

}  // namespace sluice
