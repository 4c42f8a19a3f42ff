#pragma once

#include <sluice/event/detail/event_store.hpp>

#include <cstddef>
#include <mutex>

namespace sluice::detail {

/// What a consumer has taken out. Each event is dropped or kept; what is left at the end counts as
/// kept, and what is kept goes back to the front. When the store is destroyed meanwhile, on the
/// same thread, nothing is left.
template <class Event, class Line, class Threading>
class EventStore<Event, Line, Threading>::Harvest {
public:
    enum class Amount { one, all };

    Harvest(EventStore& store, Amount amount) {
        if (store.isEmpty()) {
            return;
        }
        const std::lock_guard<Lock> guard(store.lock_);
        if (store.line_.isEmpty()) {
            return;
        }
        if (amount == Amount::one) {
            store.line_.moveFrontTo(rest_);
            left_ = 1;
        } else {
            rest_.swap(store.line_);
            left_ = store.size_.load(std::memory_order_relaxed);  // relaxed: under the lock
        }
        store.resize(-static_cast<std::ptrdiff_t>(left_));
        join(store);
        if (store.options_.limit != unlimited) {
            store.waiters_.notify();  // there is room
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
        store_->resize(static_cast<std::ptrdiff_t>(left_ + keptCount_));
        store_->line_.prepend(rest_);
        store_->line_.prepend(kept_);
        store_->spares_.giveBack(done_);
        leave();
        // Under the lock: who waits for the end of the work may destroy the store after it.
        store_->waiters_.notify();
    }

    /// Whether front() is an event.
    [[nodiscard]] bool hasNext() const noexcept { return store_ != nullptr && left_ != 0; }
    Event& front() noexcept { return rest_.front(); }

    /// Destroys the event at the front.
    void drop() {
        rest_.destroyFront();
        rest_.moveFrontTo(done_);
        --left_;
    }

    void keep() {
        rest_.moveFrontTo(kept_);
        --left_;
        ++keptCount_;
    }

private:
    friend class EventStore;

    /// Under the lock, both.
    void join(EventStore& store) noexcept {
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
    std::size_t left_ = 0;
    std::size_t keptCount_ = 0;
};

}  // namespace sluice::detail
