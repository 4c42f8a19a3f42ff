#pragma once

/// \file
/// Bus: typed messages from any number of publishers to the handlers of one consumer, the urgent
/// ones first.
///
/// Purpose: the parts of a program talk to each other through one object without knowing each
/// other, and without a heap. Under overload the messages that matter still get through, and the
/// accounts tell what became of each.
///
/// Use it when messages are of a few known types, of unequal urgency, or must not block their
/// publishers. Use EventQueue for listeners keyed by run-time values, MpscRing for one type of
/// message and one reader.
///
/// Who may call what: publish and emplace by any thread, also by handlers (with Producers::one, by
/// one thread at a time); process, processWith, run, runWith, waitFor and discard by the consumer,
/// one thread at a time; the rest by anybody. Handlers may do anything but consume from their own
/// bus and destroy it.
///
/// Progress: publishing is lock-free up to the slot of the queue; there, as in MpscRing, a
/// publisher that is stopped between taking its place and filling it delays the delivery of later
/// messages of the same priority. Overflow::block waits as its name says; Overflow::dropOldest
/// takes a spin lock for some instructions. Consuming is wait-free but for handlers and the lock of
/// a changed table of handlers.
///
/// Order: a message is delivered before those of the same priority whose publication began after
/// its own had returned. With Service::strict it is delivered before all of a lower priority that
/// are still queued: so a message of high priority waits for at most one handler of lower ones, the
/// one that runs. With Service::weighted, a message at the head of its priority waits for at most
/// the weights of the others.
///
/// Admission: a message is let in while fewer messages than the limit of its priority are in the
/// bus, those counted that are being published or handled. A refusal is exact: the limit was
/// reached at some moment during the call.
///
/// Memory promise: what a publisher wrote before publishing is visible to the handlers of the
/// message; what handlers wrote is visible to who finds their message gone.
///
/// Capacity: Traits::depth slots, in the object itself: give it static storage or a place on the
/// heap. The constructor allocates the accounts' board, the first publication of each thread its
/// counters; without statistics nothing is ever allocated. Exceptions: when the constructor of a
/// message throws, the exception passes to the publisher, and nothing was published. A handler that
/// throws is counted and told to the observer, the others still run. An exception of a visitor
/// passes through, its message counts as delivered and failed. Shutdown: close() refuses later
/// messages; what was accepted stays until consumed, discarded or, at the latest, destroyed with
/// the bus.
///
/// Origin: slots, compile-time types and admission by priority as in D. Liu's MCCC bus; that
/// priority is an order too, and exact accounts, are new.
///
/// Edges: those of SlotGate, MpscRing and HandlerTable. E1 drained: slot released, light fence,
/// isClosing read -- against -- isClosing written, heavy fence of a wait, drained? read: either
/// drain() sees the end or the consumer wakes it.
///
/// Tests: tests/unit/bus, tests/stress/bus_stress_test.cpp, tests/model/bus_model_test.cpp.

#include <sluice/bus/bus_statistics.hpp>
#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/detail/bus_types.hpp>
#include <sluice/bus/detail/guarded_call.hpp>
#include <sluice/bus/detail/handler_table.hpp>
#include <sluice/bus/message_header.hpp>
#include <sluice/bus/messages.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/bus/publish_result.hpp>
#include <sluice/bus/subscription.hpp>
#include <sluice/bus/visitor.hpp>
#include <sluice/queue/detail/role_check.hpp>
#include <sluice/wait/deadline.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sluice {

template <class MessageList, class Traits = FullBusTraits>
class Bus;

template <class... Ts, class Traits>
class Bus<Messages<Ts...>, Traits> : private detail::BusTypes<Messages<Ts...>, Traits>::Accounts {
    using List = Messages<Ts...>;
    using Types = detail::BusTypes<List, Traits>;
    using Envelope = typename Types::Envelope;
    using Accounts = typename Types::Accounts;
    using Platform = typename Traits::Platform;
    using RoleCheck = detail::RoleCheck<Platform>;
    using Observer = typename Traits::Observer;
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;

public:
    using MessageTypes = List;
    using Header = typename Types::Header;
    using Statistics = BusStatistics<List::count>;
    using Clock = typename Platform::Clock;

    Bus() = default;
    /// The observer must outlive the bus.
    explicit Bus(Observer& observer) : observer_(&observer) {}
    Bus(const Bus&) = delete;
    Bus& operator=(const Bus&) = delete;

    ~Bus() {
        const auto drop = [](Envelope& envelope) noexcept { destroy(envelope); };
        while (store_.serve(drop, Traits::depth) != 0) {
        }
    }

