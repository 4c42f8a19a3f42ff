#pragma once

#include <sluice/event/detail/queue/event_store.hpp>


namespace sluice::detail {

/// An admitted event that is not in the list yet. There is room again when the event cannot be
/// built, or when a list of the policy throws.
template <class Event, class EventList, class Threading, class Counts>
struct EventStore<Event, EventList, Threading, Counts>::Building {
    EventStore& store;
    EventList& node;
    bool isAppended = false;

    void append() {
        Audience listeners;
        {
            const Guard guard(store.lock_);
            node.moveFrontTo(store.events_);
            isAppended = true;
            --store.building_;
            store.countNew(guard);
            listeners = store.audience(guard);
        }
        store.announce(listeners);
    }

    ~Building() {
        if (!isAppended) {
            giveUp();
        }
    }

    [[gnu::cold, gnu::noinline]] void giveUp() noexcept {
        CoroutineWaiter* woken = nullptr;
        {
            const Guard guard(store.lock_);
            --store.building_;
            store.spares_.giveBack(node);
            woken = store.takeCoroutines(guard);
        }
        store.notifyEverybody();
        wakeAll(woken);
    }
};

template <class Event, class EventList, class Threading, class Counts>
template <class Make>
PushResult EventStore<Event, EventList, Threading, Counts>::build(Make& make) {
    EventList discarded;
    EventList node;
    {
        const Guard guard(lock_);
        PushResult result = admit(guard);
        if (isToDiscard(result)) {
            result = discardOldest(guard, discarded);
        }
        if (result != PushResult::ok) {
            return result;
        }
        ++building_;
        (void)spares_.take(node);
    }
    Building building{*this, node};
    if (!discarded.isEmpty()) {
        destroyAll(discarded);
    }
    if (node.isEmpty()) {
        provideNode(node);
    }
    node.fillBack(make);
    building.append();
    return PushResult::ok;
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

}  // namespace sluice::detail
