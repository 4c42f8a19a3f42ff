#pragma once

#include <sluice/event/detail/queue/event_store.hpp>


namespace sluice::detail {

/// The first event, which nobody takes out while this lives.
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
        if (event == nullptr) {
            return;
        }
        {
            const Guard guard(store.lock_);
            store.isPeeked_ = false;
        }
        store.room_.notifyAll();  // the oldest event may make room
        store.changed_.notifyAll();
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
