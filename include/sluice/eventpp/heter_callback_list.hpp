#pragma once

#include <sluice/event/callback_list.hpp>
#include <sluice/event/detail/policy_traits.hpp>
#include <sluice/event/event_policies.hpp>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace sluice {

/// The prototypes of a heterogeneous list, dispatcher or queue: HeterTuple<void(), void(int)>.
///
/// A callable belongs to the first prototype that it can be called with. Arguments belong to the
/// first prototype that accepts them, even by conversions. List specific prototypes first.
template <class... Prototypes>
struct HeterTuple {};

template <class Tuple>
struct HeterTupleSize;
template <class... Prototypes>
struct HeterTupleSize<HeterTuple<Prototypes...>> {
    static constexpr std::size_t value = sizeof...(Prototypes);
};

namespace detail {

template <class Prototype>
struct PrototypeTraits {
    static_assert(never<Prototype>,
                  "the prototypes of a HeterTuple must be function types such as void(int)");
};

template <class Result, class... Args>
struct PrototypeTraits<Result(Args...)> {
    using Arguments = std::tuple<std::decay_t<Args>...>;

    template <class Callable>
    static constexpr bool isFor = std::is_invocable_r_v<Result, Callable&, Args...>;

    /// True if Callable accepts the arguments, whatever its result type is.
    template <class Callable>
    static constexpr bool canCall = std::is_invocable_v<Callable&, Args...>;

    template <class... A>
    static constexpr bool takes = std::is_invocable_v<Result(Args...), A...>;
};

/// The position of the first true value, or the number of values if all are false.
constexpr std::size_t firstTrue(std::initializer_list<bool> values) noexcept {
    std::size_t position = 0;
    for (const bool value : values) {
        if (value) {
            return position;
        }
        ++position;
    }
    return position;
}

template <class PrototypeList>
struct Prototypes {
    static_assert(never<PrototypeList>,
                  "the prototypes must be given as a HeterTuple such as HeterTuple<void(int)>");
};

template <class... P>
struct Prototypes<HeterTuple<P...>> {
    static_assert(sizeof...(P) > 0, "a HeterTuple must have a prototype");

    static constexpr std::size_t size = sizeof...(P);

    template <std::size_t I>
    using At = std::tuple_element_t<I, std::tuple<P...>>;

    template <class Callable>
    static constexpr std::size_t ofCallable() noexcept {
        constexpr std::size_t found =
            firstTrue({PrototypeTraits<P>::template isFor<std::decay_t<Callable>>...});
        static_assert(found < size, "the callable fits none of the prototypes");
        return found;
    }

    template <class... A>
    static constexpr std::size_t ofArguments() noexcept {
        constexpr std::size_t found = firstTrue({PrototypeTraits<P>::template takes<A...>...});
        static_assert(found < size, "the arguments fit none of the prototypes");
        return found;
    }

    /// Returns the index of `Prototype`. If the list lacks `Prototype`, returns the index of the
    /// first prototype whose arguments `Prototype` accepts.
    template <class Prototype>
    static constexpr std::size_t ofPrototype() noexcept {
        constexpr std::size_t same = firstTrue({std::is_same_v<P, Prototype>...});
        constexpr std::size_t found =
            same < size ? same : firstTrue({PrototypeTraits<P>::template canCall<Prototype>...});
        static_assert(found < size, "there is no such prototype");
        return found;
    }
};

/// Replaces the policies' Callback, which fits only one prototype.
template <class Policies, class Prototype>
struct WithoutCallback : Policies {
    using Callback = std::function<Prototype>;
};
template <class Policies, class Prototype>
using HeterListPolicies = std::conditional_t<isDetected<CallbackMember, Policies>,
                                             WithoutCallback<Policies, Prototype>, Policies>;

/// Names one callback of one heterogeneous list, like CallbackHandle. `index` is the position of
/// the callback's prototype, or -1 in an empty handle.
template <class... Handles>
class HeterHandle {
public:
    int index = -1;

    HeterHandle() noexcept = default;

    template <std::size_t I, class Handle>
    HeterHandle(std::in_place_index_t<I> place, Handle handle) noexcept
        : index(handle == Handle() ? -1 : static_cast<int>(I)), handle_(place, std::move(handle)) {}

    [[nodiscard]] bool expired() const noexcept {
        return std::visit([](const auto& handle) { return handle.expired(); }, handle_);
    }
    operator bool() const noexcept { return !expired(); }

    /// Returns *this, or an empty handle if the callback has been removed.
    [[nodiscard]] HeterHandle lock() const noexcept { return expired() ? HeterHandle() : *this; }

    void reset() noexcept { *this = HeterHandle(); }

    /// Removes the callback from its list. See CallbackHandle::remove().
    bool remove() const {
        return std::visit([](const auto& handle) { return handle.remove(); }, handle_);
    }

    /// Returns the inner handle if the callback has prototype I, or null for another prototype.
    template <std::size_t I>
    const auto* of() const noexcept {
        const auto* const handle = std::get_if<I>(&handle_);
        return index == static_cast<int>(I) ? handle : nullptr;
    }

