#pragma once

#include <sluice/event/callback_list.hpp>
#include <sluice/event/detail/event_map.hpp>
#include <sluice/event/detail/mixin_hooks.hpp>

#include <type_traits>
#include <utility>

namespace sluice::detail {

/// What EventDispatcher and EventQueue have in common. `MixinRoot` is the class that the mixins are
/// put upon; void for this one.
template <class Event_, class Prototype, class Policies, class MixinRoot = void>
class DispatcherBase;

template <class Event_, class Result, class... Args, class Policies, class MixinRoot_>
class DispatcherBase<Event_, Result(Args...), Policies, MixinRoot_> {
protected:
    // What mixins may want to know.
    using Prototype = Result(Args...);
    using Threading = ThreadingOf<Policies>;
    using ReadSide = ReadSideOf<Threading>;
    using List = CallbackList<Result(Args...), Policies>;
    using Key = std::decay_t<Event_>;
    using ArgumentPassingMode = ArgumentPassingOf<Policies, ArgumentPassingAutoDetect>;
    using MixinRoot = std::conditional_t<std::is_void_v<MixinRoot_>, DispatcherBase, MixinRoot_>;

public:
    using Event = Event_;
    using Callback = typename List::Callback;
    using Handle = typename List::Handle;
    using Mutex = typename Threading::Mutex;

    void swap(DispatcherBase& other) noexcept { lists_.swap(other.lists_); }

    /// Adds a listener for an event at the end, at the beginning, or in front of another listener
    /// of the same event (at the end when `before` is none).
    Handle appendListener(const Event& event, const Callback& callback) {
        return lists_.findOrAdd(event).append(callback);
    }
    Handle appendListener(const Event& event, Callback&& callback) {
        return lists_.findOrAdd(event).append(std::move(callback));
    }
    Handle prependListener(const Event& event, const Callback& callback) {
        return lists_.findOrAdd(event).prepend(callback);
    }
    Handle prependListener(const Event& event, Callback&& callback) {
        return lists_.findOrAdd(event).prepend(std::move(callback));
    }
    Handle insertListener(const Event& event, const Callback& callback, const Handle& before) {
        return lists_.findOrAdd(event).insert(callback, before);
    }
    Handle insertListener(const Event& event, Callback&& callback, const Handle& before) {
        return lists_.findOrAdd(event).insert(std::move(callback), before);
    }

    /// Adds a listener behind those of the same or a higher priority. Listeners that were added
    /// otherwise have priority 0. Looks for the place from the end.
    Handle insertListenerByPriority(const Event& event, const Callback& callback, int priority) {
        return lists_.findOrAdd(event).insertByPriority(callback, priority);
    }
    Handle insertListenerByPriority(const Event& event, Callback&& callback, int priority) {
        return lists_.findOrAdd(event).insertByPriority(std::move(callback), priority);
    }

    /// Adds a listener that is told its own handle: f(handle, args...). See
    /// CallbackList::appendWithHandle().
    template <class F>
    Handle appendListenerWithHandle(const Event& event, F f) {
        return lists_.findOrAdd(event).appendWithHandle(std::move(f));
    }

    /// False when the handle names no listener of this event.
    bool removeListener(const Event& event, const Handle& handle) {
        List* const list = find(event);
        return list != nullptr && list->remove(handle);
    }

    /// The same, and waits until no other thread is running the listener. Not from inside a
    /// listener: it would wait for itself. Costs microseconds.
    bool removeListenerAndWait(const Event& event, const Handle& handle) {
        List* const list = find(event);
        return list != nullptr && list->removeAndWait(handle);
    }

    /// Removes all listeners of an event.
    void removeAllListeners(const Event& event) {
        if (List* const list = find(event)) {
            list->clear();
        }
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

    /// Calls f(Handle, Callback&) or f(Callback&) for each listener of an event.
    template <class F>
    void forEach(const Event& event, F&& f) const {
        if (const List* const list = find(event)) {
            list->forEach(std::forward<F>(f));
        }
    }

    /// The same until `f` returns false; then the result is false.
    template <class F>
    bool forEachIf(const Event& event, F&& f) const {
        const List* const list = find(event);
        return list == nullptr || list->forEachIf(std::forward<F>(f));
    }

    /// Calls the listeners of an event, which is found in the arguments.
    void dispatch(Args... args) const {
        static_assert(ArgumentPassingMode::canIncludeEventType,
                      "dispatch(): the number of arguments is the prototype's, but the policy "
                      "wants the event in front of them");
        // A copy: the arguments are about to be moved on.
        const Key event = getEvent<Policies, Event>(args...);
        directDispatch(event, std::forward<Args>(args)...);
    }

    /// Calls the listeners of the event that `first` is or, by getEvent(), stands for.
    template <class First>
    void dispatch(First&& first, Args... args) const {
        static_assert(ArgumentPassingMode::canExcludeEventType,
                      "dispatch(): there is one argument more than in the prototype, but the "
                      "policy wants the event among them");
        directDispatch(getEvent<Policies, Event>(std::forward<First>(first), args...),
                       std::forward<Args>(args)...);
    }

    /// Calls the listeners of this event.
    void directDispatch(const Event& event, Args... args) const {
        if (!MixinHooks<MixinRoot, MixinsOf<Policies>>::allow(static_cast<const MixinRoot&>(*this),
                                                              args...)) {
            return;
        }
        [[maybe_unused]] const auto guard = ReadSide::enter();
        if (const List* const list = lists_.find(event)) {
            (*list)(std::forward<Args>(args)...);
        }
    }

private:
    /// Lists stay where they are as long as the dispatcher lives, so the guard is needed for the
    /// search only.
    List* find(const Event& event) const {
        [[maybe_unused]] const auto guard = ReadSide::enter();
        return lists_.find(event);
    }

    EventMap<Key, List, Policies> lists_;
};

}  // namespace sluice::detail