    // ---- Publishers

    /// Publishes a copy of, or moves in, a message. Medium priority unless told otherwise.
    template <class T>
    PublishResult publish(T&& message) {
        return emplaceWith<std::decay_t<T>>(PublishOptions{}, std::forward<T>(message));
    }
    template <class T>
    PublishResult publish(T&& message, Priority priority) {
        static_assert(Traits::priorities, "this bus has no priorities: see its traits");
        return emplaceWith<std::decay_t<T>>(PublishOptions{priority}, std::forward<T>(message));
    }
    template <class T>
    PublishResult publish(T&& message, const PublishOptions& options) {
        return emplaceWith<std::decay_t<T>>(options, std::forward<T>(message));
    }

    /// Builds a T in its slot. The arguments are used only if it is accepted.
    template <class T, class... Args>
    PublishResult emplace(Args&&... args) {
        return emplaceWith<T>(PublishOptions{}, std::forward<Args>(args)...);
    }
    template <class T, class... Args>
    PublishResult emplaceWith(const PublishOptions& options, Args&&... args) {
        static_assert(List::template contains<T>,
                      "this type is not among the Messages of the bus: add it to the list");
        const auto fill = [&](Envelope& envelope) {
            envelope.template build<T>(std::forward<Args>(args)...);
            describe(envelope, options);
        };
        return publishWith<T>(options.priority, 1, fill).result;
    }

    /// Publishes copies of the messages of a range, as many as there is room for, at the price of
    /// one. Returns how many: those after them were not accepted.
    template <class Iterator>
    std::size_t publishAll(Iterator first, Iterator last, const PublishOptions& options = {}) {
        using T = typename std::iterator_traits<Iterator>::value_type;
        static_assert(List::template contains<T>,
                      "this type is not among the Messages of the bus: add it to the list");
        const auto fill = [&](Envelope& envelope) {
            envelope.template build<T>(*first);
            describe(envelope, options);
            ++first;
        };
        const auto count = static_cast<std::size_t>(std::distance(first, last));
        std::size_t accepted = 0;
        while (accepted < count) {
            const std::size_t n = publishWith<T>(options.priority, count - accepted, fill).count;
            if (n == 0) {
                break;
            }
            accepted += n;
        }
        return accepted;
    }

    // ---- Subscribers

    /// Has handler(const T&) or handler(const T&, const Header&) called for each T that is served
    /// after process() has been called next. Handlers are called in the order of their
    /// subscription. The result is empty when Traits::maxHandlers are there already.
    template <class T, class Handler>
    Subscription subscribe(Handler&& handler) {
        static_assert(List::template contains<T>,
                      "this type is not among the Messages of the bus: add it to the list");
        using Table = HandlersOf<T>;
        using H = std::decay_t<Handler>;
        typename Table::Id id;
        if constexpr (std::is_invocable_v<H&, const T&, const Header&>) {
            id = handlersOf<T>().add(std::forward<Handler>(handler));
        } else {
            static_assert(std::is_invocable_v<H&, const T&>,
                          "a handler takes (const T&) or (const T&, const Header&)");
            id = handlersOf<T>().add([h = H(std::forward<Handler>(handler))](
                                         const T& message, const Header&) mutable { h(message); });
        }
        if (id.life == 0) {
            return {};
        }
        return Subscription(this, &Bus::template remove<T>, id.place, id.life);
    }

    /// The subscriptions for T.
    template <class T>
    [[nodiscard]] std::size_t subscriptionCount() const noexcept {
        return handlersOf<T>().size();
    }

    // ---- The consumer

    /// Hands the messages that are there, at most `max` and at most the depth, to their handlers.
    /// Returns how many.
    std::size_t process(std::size_t max = unlimited) {
        return harvest(max, [this](Envelope& envelope) { dispatch(envelope); });
    }

    /// The same with a visitor instead of the handlers: visitor(T&, const Header&) or visitor(T&)
    /// for every T of the list, which may move the message out. See overload() and partial().
    template <class Visitor>
    std::size_t processWith(Visitor&& visitor, std::size_t max = unlimited) {
        return harvest(max, [this, &visitor](Envelope& envelope) { show(envelope, visitor); });
    }

    /// Processes, and waits when there is nothing to do, until the bus is closed and drained.
    void run() {
        runUntilDrained([this] { return process(); });
    }
    template <class Visitor>
    void runWith(Visitor&& visitor) {
        runUntilDrained([this, &visitor] { return processWith(visitor); });
    }