    friend bool operator==(const HeterHandle& a, const HeterHandle& b) noexcept {
        return a.index == b.index && (a.index < 0 || a.handle_ == b.handle_);
    }
    friend bool operator!=(const HeterHandle& a, const HeterHandle& b) noexcept {
        return !(a == b);
    }

private:
    std::variant<Handles...> handle_;
};

}  // namespace detail

/// Callback lists of different prototypes. A call selects the list that fits the arguments.
///
///     sluice::HeterCallbackList<sluice::HeterTuple<void(), void(int)>> list;
///     list.append([] { ... });
///     list.append([](int value) { ... });
///     list();    // calls the first one
///     list(42);  // calls the second one
///
/// HeterTuple explains how a prototype is selected. Only callbacks of the same prototype have an
/// order. Thread safety, errors and performance are those of CallbackList.
///
/// `Policies` may define Threading, and canContinueInvoking for some or all of the prototypes.
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
    HeterCallbackList& operator=(HeterCallbackList&& other) noexcept {
        HeterCallbackList(std::move(other)).swap(*this);
        return *this;
    }
    ~HeterCallbackList() {
        // Repeats, because destructors of callbacks may add callbacks.
        while (!empty() || removedSizeApprox() != 0) {
            Lists ended;
            ended.swap(lists_);
        }
    }

    void swap(HeterCallbackList& other) noexcept { lists_.swap(other.lists_); }
    friend void swap(HeterCallbackList& a, HeterCallbackList& b) noexcept { a.swap(b); }

    [[nodiscard]] bool empty() const noexcept {
        return std::apply([](const auto&... lists) { return (lists.empty() && ...); }, lists_);
    }

    operator bool() const noexcept { return !empty(); }

    /// Adds a callback to its prototype's list, or returns an empty handle for a null callable.
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

    /// Adds a callback in front of `before`, or at the end if `before` is in another list.
    template <class C>
    Handle insert(C&& callback, const Handle& before) {
        constexpr std::size_t index = Match::template ofCallable<C>();
        auto& list = std::get<index>(lists_);
        const auto* const place = before.template of<index>();
        return handleOf<index>(place != nullptr ? list.insert(std::forward<C>(callback), *place)
                                                : list.append(std::forward<C>(callback)));
    }

    /// Returns false if the handle names no callback of this list.
    bool remove(const Handle& handle) {
        const auto removeFrom = [](auto& list, const auto& own) { return list.remove(own); };
        return withListOf(lists_, handle, removeFrom, Indexes());
    }

    /// See CallbackList::removeAndWait().
    bool removeAndWait(const Handle& handle) {
        const auto removeFrom = [](auto& list, const auto& own) { return list.removeAndWait(own); };
        return withListOf(lists_, handle, removeFrom, Indexes());
    }

    /// The number of removed callbacks that are not destroyed yet.
    [[nodiscard]] std::size_t removedSizeApprox() const noexcept {
        return std::apply(
            [](const auto&... lists) { return (std::size_t{0} + ... + lists.removedSizeApprox()); },
            lists_);
    }

    void clear() noexcept {
        // Uses no member after apply(), because destructors of callbacks may destroy this object.
        std::apply(
            [](auto&... lists) {
                const std::tuple<typename ListFor<P>::Clearing...> all(lists...);
            },
            lists_);
    }

    /// Constant time.
    [[nodiscard]] bool ownsHandle(const Handle& handle) const noexcept {
        const auto owns = [](const auto& list, const auto& own) { return list.ownsHandle(own); };
        return withListOf(lists_, handle, owns, Indexes());
    }

    template <class Prototype, class F>
    void forEach(F&& f) const {
        forEachIf<Prototype>([&f](const Handle& handle, auto& callback) {
            visit(f, handle, callback);
            return true;
        });
    }

    /// Like forEach(), but stops and returns false when `f` returns false.
    template <class Prototype, class F>
    bool forEachIf(F&& f) const {
        constexpr std::size_t index = Match::template ofPrototype<Prototype>();
        using List = std::tuple_element_t<index, Lists>;
        return std::get<index>(lists_).forEachIf(
            [&f](const typename List::Handle& handle, typename List::Callback& callback) {
                return static_cast<bool>(visit(f, handleOf<index>(handle), callback));
            });
    }

    /// Calls all callbacks of the prototype that the arguments select.
    template <class... A>
    void operator()(A&&... args) const {
        std::get<Match::template ofArguments<A&&...>()>(lists_)(std::forward<A>(args)...);
    }

    /// Returns the list of one prototype; used by dispatchers.
    template <class Prototype>
    friend const auto& listFor(detail::PrototypeTag<Prototype>,
                               const HeterCallbackList& list) noexcept {
        return std::get<Match::template ofPrototype<Prototype>()>(list.lists_);
    }

private:
    using Lists = std::tuple<ListFor<P>...>;
    using Indexes = std::index_sequence_for<P...>;

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

    /// Returns f(list, inner handle) for the prototype of `handle`, or false for an empty handle.
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
