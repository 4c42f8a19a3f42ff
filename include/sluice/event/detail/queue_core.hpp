#pragma once

#include <sluice/event/detail/event_harvest.hpp>
#include <sluice/event/detail/policy_traits.hpp>
#include <sluice/wait/deadline.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sluice::detail {

template <class P, class Item>
using QueueListMember = typename P::template QueueList<Item>;

/// Where the events of a queue are kept: in our slabs, or in the list of the policy.
template <class Event, class Policies>
auto selectLine() {
    if constexpr (isDetected<QueueListMember, Policies, QueueItem<Event>>) {
        return static_cast<ListLine<QueueListMember<Policies, QueueItem<Event>>>*>(nullptr);
    } else {
        return static_cast<SlabLine<Event>*>(nullptr);
    }
}

/// What all queues have in common: a dispatcher, and the store of the events in front of it.
///
/// A `Queued` is an event with its arguments. Its function visitQueued(queued, f), found by its
/// type, calls f(prototype, event, args...), and the dispatcher has dispatchTo(prototype, event,
/// args...).
template <class Dispatcher, class Queued, class Policies>
class QueueCore : public Dispatcher {
public:
    /// While one of these exists, adding events wakes nobody and wait() goes on waiting. When the
    /// last one ends, waiters are woken if there are events. May be nested.
    class DisableQueueNotify;

    QueueCore() : QueueCore(EventQueueOptions{}) {}

    /// A bounded queue. Refuses (see setupError) a limit of 0.
    explicit QueueCore(const EventQueueOptions& options) : store_(options) {}

    // Copying and moving concern the listeners; queued events stay where they are.
    QueueCore(const QueueCore& other) : Dispatcher(other), store_(other.store_.options()) {}
    QueueCore(QueueCore&& other) noexcept
        : Dispatcher(std::move(other)), store_(other.store_.options()) {}
    QueueCore& operator=(const QueueCore& other) {
        Dispatcher::operator=(other);
        return *this;
    }
    QueueCore& operator=(QueueCore&& other) noexcept {
        Dispatcher::operator=(std::move(other));
        return *this;
    }
    ~QueueCore() = default;

    /// Refuses events from now on.
    void close() noexcept { store_.close(); }
    [[nodiscard]] bool isClosed() const noexcept { return store_.isClosed(); }

    // ---- Consumers: any number of threads, each event goes to one of them

    /// Dispatches the events that are queued now. False when there were none.
    bool process() {
        return harvest(Amount::all, [this](auto& events) { dispatchFront(events); });
    }

    /// Dispatches the first event.
    bool processOne() {
        return harvest(Amount::one, [this](auto& events) { dispatchFront(events); });
    }

    /// Calls visitor(event, args...) for the events that are queued now, instead of listeners:
    /// without a search, mixins, or canContinueInvoking, and inlined.
    template <class Visitor>
    bool processQueueWith(Visitor&& visitor) {
        return harvest(Amount::all, [&](auto& events) { visitFront(events, visitor); });
    }

    /// The same for the first event.
    template <class Visitor>
    bool processOneWith(Visitor&& visitor) {
        return harvest(Amount::one, [&](auto& events) { visitFront(events, visitor); });
    }

    /// Destroys all queued events.
    void clearEvents() {
        harvest(Amount::all, [](auto& events) { events.drop(); });
    }

    /// Whether nothing is queued, being queued or being processed.
    [[nodiscard]] bool emptyQueue() const noexcept { return !store_.isBusy(); }

    /// How many events are queued, or were a moment ago.
    [[nodiscard]] std::size_t sizeApprox() const noexcept { return store_.size(); }

    /// How many events made room for others.
    [[nodiscard]] std::uint64_t discardedCount() const noexcept { return store_.discardedCount(); }

    /// Waits until there is an event, or until the queue is closed.
    void wait() const {
        store_.wait([this] { return store_.isReady() || isClosed(); });
    }