    /// Waits for a message; false when none came in time, or the bus is closed and drained.
    template <class Rep, class Period>
    bool waitFor(std::chrono::duration<Rep, Period> atMost) {
        time_.suspend();
        (void)arrived_.waitUntil([this] { return store_.hasMessage() || isDrained(); },
                                 deadlineAfter<Clock>(atMost));
        return store_.hasMessage();
    }

    /// Throws away, and counts as discarded, what is in the bus. Returns how much.
    std::size_t discard() {
        return harvest(unlimited, [this](Envelope& envelope) {
            this->discarded(envelope.typeIndex(), priorityOf(envelope));
            destroy(envelope);
        });
    }

    // ---- Anybody

    /// Refuses messages from now on, and ends all waiting for room. May be called repeatedly.
    void close() noexcept {
        store_.close();
        isClosing_.store(true, std::memory_order_release);
        arrived_.notifyAll();
        room_.notifyAll();
    }

    [[nodiscard]] bool isClosed() const noexcept { return store_.isClosed(); }

    /// Whether the bus is closed and everything accepted is gone: for good.
    [[nodiscard]] bool isDrained() const noexcept { return store_.isDrained(); }

    /// Closes, and waits until the consumer has dealt with what was accepted. False when the
    /// deadline came first, and at once when a handler calls it.
    bool drain(typename Clock::time_point deadline) {
        close();
        if (consumer_.isHere()) {
            return isDrained();
        }
        return room_.waitUntil([this] { return isDrained(); }, deadline);
    }

    /// How full the bus is.
    [[nodiscard]] Pressure pressure() const noexcept {
        return detail::pressureAt<Traits>(store_.used(), capacity());
    }

    /// The messages in the bus, those included that are being published or handled: never more than
    /// capacity().
    [[nodiscard]] std::size_t sizeApprox() const noexcept {
        return std::min(store_.used(), capacity());
    }

    /// The most messages that are let in.
    [[nodiscard]] static constexpr std::size_t capacity() noexcept { return Store::capacity(); }

    /// The most messages with which one of this priority is let in.
    [[nodiscard]] static constexpr std::size_t limitOf(Priority priority) noexcept {
        return Traits::priorities ? detail::limitOf<Traits>(priority) : capacity();
    }

    /// The accounts.
    [[nodiscard]] Statistics statistics() const {
        static_assert(Traits::statistics, "this bus keeps no statistics: see its traits");
        return this->get();
    }

private:
    using Store = typename Types::Store;
    template <class T>
    using HandlersOf = detail::HandlerTable<void(const T&, const Header&), Traits>;
    using Wait = typename Traits::Wait;

    /// After so many messages a harvest looks at the clock and at the pressure.
    static constexpr std::size_t chunk = 64;
    /// After so many it wakes publishers that wait for room.
    static constexpr std::size_t step = detail::canBlock<Traits>() ? 1 : chunk;

    static Priority priorityOf([[maybe_unused]] const Envelope& envelope) noexcept {
        if constexpr (Traits::priorities) {
            return envelope.priority;
        } else {
            return Priority::medium;
        }
    }

    // ---- Publishing

    void describe(Envelope& envelope, [[maybe_unused]] const PublishOptions& options) noexcept {
        if constexpr (Traits::timeStamp != TimeStamp::none) {
            envelope.timeStamp = time_.stamp();
        }
        if constexpr (Traits::traces) {
            envelope.trace = options.trace;
        }
        if constexpr (Traits::senders) {
            envelope.sender = options.sender;
        }
        if constexpr (Traits::origins) {
            envelope.origin = options.origin;
        }
        if constexpr (Traits::priorities) {
            envelope.priority = options.priority;
        }
    }

    static constexpr bool isRefused(const detail::Published& published) noexcept {
        return published.result == PublishResult::full ||
               published.result == PublishResult::refused;
    }

    /// Publishes at least one message, or none. Afterwards the accounts know of those that were
    /// accepted, or, if none was, of all that were offered.
    template <class T, class Fill>
    detail::Published publishWith(Priority priority, std::size_t count, const Fill& fill) {
        Publication publication{*this, List::template indexOf<T>, priority};
        const auto fillAndCount = [&](Envelope& envelope) {
            fill(envelope);
            ++publication.built;
        };
        detail::Published published = store_.publish(priority, count, fillAndCount);
        if (isRefused(published)) {
            published = overflow(publication, count, fillAndCount, published);
        }
        if (published.result == PublishResult::ok) {
            noteRise(published.usedAtMost);
        } else {
            this->count(publication.type, priority, published.result, count);
        }
        return published;
    }

    /// Messages on their way. Also when a constructor throws, those before it are counted, and the
    /// consumer is woken: the slot must be fetched.
    struct Publication {
        Bus& bus;
        std::size_t type;
        Priority priority;
        std::size_t built = 0;

