#pragma once

#include <sluice/base/role_check.hpp>
#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/detail/bus_types.hpp>
#include <sluice/bus/detail/consumer_state.hpp>
#include <sluice/bus/detail/limits.hpp>
#include <sluice/bus/message_header.hpp>
#include <sluice/wait/deadline.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sluice::detail {

/// What a bus is made of, and the two ways through it: publish() from the gate to a slot, harvest()
/// from a slot to a handler. The public class adds what messages and handlers look like.
///
/// Edges: E1 drained: slot released, light fence, isClosing read -- against -- isClosing written,
/// heavy fence of a wait, drained? read: either drain() sees the end or the consumer wakes it.
template <class MessageList, class Traits>
class BusCore : private BusTypes<MessageList, Traits>::Accounts {
    using Types = BusTypes<MessageList, Traits>;
    using Platform = typename Traits::Platform;
    using RoleCheck = sluice::RoleCheck<Platform>;
    using Store = typename Types::Store;
    using Wait = typename Traits::Wait;
    using Observer = typename Traits::Observer;

public:
    using Accounts = typename Types::Accounts;
    using Clock = typename Platform::Clock;
    using Envelope = typename Types::Envelope;

    explicit BusCore(Observer* observer) : observer_(observer) {}
    BusCore(const BusCore&) = delete;
    BusCore& operator=(const BusCore&) = delete;

    ~BusCore() {
        const auto ignore = [](Envelope&) noexcept {};
        const auto drop = [](Envelope& envelope) noexcept {
            if (envelope.isBuilt()) {
                envelope.destroy();
            }
        };
        do {
            store_.begin();
        } while (store_.serve(ignore, drop, Store::slots, false) != 0);
    }

    // ---- Publishers

    /// Publishes at least one message of this type, which build(envelope) makes, or none.
    /// Afterwards the accounts know of those that were accepted or, if none was, of all that were
    /// offered.
    ///
    /// The options come by reference, and are read one by one: a copy of what the caller has just
    /// written in parts would wait until all its earlier writes have left the processor, among
    /// them those to slots whose lines are still on their way.
    template <class Build>
    Published publish(std::size_t gate, std::size_t type, const PublishOptions& options,
                      std::size_t count, const Build& build) {
        // Without priorities: the one that the books know.
        const Priority priority = Traits::priorities ? options.priority : Priority::medium;
        Publication publication{*this, gate, type, priority};
        const auto fill = [&](Envelope & envelope) __attribute__((always_inline)) {
            build(envelope);
            describe(envelope, options);
            ++publication.built;
            return isToBeStamped(envelope);
        };
        Published published = store_.publish(gate, priority, count, fill);
        if (isRefused(published)) {
            this->sawUsed(published.usedAtMost);
            published = overflow(publication, count, fill, published);
        }
        if (published.result == PublishResult::ok) {
            noteRise(gate, published.usedAtMost);
        } else {
            this->count(type, priority, published.result, count);
        }
        return published;
    }

    // ---- The consumer

    /// Hands messages, at most `max` and at most as many as there are slots, to handle(envelope).
    /// Returns how many.
    template <class Handle>
    std::size_t harvest(std::size_t max, Handle&& handle) {
        SLUICE_ASSERT(!consumer_.isHere(),
                      "a handler consumes from its own bus: let it return, and consume then");
        if (consumer_.isHere() || max == 0) {  // that would pass for a look in vain
            return 0;
        }
        Consuming consuming(*this);
        std::size_t count = 0;
        const auto arrived = [this](Envelope& envelope) noexcept { stampIfOpen(envelope); };
        const auto handleIfBuilt = [&](Envelope & envelope) __attribute__((always_inline)) {
            ++consuming.served;  // before it is handled: the handler may throw
            if (envelope.isBuilt()) {
                ++count;
                handle(envelope);
            }
        };
        const std::size_t most = std::min(max, Store::slots);
        for (std::size_t settled = 0; count < most && consuming.served < Store::slots;) {
            const RoomMade room{room_};
            const std::size_t wanted = std::min(step, most - count);
            const std::size_t served =
                store_.serve(arrived, handleIfBuilt, wanted, time_.mayFindOpen());
            if (served < wanted) {
                break;
            }
            if (consuming.served - settled >= chunk) {
                endChunk(consuming.served - settled);
                settled = consuming.served;
            }
        }
        return count;
    }

    /// A message has been handled, with so many failures.
    [[gnu::always_inline]] void endDelivery(Envelope& envelope, std::uint64_t failures) noexcept {
        this->delivered(envelope.typeIndex(), priorityOf(envelope), failures);
        if constexpr (Traits::timeStamp != TimeStamp::none) {
            time_.handled(envelope.timeStamp, priorityOf(envelope), accounts());
        }
        envelope.destroy();
    }

    /// A message is thrown away.
    void endDiscard(Envelope& envelope) noexcept {
        this->discarded(envelope.typeIndex(), priorityOf(envelope));
        envelope.destroy();
    }

