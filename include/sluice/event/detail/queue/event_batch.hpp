#pragma once

#include <sluice/event/detail/queue/event_reservation.hpp>
#include <sluice/event/detail/queue/event_store.hpp>

#include <cstddef>

// The consumers' side of an EventStore: they take events out, or look at the first one.

namespace sluice::detail {

/// The events that a consumer has taken out. Each event is dropped or kept. At its end, the batch
/// puts the events that are kept or left back to the front. If a handler has destroyed the store,
/// the batch destroys these events.
template <class Event, class EventList, class Threading, class Counts>
class EventStore<Event, EventList, Threading, Counts>::Batch {
public:
    enum class Amount { one, all };

    Batch(EventStore& store, Amount amount) {
        if (store.isEmpty()) {
            return;
        }
        while (!hasTakenFrom(store, amount)) {
            store.awaitEndOfPeek();
        }
        if (left_ != 0 && store.options_.overflow == Overflow::block) {
            notifyOneOf(store.room_);
        }
    }

    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    ~Batch() {
        if (store_ == nullptr) {
            destroyEach(kept_, done_);
            destroyEach(rest_, done_);
            return;
        }
        wakeAll(giveBack());
    }

    /// The number of events that it took out.
    [[nodiscard]] std::size_t size() const noexcept { return taken_; }

    /// Whether a handler has destroyed the store.
    [[nodiscard]] bool isOrphaned() const noexcept { return taken_ != 0 && store_ == nullptr; }

    /// Whether front() is an event.
    [[nodiscard]] bool hasNext() const noexcept { return store_ != nullptr && left_ != 0; }
    Event& front() noexcept { return rest_.front(); }

    /// Calls handle(event) for each event and then destroys it, also if handle() throws.
    template <class Handle>
    [[gnu::always_inline]] void useUp(Handle handle) {
        Passage passage(*this);
        while (store_ != nullptr && !passage.walk.isAtEnd()) {
            const UsedUp event(passage);
            handle(passage.walk.front());
        }
    }

    /// Destroys the event at the front.
    void drop() {
        rest_.destroyFront();
        rest_.moveFrontTo(done_);
        --left_;
    }

    /// Destroys the events that are left, without handling them.
    void discard() {
        isDiscarding_ = true;
        useUp([](Event&) {});
    }

    void keep() {
        rest_.moveFrontTo(kept_);
        --left_;
        ++keptCount_;
    }

private:
    friend class EventStore;

    /// The fields that change with each event. The compiler keeps them in registers. It cannot do
    /// so with the fields of a batch, because the store knows the batch's address.
    struct Passage {
        Batch& batch;
        std::size_t left;
        typename EventList::Walk walk;

        explicit Passage(Batch& ownBatch) noexcept
            : batch(ownBatch), left(ownBatch.left_), walk(ownBatch.rest_, ownBatch.done_) {}
        Passage(const Passage&) = delete;
        Passage& operator=(const Passage&) = delete;
        ~Passage() { batch.left_ = left; }
    };
    struct UsedUp {
        Passage& passage;

        explicit UsedUp(Passage& ownPassage) noexcept : passage(ownPassage) {}
        UsedUp(const UsedUp&) = delete;
        UsedUp& operator=(const UsedUp&) = delete;
        ~UsedUp() {
            passage.walk.destroyFront();
            --passage.left;
        }
    };

    /// Returns false while a thread peeks at the first event.
    bool hasTakenFrom(EventStore& store, Amount amount) {
        const Guard guard(store.lock_);
        if (store.events_.isEmpty() || store.isPeeked_) {
            return !store.isPeeked_;
        }
        if (amount == Amount::one) {
            store.events_.moveFrontTo(rest_);
            left_ = 1;
        } else {
            rest_.swap(store.events_);
            left_ = store.size_.load(std::memory_order_relaxed);  // relaxed: under the lock
        }
        store.resize(guard, -static_cast<std::ptrdiff_t>(left_));
        taken_ = left_;
        join(guard, store);
        return true;
    }