        ~Publication() {
            if (built != 0) {
                bus.count(type, priority, detail::Outcome::published, built);
            }
            bus.arrived_.notifyAll();
        }
    };

    static constexpr bool isRefused(const detail::Published& published) noexcept {
        return published.result == PublishResult::full ||
               published.result == PublishResult::refused;
    }

    /// At least one message; afterwards the accounts know of those that were accepted, or, if none
    /// was, of all that were offered.
    template <class T, class Fill>
    detail::Published publishWith(Priority priority, std::size_t count, const Fill& fill) {
        constexpr std::size_t type = List::template indexOf<T>;
        const Awakening arrival{arrived_};
        detail::Published published = store_.publish(priority, count, fill);
        if (isRefused(published)) {
            published = overflow(priority, type, count, fill, published);
        }
        const bool isAccepted = published.result == PublishResult::ok;
        this->count(type, priority, published.result, isAccepted ? published.count : count);
        if (isAccepted) {
            noteRise(published.usedAtMost);
        }
        return published;
    }

    /// There is no room: what the traits want done about it.
    template <class Fill>
    [[gnu::noinline]] detail::Published
    overflow(const Publication& publication, [[maybe_unused]] std::size_t count,
             [[maybe_unused]] const Fill& fill, detail::Published published) {
        [[maybe_unused]] const Priority priority = publication.priority;
        [[maybe_unused]] const Overflow policy = Traits::overflow[detail::place(priority)];
        if constexpr (detail::canDrop<Traits>()) {
            const bool drops = policy == Overflow::dropOldest || policy == Overflow::keepLatest;
            const auto isMeant = [&](const Envelope& envelope) noexcept {
                return policy == Overflow::dropOldest || envelope.typeIndex() == publication.type;
            };
            const auto drop = [this](Envelope& envelope) noexcept { dropOne(envelope); };
            while (drops && isRefused(published) && store_.dropOldest(priority, isMeant, drop)) {
                published = store_.publish(priority, count, fill);
            }
        }
        if constexpr (detail::canBlock<Traits>()) {
            const bool blocks = policy == Overflow::block || policy == Overflow::blockFor;
            if (blocks && !consumer_.isHere()) {
                (void)room_.waitUntil(
                    [&] {
                        published = store_.publish(priority, count, fill);
                        return !isRefused(published);
                    },
                    policy == Overflow::block ? Clock::time_point::max()
                                              : deadlineAfter<Clock>(Traits::blockLimit));
            }
        }
        return published;
    }

    void dropOne(Envelope& envelope) noexcept {
        if (envelope.typeIndex() != Envelope::nothing) {
            this->count(envelope.typeIndex(), priorityOf(envelope), detail::Outcome::dropped, 1);
            envelope.destroy();
        }
    }

    /// After a publication. `usedAtMost` tells cheaply, and nearly always, that there is nothing to
    /// note.
    void noteRise([[maybe_unused]] std::size_t usedAtMost) noexcept {
        if constexpr (Traits::statistics) {
            if (usedAtMost > this->highWater()) {
                usedAtMost = store_.refreshUsed();
                this->sawUsed(usedAtMost);
            }
        }
        if (gauge_.isAbove(detail::pressureAt<Traits>(usedAtMost, capacity()))) {
            (void)store_.refreshUsed();
            tellPressure();
        }
    }

    void tellPressure() noexcept {
        if constexpr (detail::observesPressure<Observer>) {
            gauge_.tell(pressure(), observer_);
        }
    }

    // ---- Consuming

    /// A thread in the role of the consumer.
    class Consuming {
    public:
        explicit Consuming(Bus& bus) noexcept
            : bus_(bus), role_(bus.consumerRole_, detail::oneConsumer) {
            bus_.consumer_.begin();
        }
        ~Consuming() {
            bus_.endHarvest(served);
            bus_.consumer_.end();
        }
        Consuming(const Consuming&) = delete;
        Consuming& operator=(const Consuming&) = delete;

        std::size_t served = 0;  ///< slots that came back, with messages or without

    private:
        Bus& bus_;
        typename RoleCheck::Scope role_;
    };