    bool waitUntil(typename Clock::time_point deadline) {
        time_.suspend();
        bool hasMessage = false;
        const auto isOver = [&] {
            hasMessage = store_.hasMessage();
            return hasMessage || store_.isDrained();
        };
        (void)arrived_.waitUntil(isOver, deadline);
        tellIfClosing();
        // Not asked again: a publisher may have dropped the message, and no would mean that the
        // strategy has waited in vain, after which an event loop goes to sleep.
        return hasMessage;
    }

    // ---- Anybody

    void close() noexcept {
        store_.close();
        isClosing_.store(true, std::memory_order_release);
        arrived_.notifyAll();
        room_.notifyAll();
    }

    bool drain(typename Clock::time_point deadline) {
        close();
        if (consumer_.isHere()) {
            return store_.isDrained();
        }
        return room_.waitUntil([this] { return store_.isDrained(); }, deadline);
    }

    [[nodiscard]] const Store& store() const noexcept { return store_; }
    [[nodiscard]] Store& store() noexcept { return store_; }
    [[nodiscard]] const Accounts& accounts() const noexcept { return *this; }
    [[nodiscard]] ConsumerState<Platform>& consumer() noexcept { return consumer_; }
    [[nodiscard]] bool isConsumedHere() const noexcept { return consumer_.isHere(); }
    [[nodiscard]] Wait& arrived() noexcept { return arrived_; }
    [[nodiscard]] Observer* observer() const noexcept { return observer_; }

    /// Of the fullest gate.
    [[nodiscard]] Pressure pressure() const noexcept {
        Pressure highest = Pressure::normal;
        for (std::size_t gate = 0; gate != store_.gateCount(); ++gate) {
            highest = std::max(highest, pressureOf(gate));
        }
        return highest;
    }
    [[nodiscard]] Pressure pressureOf(std::size_t gate) const noexcept {
        return pressureAt<Traits>(store_.used(gate), Store::depthOf(gate));
    }

    [[nodiscard]] auto statistics() const {
        auto statistics = accounts().get();
        for (std::size_t gate = 0; gate != store_.gateCount(); ++gate) {
            statistics.highWater = std::max(statistics.highWater, store_.used(gate));
        }
        return statistics;
    }

    [[nodiscard]] std::size_t size() const noexcept {
        std::size_t sum = 0;
        for (std::size_t gate = 0; gate != store_.gateCount(); ++gate) {
            sum += store_.used(gate);
        }
        return sum;
    }

private:
    /// After so many messages a harvest looks at the clock and at the pressure.
    static constexpr std::size_t chunk = 64;
    /// After so many it wakes publishers that wait for room.
    static constexpr std::size_t step = canBlock<Traits>() ? 1 : chunk;

    Accounts& accounts() noexcept { return *this; }

    static Priority priorityOf([[maybe_unused]] const Envelope& envelope) noexcept {
        if constexpr (Traits::priorities) {
            return envelope.priority;
        } else {
            return Priority::medium;
        }
    }

    // ---- Publishing

    /// Messages on their way. Also when a constructor throws, those before it are counted, and the
    /// consumer is woken: it must fetch the slot.
    struct Publication {
        BusCore& bus;
        std::size_t gate;
        std::size_t type;
        Priority priority;
        std::size_t built = 0;

        ~Publication() {
            if (built != 0) {
                bus.count(type, priority, Outcome::published, built);
            }
            bus.arrived_.notifyAll();
            bus.tellIfClosing();  // it may have dropped the last message
        }
    };

    /// Wakes who waits for room, whether a handler returned or threw.
    struct RoomMade {
        Wait& waiters;
        ~RoomMade() {
            if constexpr (canBlock<Traits>()) {
                waiters.notifyAll();
            }
        }
    };

    /// Wakes who waits for the end, after everything that may have brought it about.
    void tellIfClosing() noexcept {
        Platform::Fence::light();  // E1 drained
        // Relaxed: the fence orders it.
        if (isClosing_.load(std::memory_order_relaxed)) {
            room_.notifyAll();
        }
    }

    /// Whether the consumer is to stamp it when it finds it.
    bool isToBeStamped([[maybe_unused]] const Envelope& envelope) const noexcept {
        if constexpr (Traits::timeStamp == TimeStamp::cached) {
            return time_.isOpen(envelope.timeStamp);
        } else {
            return false;
        }
    }

    void stampIfOpen([[maybe_unused]] Envelope& envelope) const noexcept {
        if constexpr (Traits::timeStamp == TimeStamp::cached) {
            time_.arrived(envelope.timeStamp);
        }
    }

    static constexpr bool isRefused(const Published& published) noexcept {
        return published.result == PublishResult::full ||
               published.result == PublishResult::refused;
    }

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

