#pragma once

#include <sluice/event/detail/queue/event_store.hpp>

// The producers' side of an EventStore: events that are being built, and waits for room.

namespace sluice::detail {

/// An admitted event that is not in the list yet. If its constructor or a list of the policy
/// throws, the destructor gives the room back.
template <class Event, class EventList, class Threading, class Counts>
struct EventStore<Event, EventList, Threading, Counts>::Reservation {
    EventStore& store;
    EventList& node;
    bool isAppended = false;

    void append() {
        Audience listeners;
        {
            const Guard guard(store.lock_);
            node.moveFrontTo(store.events_);
            isAppended = true;
            --store.reserved_;
            store.countNew(guard);
            listeners = store.audience(guard);
        }
        store.announce(listeners);
    }

    ~Reservation() {
        if (!isAppended) {
            giveUp();
        }
    }

    [[gnu::cold, gnu::noinline]] void giveUp() noexcept {
        CoroutineWaiter* woken = nullptr;
        {
            const Guard guard(store.lock_);
            --store.reserved_;
            store.spares_.giveBack(node);
            woken = store.takeCoroutines(guard);
        }
        store.notifyEverybody();
        wakeAll(woken);
    }
};

template <class Event, class EventList, class Threading, class Counts>
template <class Make>
SendResult EventStore<Event, EventList, Threading, Counts>::build(Make& make) {
    EventList discarded;
    EventList node;
    {
        const Guard guard(lock_);
        SendResult result = admit(guard);
        if (isToDiscard(result)) {
            result = discardOldest(guard, discarded);
        }
        if (result != SendResult::ok) {
            return result;
        }
        ++reserved_;
        (void)spares_.take(node);
    }
    Reservation reservation{*this, node};
    if (!discarded.isEmpty()) {
        destroyAll(discarded);
    }
    if (node.isEmpty()) {
        provideNode(node);
    }
    node.fillBack(make);
    reservation.append();
    return SendResult::ok;
}

template <class Event, class EventList, class Threading, class Counts>
void EventStore<Event, EventList, Threading, Counts>::provideNode(EventList& node) {
    if constexpr (!EventList::hasSpares) {
        node.addNode();
    } else {
        while (node.isEmpty()) {
            addSpares();
            const Guard guard(lock_);
            (void)spares_.take(node);
        }
    }
}

/// A producer's wait for room. A consumer wakes one producer, even if it takes many events. So
/// after a wait, the destructor wakes the next producer if there is still room.
template <class Event, class EventList, class Threading, class Counts>
class EventStore<Event, EventList, Threading, Counts>::RoomWait {
public:
    explicit RoomWait(EventStore& store) noexcept : store_(store) {}
    RoomWait(const RoomWait&) = delete;
    RoomWait& operator=(const RoomWait&) = delete;
    ~RoomWait() {
        if (hasWaited_) {
            wakeNext();
        }
    }

    void wait() {
        hasWaited_ = true;
        store_.awaitRarely(store_.room_,
                           [](const EventStore& store) noexcept { return store.hasRoom(); });
    }

private:
    void wakeNext() noexcept {
        if (store_.hasRoom()) {
            notifyOneOf(store_.room_);
        }
    }

    EventStore& store_;
    bool hasWaited_ = false;
};

template <class Event, class EventList, class Threading, class Counts>
template <typename EventStore<Event, EventList, Threading, Counts>::Content How, class Make>
SendResult EventStore<Event, EventList, Threading, Counts>::refused(SendResult result, Make& make) {
    RoomWait room(*this);
    while (result == SendResult::full && canHaveRoom()) {
        room.wait();
        result = tryAdd<How>(make);
    }
    if (Counts::areKept && result != SendResult::ok) {
        const Guard guard(lock_);
        Counts::addRejected(guard);
    }
    return result;
}

/// Whether a producer may wait for room. With dropOldest it must not wait if all room belongs to
/// events that are being built.
template <class Event, class EventList, class Threading, class Counts>
bool EventStore<Event, EventList, Threading, Counts>::canHaveRoom() const noexcept {
    if (options_.overflow == Overflow::reject) {
        return false;
    }
    const Guard guard(lock_);
    return options_.overflow == Overflow::block || !events_.isEmpty() ||
           admit(guard) != SendResult::full;
}

/// Whether a waiting producer can go on: there is room, the store is closed, or the oldest event
/// can be dropped.
template <class Event, class EventList, class Threading, class Counts>
bool EventStore<Event, EventList, Threading, Counts>::hasRoom() const noexcept {
    const Guard guard(lock_);
    return admit(guard) != SendResult::full ||
           (options_.overflow == Overflow::dropOldest && !isPeeked_);
}

}  // namespace sluice::detail