    template <class Handle>
    std::size_t harvest(std::size_t max, Handle&& handle) {
        SLUICE_ASSERT(!consumer_.isHere(),
                      "a handler consumes from its own bus: let it return, and consume then");
        if (consumer_.isHere()) {
            return 0;
        }
        Consuming consuming(*this);
        std::size_t count = 0;
        const auto handleIfBuilt = [&](Envelope& envelope) {
            if (envelope.typeIndex() != Envelope::nothing) {
                ++count;
                handle(envelope);
            }
        };
        const std::size_t most = std::min(max, Traits::depth);
        while (consuming.served < most) {
            const std::size_t served =
                store_.serve(handleIfBuilt, std::min(step, most - consuming.served));
            if (served == 0) {
                break;
            }
            consuming.served += served;
            if constexpr (detail::canBlock<Traits>()) {
                room_.notifyAll();
            }
            if (consuming.served % chunk == 0) {
                endChunk();
            }
        }
        return count;
    }

    void endChunk() noexcept {
        time_.settle(accounts());
        tellPressure();
    }

    void endHarvest(std::size_t served) noexcept {
        // After empty harvests the clock and what publishers write are left alone, mostly: who
        // polls should not slow them down.
        emptyHarvests_ = served == 0 ? emptyHarvests_ + 1 : 0;
        if (emptyHarvests_ % chunk == 0) {
            endChunk();
        }
        // E1 drained. Relaxed: the fence orders it.
        Platform::Fence::light();
        if (isClosing_.load(std::memory_order_relaxed)) {
            room_.notifyAll();
        }
    }

    /// A message while it is handled.
    struct Delivery {
        Bus& bus;
        Envelope& envelope;
        std::uint64_t failures = 0;

        ~Delivery() { bus.endDelivery(envelope, failures); }
    };

    void endDelivery(Envelope& envelope, std::uint64_t failures) noexcept {
        this->delivered(envelope.typeIndex(), priorityOf(envelope), failures);
        if constexpr (Traits::timeStamp != TimeStamp::none) {
            time_.handled(envelope.timeStamp, priorityOf(envelope), accounts());
        }
        envelope.destroy();
    }

    void dispatch(Envelope& envelope) {
        Delivery delivery{*this, envelope};
        envelope.visit([&](auto& message) {
            using T = std::decay_t<decltype(message)>;
            handlersOf<T>().forEach(consumer_, [&](auto& callable) {
                detail::guardedCall([&] { callable(std::as_const(message), envelope.header()); },
                                    [&](const auto& exception) {
                                        ++delivery.failures;
                                        tellFailure(envelope.typeIndex(), exception);
                                    });
            });
        });
    }

    template <class Visitor>
    void show(Envelope& envelope, Visitor& visitor) {
        Delivery delivery{*this, envelope, 1};
        envelope.visit(
            [&](auto& message) { detail::callVisitor(visitor, message, envelope.header()); });
        delivery.failures = 0;
    }

    template <class Exception>
    void tellFailure([[maybe_unused]] std::size_t type,
                     [[maybe_unused]] const Exception& exception) noexcept {
#if defined(__cpp_exceptions)
        if constexpr (detail::observesFailures<Observer>) {
            if (observer_ != nullptr) {
                observer_->handlerFailed(type, exception);
            }
        }
#endif
    }

    static void destroy(Envelope& envelope) noexcept {
        if (envelope.typeIndex() != Envelope::nothing) {
            envelope.destroy();
        }
    }

    template <class Harvest>
    void runUntilDrained(Harvest harvest) {
        const typename Traits::Pacing pacing;
        while (!isDrained()) {
            const std::size_t count = harvest();
            if (count == 0) {
                (void)waitFor(std::chrono::hours(1));
            } else {
                pacing.harvested(count);
            }
        }
    }

    // ---- Subscriptions

    template <class T>
    HandlersOf<T>& handlersOf() noexcept {
        return std::get<HandlersOf<T>>(handlers_);
    }
    template <class T>
    const HandlersOf<T>& handlersOf() const noexcept {
        return std::get<HandlersOf<T>>(handlers_);
    }

    template <class T>
    static bool remove(void* self, std::size_t place, std::uint64_t life) noexcept {
        Bus& bus = *static_cast<Bus*>(self);
        return bus.handlersOf<T>().remove({place, life}, bus.consumer_);
    }

    Accounts& accounts() noexcept { return *this; }

    // Read by all, seldom written.
    alignas(Traits::cacheLineSize) Observer* observer_ = nullptr;
    typename Types::Gauge gauge_;
    Atomic<bool> isClosing_{false};
    std::tuple<HandlersOf<Ts>...> handlers_;
    Wait arrived_;
    Wait room_;
    typename Types::TimeKeeper time_;
    Store store_;

    // The consumer's.
    alignas(Traits::cacheLineSize) detail::ConsumerState<Platform> consumer_;
    std::size_t emptyHarvests_ = 0;
    RoleCheck consumerRole_;
};

}  // namespace sluice