    /// There is no room: what the traits want done about it.
    template <class Fill>
    [[gnu::noinline]] Published overflow([[maybe_unused]] const Publication& publication,
                                         [[maybe_unused]] std::size_t count,
                                         [[maybe_unused]] const Fill& fill, Published published) {
        if constexpr (canDrop<Traits>()) {
            makeRoom(publication, count, fill, published);
        }
        if constexpr (canBlock<Traits>()) {
            awaitRoom(publication, count, fill, published);
        }
        return published;
    }

    template <class Fill>
    void makeRoom(const Publication& publication, std::size_t count, const Fill& fill,
                  Published& published) {
        const BusOverflow policy = Traits::overflow[place(publication.priority)];
        const bool drops = policy == BusOverflow::dropOldest || policy == BusOverflow::keepLatest;
        const auto isMeant = [&](const Envelope& envelope) noexcept {
            return policy == BusOverflow::dropOldest || envelope.typeIndex() == publication.type;
        };
        const auto drop = [this](Envelope& envelope) noexcept {
            if (envelope.isBuilt()) {
                this->count(envelope.typeIndex(), priorityOf(envelope), Outcome::dropped, 1);
                envelope.destroy();
            }
        };
        while (drops && isRefused(published) &&
               store_.dropOldest(publication.priority, isMeant, drop)) {
            published = store_.publish(publication.gate, publication.priority, count, fill);
        }
    }

    template <class Fill>
    void awaitRoom(const Publication& publication, std::size_t count, const Fill& fill,
                   Published& published) {
        const BusOverflow policy = Traits::overflow[place(publication.priority)];
        const bool blocks = policy == BusOverflow::block || policy == BusOverflow::blockFor;
        if (!blocks || !isRefused(published) || consumer_.isHere()) {
            return;
        }
        (void)room_.waitUntil(
            [&] {
                published = store_.publish(publication.gate, publication.priority, count, fill);
                return !isRefused(published);
            },
            policy == BusOverflow::block ? Clock::time_point::max()
                                         : deadlineAfter<Clock>(Traits::blockLimit));
    }

    // ---- Pressure

    /// After a publication. `usedAtMost` tells cheaply, and nearly always, that there is nothing to
    /// note.
    [[gnu::always_inline]] void noteRise(std::size_t gate, std::size_t usedAtMost) noexcept {
        if constexpr (Traits::statistics) {
            if (usedAtMost > this->highWater() + slack(gate)) {
                usedAtMost = store_.refreshUsed(gate);
                this->sawUsed(usedAtMost);
            }
        }
        if (gauge_.isAbove(pressureAt<Traits>(usedAtMost, Store::depthOf(gate)))) {
            (void)store_.refreshUsed(gate);
            tellPressure();
        }
    }

    /// What a publisher may leave to the consumer of the high water: to ask how many slots have
    /// come back takes as long as several publications.
    static constexpr std::size_t slack(std::size_t gate) noexcept {
        return Traits::priorities ? Store::depthOf(gate) / chunk : 0;
    }

    void tellPressure() noexcept {
        if constexpr (observesPressure<Observer>) {
            // Again if it has changed meanwhile, or the last word could be an old one.
            for (Pressure told = pressure();; told = pressure()) {
                gauge_.tell(told, observer_);
                if (told == pressure()) {
                    break;
                }
            }
        }
    }

    // ---- Consuming

    /// A thread in the role of the consumer.
    struct Consuming {
        explicit Consuming(BusCore& b) noexcept : bus(b), role(b.consumerRole_, oneConsumer) {
            bus.consumer_.begin();
            bus.store_.begin();
        }
        ~Consuming() {
            bus.sawUsed(bus.store_.mostUsed());
            bus.endHarvest(served);
            bus.consumer_.end();
        }
        Consuming(const Consuming&) = delete;
        Consuming& operator=(const Consuming&) = delete;

        BusCore& bus;
        typename RoleCheck::Scope role;
        std::size_t served = 0;  ///< slots, with messages or without
    };

    [[gnu::noinline]] void endChunk(std::size_t served) noexcept {
        time_.settle(served, accounts());
        tellPressure();
    }

    void endHarvest(std::size_t served) noexcept {
        emptyHarvests_ = served == 0 ? emptyHarvests_ + 1 : 0;
        if (emptyHarvests_ == 0) {
            endChunk(served);
        } else if (emptyHarvests_ % chunk == 0) {
            // After most empty harvests what publishers write is left alone: who polls should not
            // slow them down.
            time_.idle(chunk);
            tellPressure();
        }
        tellIfClosing();
    }

    // Read by all, seldom written.
    alignas(Traits::cacheLineSize) alignas(Observer*) Observer* observer_;
    typename Types::Gauge gauge_;
    typename Platform::template Atomic<bool> isClosing_{false};
    Wait arrived_;
    Wait room_;

    typename Types::TimeKeeper time_;
    Store store_;

    // The consumer's.
    alignas(Traits::cacheLineSize) alignas(ConsumerState<Platform>)
        ConsumerState<Platform> consumer_;
    std::size_t emptyHarvests_ = 0;
    RoleCheck consumerRole_;
};

}  // namespace sluice::detail
