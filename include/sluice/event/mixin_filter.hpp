#pragma once

#include <sluice/event/callback_list.hpp>

#include <functional>
#include <type_traits>

namespace sluice {

namespace detail {

/// bool(Args&...) of R(Args...).
template <class Prototype>
struct FilterPrototypeOf;
template <class R, class... Args>
struct FilterPrototypeOf<R(Args...)> {
    using Type = bool(std::add_lvalue_reference_t<Args>...);
};

/// Filters are listeners with the threading of the dispatcher and none of its other policies.
template <class T>
struct FilterPolicies {
    using Threading = T;
};

}  // namespace detail

/// Filters in front of all listeners of a dispatcher or queue.
///
///     struct Policies { using Mixins = sluice::MixinList<sluice::MixinFilter>; };
///     sluice::EventDispatcher<int, void(int), Policies> dispatcher;
///     dispatcher.appendFilter([](int& value) { return value > 0; });
///
/// Purpose: look at every event, whatever its listeners, let it pass or not, and change its
/// arguments. Filters run in the order in which they were added, also when the event has no
/// listener; a queue runs them when it processes. The first that returns false ends the dispatch:
/// no later filter and no listener is called. Arguments that the prototype takes by value come as
/// references, and later filters and listeners get the values that a filter writes.
///
/// Threads, progress, memory: as for the CallbackList that the filters are in; its
/// Threading is the dispatcher's. A filter may add and remove filters.
///
/// Errors: an exception of a filter ends the dispatch. Cost: one branch for a dispatch without
/// filters, one call for each filter.
///
/// Copies of the dispatcher have the same filters, swap() exchanges them.
///
/// Tests: tests/unit/event/mixin_filter_test.cpp.
template <class Base>
class MixinFilter : public Base {
    using FilterPrototype = typename detail::FilterPrototypeOf<typename Base::Prototype>::Type;
    using Filter = std::function<FilterPrototype>;
    using FilterList =
        CallbackList<FilterPrototype, detail::FilterPolicies<typename Base::Threading>>;

public:
    using FilterHandle = typename FilterList::Handle;

    using Base::Base;

    /// Adds a filter behind the others.
    FilterHandle appendFilter(const Filter& filter) { return filters_.append(filter); }

    /// False if it was removed before, or is none of these.
    bool removeFilter(const FilterHandle& handle) { return filters_.remove(handle); }

    /// Called by the dispatcher: whether all filters let the event pass.
    template <class... Args>
    bool mixinBeforeDispatch(Args&... args) const {
        return filters_.empty() ||
               filters_.forEachIf([&args...](const Filter& filter) { return filter(args...); });
    }

    void swap(MixinFilter& other) noexcept {
        Base::swap(other);
        filters_.swap(other.filters_);
    }

private:
    FilterList filters_;
};

}  // namespace sluice
