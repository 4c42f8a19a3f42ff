#pragma once

#include <sluice/event/detail/event_store.hpp>

#include <cstddef>
#include <mutex>

namespace sluice::detail {

/// What a consumer has taken out. Each event is dropped or kept; what is left at the end counts as
/// kept, and what is kept goes back to the front. When the store is destroyed meanwhile, on the
/// same thread, nothing is left.
template <class Event, class Line, class Threading, class Counts>
class EventStore<Event, Line, Threading, Counts>::Harvest {
public:
    enum class Amount { one, all };

    Harvest(EventStore& store, Amount amount) {
        if (store.isEmpty()) {
            return;
        }
        while (!hasTakenFrom(store, amount)) {
            store.awaitEndOfPeek();
        }
        if (left_ != 0 && store.options_.overflow == Overflow::block) {
            store.waiters_.notifyAll();  // there is room
        }
    }

    Harvest(const Harvest&) = delete;
    Harvest& operator=(const Harvest&) = delete;

    ~Harvest() {
        if (store_ == nullptr) {
            destroyEvents(kept_);
            destroyEvents(rest_);
            return;
        }
        const std::lock_guard<Lock> guard(store_->lock_);
        count();
        store_->line_.prepend(rest_);
        store_->line_.prepend(kept_);
        store_->spares_.giveBack(done_);
        leave();
        if (left_ + keptCount_ != 0 || !store_->isBusyLocked()) {
            // Under the lock: who waits for the end of the work may destroy the store after it.
            store_->waiters_.notifyAll();
        }
    }

    /// How many events it began with.
    [[nodiscard]] std::size_t size() const noexcept { return taken_; }

    /// Whether the store was destroyed meanwhile.
    [[nodiscard]] bool isOrphaned() const noexcept { return taken_ != 0 && store_ == nullptr; }

    /// Whether front() is an event.
    [[nodiscard]] bool hasNext() const noexcept { return store_ != nullptr && left_ != 0; }
    Event& front() noexcept { return rest_.front(); }

    /// Destroys the event at the front.
    void drop() {
        rest_.destroyFront();
        rest_.moveFrontTo(done_);
        --left_;
    }

    /// Destroys all that are left, unprocessed.
    void discard() {
        isDiscarding_ = true;
        while (hasNext()) {
            drop();
        }
    }

    void keep() {
        rest_.moveFrontTo(kept_);
        --left_;
        ++keptCount_;
    }

private:
    friend class EventStore;

    /// False while somebody looks at the first event.
    bool hasTakenFrom(EventStore& store, Amount amount) {
        const std::lock_guard<Lock> guard(store.lock_);
        if (store.line_.isEmpty() || store.isPeeked_) {
            return !store.isPeeked_;
        }
        if (amount == Amount::one) {
            store.line_.moveFrontTo(rest_);
            left_ = 1;
        } else {
            rest_.swap(store.line_);
            left_ = store.size_.load(std::memory_order_relaxed);  // relaxed: under the lock
        }
        store.resize(-static_cast<std::ptrdiff_t>(left_));
        taken_ = left_;
        join(store);
        return true;
    }

    /// Under the lock: what has become of the events.
    void count() noexcept {
        const std::size_t putBack = left_ + keptCount_;
        const std::size_t dropped = taken_ - putBack;
        store_->resize(static_cast<std::ptrdiff_t>(putBack));
        store_->addQueued(store_->size_.load(std::memory_order_relaxed));  // relaxed: the lock
        if (isDiscarding_) {
            store_->discarded_ += dropped;
        } else {
            store_->addProcessed(dropped);
        }
    }

    /// Under the lock, both.
    // Out of line: g++ warns where it sees the address of a local harvest in a store that it
    // outlives, though leave() takes it out again.
    [[gnu::noinline]] void join(EventStore& store) noexcept {
        store_ = &store;
        older_ = store.harvests_;
        if (older_ != nullptr) {
            older_->newer_ = this;
        }
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic push
// g++ does not see that leave() takes it away again, in the destructor.
#pragma GCC diagnostic ignored "-Wdangling-pointer"
#endif
        store.harvests_ = this;
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic pop
#endif
    }
    void leave() noexcept {
        (newer_ != nullptr ? newer_->older_ : store_->harvests_) = older_;
        if (older_ != nullptr) {
            older_->newer_ = newer_;
        }
    }

    static void destroyEvents(Line& events) {
        Line empty;
        while (!events.isEmpty()) {
            events.destroyFront();
            events.moveFrontTo(empty);
        }
    }

    // First, so that it goes last: the nodes of a store that has gone.
    typename Line::Spares orphans_;
    EventStore* store_ = nullptr;
    Harvest* older_ = nullptr;
    Harvest* newer_ = nullptr;
    Line rest_;
    Line kept_;
    Line done_;
    std::size_t taken_ = 0;
    std::size_t left_ = 0;
    std::size_t keptCount_ = 0;
    bool isDiscarding_ = false;
};

}  // namespace sluice::detail
