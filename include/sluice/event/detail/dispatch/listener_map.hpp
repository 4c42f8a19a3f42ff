#pragma once

#include <sluice/event/detail/dispatch/event_map.hpp>
#include <sluice/event/detail/dispatch/mixin_hooks.hpp>
#include <sluice/event/detail/list/policy_traits.hpp>

#include <cstddef>
#include <type_traits>

namespace sluice::detail {

/// Lists of listeners, found by events: the common part of all dispatchers and queues. `List` is a
/// CallbackList or a HeterCallbackList.
template <class EventType, class ListType, class Policies>
class ListenerMap {
protected:
    // Mixins use these types, too.
    using Threading = ThreadingOf<Policies>;
    using List = ListType;
    using Key = std::decay_t<EventType>;

public:
    using Event = EventType;
    using Handle = typename List::Handle;
    using Mutex = typename Threading::Mutex;

    ListenerMap() noexcept = default;
    ListenerMap(const ListenerMap&) = default;
    ListenerMap(ListenerMap&&) noexcept = default;
    ListenerMap& operator=(const ListenerMap&) = default;
    ListenerMap& operator=(ListenerMap&&) noexcept = default;
    ~ListenerMap() {
        if constexpr (hasMixins) {
            HookCall::lose(this);
        }
    }

    void swap(ListenerMap& other) noexcept { lists_.swap(other.lists_); }

    /// Removes a listener. Returns false if the handle names no listener of this event.
    bool removeListener(const Event& event, const Handle& handle) {
        List* const list = find(event);
        return list != nullptr && list->remove(handle);
    }

    /// Removes a listener, and waits until it has been destroyed. See
    /// CallbackList::removeAndWait().
    bool removeListenerAndWait(const Event& event, const Handle& handle) {
        List* const list = find(event);
        return list != nullptr && list->removeAndWait(handle);
    }

    /// The number of listeners of an event that have been removed but not destroyed, because
    /// earlier calls of the event are still running.
    [[nodiscard]] std::size_t removedSizeApprox(const Event& event) const {
        const List* const list = find(event);
        return list == nullptr ? 0 : list->removedSizeApprox();
    }

    /// Removes all listeners of an event.
    void removeAllListeners(const Event& event) {
        if (List* const list = find(event)) {
            list->clear();
        }
    }

    /// Forgets the events that have no listener any more, frees their memory, and returns their
    /// number. No other thread may use the dispatcher during the call; a listener may call it. If
    /// it throws std::bad_alloc, nothing has changed.
    std::size_t trimEvents() {
        return lists_.removeIf(
            [](const List& list) { return list.empty() && list.removedSizeApprox() == 0; });
    }

    [[nodiscard]] bool hasAnyListener(const Event& event) const {
        const List* const list = find(event);
        return list != nullptr && !list->empty();
    }

    /// Whether the handle names a listener of this event of this dispatcher.
    [[nodiscard]] bool ownsHandle(const Event& event, const Handle& handle) const {
        const List* const list = find(event);
        return list != nullptr && list->ownsHandle(handle);
    }

protected:
    List& listOf(const Event& event) { return lists_.findOrAdd(event); }

    /// Returns null if the event has no list. A list stays where it is until trimEvents() or the
    /// end of the dispatcher.
    List* find(const Event& event) const { return lists_.find(event); }

    /// Whether all mixins let an event pass and no mixin has destroyed this object.
    template <class Root, class... Args>
    bool isAllowed(Args&... args) const {
        if constexpr (hasMixins) {
            const HookCall call(this);
            return MixinHooks<Root, MixinsOf<Policies>>::allow(static_cast<const Root&>(*this),
                                                               call, args...);
        } else {
            return true;
        }
    }

private:
    static constexpr bool hasMixins = !std::is_same_v<MixinsOf<Policies>, MixinList<>>;

    EventMap<Key, List, Policies> lists_;
};

}  // namespace sluice::detail
