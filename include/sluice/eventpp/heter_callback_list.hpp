#pragma once

#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_policies.hpp>
#include <sluice/eventpp/detail/heter/heter_handle.hpp>
#include <sluice/eventpp/detail/heter/prototype_match.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sluice {

namespace detail {
template <class Event, class PrototypeList, class Policies, class MixinRoot>
class HeterDispatcherBase;
}  // namespace detail

/// Holds callback lists of several prototypes, and calls the list that fits the arguments.
///
///     sluice::HeterCallbackList<sluice::HeterTuple<void(), void(int)>> list;
///     list.append([] { ... });
///     list.append([](int value) { ... });
///     list();    // calls the first one
///     list(42);  // calls the second one
///
/// Use it if calls for one kind of event have different arguments. Use CallbackList if there is one
/// prototype. Use several lists if no part of the program treats them as one.
///
/// A callable belongs to the first prototype that it can be called with. Arguments belong to the
/// first prototype that accepts them. The compiler finds both. The lists are independent: only
/// callbacks of one prototype have an order.
///
/// Threads, progress, memory, exceptions: as for CallbackList. Copy assignment has the strong
/// guarantee, too. Cost: the cost of the list for the prototype.
///
/// `Policies`: Threading, canContinueInvoking (for the prototypes that it accepts).
template <class PrototypeList, class Policies = DefaultPolicies>
class HeterCallbackList : public detail::Prototypes<PrototypeList> {};