    /// The same with a limit. True when there is an event, or one is still being processed, and
    /// notification is not disabled.
    template <class Rep, class Period>
    bool waitFor(const std::chrono::duration<Rep, Period>& limit) const {
        const auto ready = [this] { return store_.isReady() || isClosed(); };
        if (limit > limit.zero() && !ready()) {
            (void)store_.waitUntil(ready, deadlineAfter<Clock>(limit));
        }
        return store_.isNotifying() && !emptyQueue();
    }

    /// Waits until everything that was accepted has been processed. Not from inside a listener.
    void drain() const {
        store_.wait([this] { return emptyQueue(); });
    }

    /// The same with a limit; false when it passed first.
    template <class Rep, class Period>
    [[nodiscard]] bool drainFor(const std::chrono::duration<Rep, Period>& limit) const {
        return store_.waitUntil([this] { return emptyQueue(); }, deadlineAfter<Clock>(limit));
    }

protected:
    using Line = std::remove_pointer_t<decltype(selectLine<Queued, Policies>())>;
    using Store = EventStore<Queued, Line, ThreadingOf<Policies>>;
    using Harvest = typename Store::Harvest;
    using Amount = typename Harvest::Amount;
    using Content = typename Store::Content;

    /// Of an event that is made of a First, and arguments that are made of A.
    template <class Arguments, class First, class... A>
    static constexpr Content contentOf(bool hasGetEvent) noexcept {
        return !hasGetEvent && isPlain<typename Dispatcher::Key, First>() &&
                       arePlain<A...>(static_cast<Arguments*>(nullptr))
                   ? Content::plain
                   : Content::foreign;
    }

    /// Queues what make() returns.
    template <Content content, class Make>
    bool add(Make make) {
        return store_.template add<content>(make) == PushResult::ok;
    }

    template <class Handle>
    bool harvest(Amount amount, Handle handle) {
        Harvest events(store_, amount);
        const bool any = events.hasNext();
        while (events.hasNext()) {
            handle(events);
        }
        return any;
    }

    /// Dispatches the events that pass the test and keeps the others. Whether any passed.
    template <class Test>
    bool processWhere(Test test) {
        bool any = false;
        harvest(Amount::all, [&](auto& events) {
            if (test(events.front())) {
                any = true;
                dispatchFront(events);
            } else {
                events.keep();
            }
        });
        return any;
    }

    void dispatchFront(Harvest& events) {
        const Dropped dropped{events};
        dispatchQueued(events.front());
    }

    template <class AnyQueued>
    void dispatchQueued(AnyQueued& queued) const {
        visitQueued(queued, [this](auto prototype, auto& event, auto&... args) {
            this->dispatchTo(prototype, event, args...);
        });
    }

    Store store_;

private:
    using Clock = typename EventWaiters<ThreadingOf<Policies>>::Clock;

    /// Whether a value is made of another one without foreign code.
    template <class To, class From>
    static constexpr bool isPlain() noexcept {
        using Source = std::decay_t<From>;
        return (std::is_same_v<To, Source> && std::is_trivially_copy_constructible_v<To> &&
                std::is_trivially_destructible_v<To>) ||
               (std::is_arithmetic_v<To> && std::is_arithmetic_v<Source>);
    }
    template <class... From, class... To>
    static constexpr bool arePlain(std::tuple<To...>*) noexcept {
        return (isPlain<To, From>() && ...);
    }

    /// The event is used up, also when a listener throws.
    struct Dropped {
        Harvest& events;
        ~Dropped() { events.drop(); }
    };

    template <class Visitor>
    void visitFront(Harvest& events, Visitor& visitor) {
        const Dropped dropped{events};
        visitQueued(events.front(),
                    [&visitor](auto, auto& event, auto&... args) { visitor(event, args...); });
    }
};

template <class Dispatcher, class Queued, class Policies>
class QueueCore<Dispatcher, Queued, Policies>::DisableQueueNotify {
public:
    DisableQueueNotify(QueueCore* queue) noexcept : queue_(*queue) { queue_.store_.silence(); }
    DisableQueueNotify(const DisableQueueNotify&) = delete;
    DisableQueueNotify& operator=(const DisableQueueNotify&) = delete;
    ~DisableQueueNotify() { queue_.store_.unsilence(); }

private:
    QueueCore& queue_;
};

}  // namespace sluice::detail