    /// Puts the events that are left or kept back into the store, and leaves the store. Returns the
    /// coroutines that the caller wakes. The store may be destroyed after the unlock.
    CoroutineWaiter* giveBack() noexcept {
        const Guard guard(store_->lock_);
        count(guard);
        store_->events_.prepend(rest_);
        store_->events_.prepend(kept_);
        store_->spares_.giveBack(done_);
        leave(guard);
        const bool isOver = !store_->isBusy(guard);
        if (isOver && store_->spares_.bytes() > store_->options_.keptBytes) {
            orphans_.swap(store_->spares_);
        }
        // Before the unlock, because then a thread in drain() may destroy the store. The destructor
        // of the store waits for the unlock.
        if (left_ + keptCount_ != 0 || store_->isClosed()) {
            store_->arrived_.notifyAll();
        }
        if (isOver) {
            store_->changed_.notifyAll();
        }
        return store_->takeCoroutines(guard);
    }

    /// Counts the events that were processed or discarded.
    void count(const Guard& guard) noexcept {
        const std::size_t putBack = left_ + keptCount_;
        const std::size_t dropped = taken_ - putBack;
        store_->addQueued(guard, store_->resize(guard, static_cast<std::ptrdiff_t>(putBack)));
        if (isDiscarding_) {
            store_->discarded_ += dropped;
        } else {
            store_->addProcessed(guard, dropped);
        }
    }

    // Not inlined: g++ would warn that the store keeps the address of a local batch, although
    // leave() removes it.
    [[gnu::noinline]] void join(const Guard& /*guard*/, EventStore& store) noexcept {
        store_ = &store;
        thread_ = ReadSide::thisThread();
        older_ = store.batches_;
        if (older_ != nullptr) {
            older_->newer_ = this;
        }
        store.batches_ = this;
    }
    void leave(const Guard& /*guard*/) noexcept { unlink(); }
    void unlink() noexcept {
        (newer_ != nullptr ? newer_->older_ : store_->batches_) = older_;
        if (older_ != nullptr) {
            older_->newer_ = newer_;
        }
    }

    // Written by the consumer, except where a comment names another thread.

    /// Nodes of a store that was destroyed, or that had too many. The first member, because it must
    /// be destroyed last. Also written by the thread that destroys the store.
    typename EventList::Spares orphans_;
    EventStore* store_ = nullptr;   ///< null without events; ~EventStore() sets null
    const void* thread_ = nullptr;  ///< the mark of the consumer's thread, see thisThread()
    Batch* older_ = nullptr;        ///< the batch taken before; guarded by the store's lock
    Batch* newer_ = nullptr;        ///< the batch taken after; guarded by the store's lock
    EventList rest_;                ///< the events that are still to be handled
    EventList kept_;                ///< the events that keep() has taken out of rest_
    EventList done_;                ///< the nodes of events that were destroyed
    std::size_t taken_ = 0;         ///< events that were taken out of the store
    std::size_t left_ = 0;          ///< events in rest_; during a Passage its own count holds
    std::size_t keptCount_ = 0;     ///< events in kept_
    bool isDiscarding_ = false;     ///< whether destroyed events count as discarded
};

/// Holds the first event: no consumer takes it out during the lifetime of this object.
template <class Event, class EventList, class Threading, class Counts>
struct EventStore<Event, EventList, Threading, Counts>::Peek {
    EventStore& store;
    Event* event = nullptr;

    explicit Peek(EventStore& ownStore) : store(ownStore) {
        while (!begins()) {
            store.awaitEndOfPeek();
        }
    }
    Peek(const Peek&) = delete;
    Peek& operator=(const Peek&) = delete;
    ~Peek() {
        if (event != nullptr) {
            letOthersTake();
        }
    }

    bool begins() noexcept {
        const Guard guard(store.lock_);
        if (store.isPeeked_) {
            return false;
        }
        if (!store.events_.isEmpty()) {
            event = &store.events_.front();
            store.isPeeked_ = true;
        }
        return true;
    }

    void letOthersTake() noexcept {
        {
            const Guard guard(store.lock_);
            store.isPeeked_ = false;
        }
        store.room_.notifyAll();  // dropOldest can discard this event now
        store.changed_.notifyAll();
    }
};

template <class Event, class EventList, class Threading, class Counts>
template <class Look>
bool EventStore<Event, EventList, Threading, Counts>::peek(Look look) {
    const Peek first(*this);
    if (first.event == nullptr) {
        return false;
    }
    look(*first.event);
    return true;
}

}  // namespace sluice::detail