template <class... P, class Policies>
class HeterCallbackList<HeterTuple<P...>, Policies> : public TagCallbackList,
                                                      public TagHeterCallbackList {
    using Match = detail::Prototypes<HeterTuple<P...>>;
    template <class Prototype>
    using ListFor = CallbackList<Prototype, detail::HeterListPolicies<Policies, Prototype>>;

public:
    using PrototypeList = HeterTuple<P...>;
    using Handle = detail::HeterHandle<typename ListFor<P>::Handle...>;
    using Mutex = typename detail::ThreadingOf<Policies>::Mutex;

    HeterCallbackList() noexcept = default;
    HeterCallbackList(const HeterCallbackList&) = default;
    HeterCallbackList(HeterCallbackList&&) noexcept = default;
    HeterCallbackList& operator=(const HeterCallbackList& other) {
        if (this != &other) {
            HeterCallbackList(other).swap(*this);
        }
        return *this;
    }
    HeterCallbackList& operator=(HeterCallbackList&&) noexcept = default;
    ~HeterCallbackList() {
        // Again: destructors of callbacks may add some, also those of removed callbacks.
        while (!empty() || removedSizeApprox() != 0) {
            Lists ended;
            ended.swap(lists_);
        }
    }

    void swap(HeterCallbackList& other) noexcept { lists_.swap(other.lists_); }
    friend void swap(HeterCallbackList& a, HeterCallbackList& b) noexcept { a.swap(b); }

    /// Whether there is no callback of any prototype.
    [[nodiscard]] bool empty() const noexcept {
        return std::apply([](const auto&... lists) { return (lists.empty() && ...); }, lists_);
    }

    /// Whether the list is not empty.
    operator bool() const noexcept { return !empty(); }

    /// Adds a callback at the end, or at the beginning, of the list of its prototype. A null
    /// callable is not added: then the handle is empty.
    template <class C>
    Handle append(C&& callback) {
        constexpr std::size_t index = Match::template ofCallable<C>();
        return handleOf<index>(std::get<index>(lists_).append(std::forward<C>(callback)));
    }
    template <class C>
    Handle prepend(C&& callback) {
        constexpr std::size_t index = Match::template ofCallable<C>();
        return handleOf<index>(std::get<index>(lists_).prepend(std::forward<C>(callback)));
    }

    /// Adds a callback in front of `before`. If this handle is empty, expired, of another list or
    /// of another prototype, it adds the callback at the end.
    template <class C>
    Handle insert(C&& callback, const Handle& before) {
        constexpr std::size_t index = Match::template ofCallable<C>();
        auto& list = std::get<index>(lists_);
        const auto* const place = before.template of<index>();
        return handleOf<index>(place != nullptr ? list.insert(std::forward<C>(callback), *place)
                                                : list.append(std::forward<C>(callback)));
    }

    /// Adds a callback behind the callbacks of its prototype with the same or a higher priority.
    /// See CallbackList::insertByPriority().
    template <class C>
    Handle insertByPriority(C&& callback, int priority) {
        constexpr std::size_t index = Match::template ofCallable<C>();
        return handleOf<index>(
            std::get<index>(lists_).insertByPriority(std::forward<C>(callback), priority));
    }

    /// Removes a callback. Returns false if the handle names no callback of this list (any more).
    bool remove(const Handle& handle) {
        const auto removeFrom = [](auto& list, const auto& own) { return list.remove(own); };
        return withListOf(lists_, handle, removeFrom, Indexes());
    }

    /// Removes a callback and waits until it has been destroyed. See CallbackList::removeAndWait().
    bool removeAndWait(const Handle& handle) {
        const auto removeFrom = [](auto& list, const auto& own) { return list.removeAndWait(own); };
        return withListOf(lists_, handle, removeFrom, Indexes());
    }

    /// The number of callbacks that have been removed but not destroyed.
    [[nodiscard]] std::size_t removedSizeApprox() const noexcept {
        return std::apply(
            [](const auto&... lists) { return (std::size_t{0} + ... + lists.removedSizeApprox()); },
            lists_);
    }

    /// Removes all callbacks. No callback may be the last owner of this list, because clear()
    /// clears the lists of the prototypes one after the other.
    void clear() noexcept {
        std::apply([](auto&... lists) { (lists.clear(), ...); }, lists_);
    }

    /// Whether the handle names a callback that is in this list. Constant time.
    [[nodiscard]] bool ownsHandle(const Handle& handle) const noexcept {
        const auto owns = [](const auto& list, const auto& own) { return list.ownsHandle(own); };
        return withListOf(lists_, handle, owns, Indexes());
    }

    /// Calls f(Handle, Callback&) or f(Callback&) for each callback of one prototype.
    template <class Prototype, class F>
    void forEach(F&& f) const {
        forEachIf<Prototype>([&f](const Handle& handle, auto& callback) {
            visit(f, handle, callback);
            return true;
        });
    }

    /// As forEach(), but ends when `f` returns false. Then the result is false.
    template <class Prototype, class F>
    bool forEachIf(F&& f) const {
        constexpr std::size_t index = Match::template ofPrototype<Prototype>();
        using List = std::tuple_element_t<index, Lists>;
        return std::get<index>(lists_).forEachIf(
            [&f](const typename List::Handle& handle, typename List::Callback& callback) {
                return static_cast<bool>(visit(f, handleOf<index>(handle), callback));
            });
    }

    /// Calls all callbacks of the prototype that the arguments belong to.
    template <class... A>
    void operator()(A&&... args) const {
        listAt<Match::template ofArguments<A&&...>()>()(std::forward<A>(args)...);
    }

private:
    template <class Event, class List, class Other, class MixinRoot>
    friend class detail::HeterDispatcherBase;

    using Lists = std::tuple<ListFor<P>...>;
    using Indexes = std::index_sequence_for<P...>;

    template <std::size_t I>
    const auto& listAt() const noexcept {
        return std::get<I>(lists_);
    }

    template <std::size_t I, class Inner>
    static Handle handleOf(Inner&& handle) {
        return Handle(std::in_place_index<I>, std::forward<Inner>(handle));
    }

    template <class F, class Callback>
    static decltype(auto) visit(F& f, const Handle& handle, Callback& callback) {
        if constexpr (std::is_invocable_v<F&, Handle, Callback&>) {
            return f(handle, callback);
        } else {
            return f(callback);
        }
    }

    /// Returns f(list, handle in this list). Returns false if the handle is empty.
    template <class AnyLists, class F, std::size_t... I>
    static bool withListOf(AnyLists& lists, const Handle& handle, F f, std::index_sequence<I...>) {
        const auto ask = [&f](auto& list, const auto* own) {
            return own != nullptr && f(list, *own);
        };
        return (... || ask(std::get<I>(lists), handle.template of<I>()));
    }

    Lists lists_;
};

}  // namespace sluice
