#pragma once

#include <sluice/event/callback_list.hpp>

#include <functional>
#include <type_traits>

namespace sluice {

namespace detail {

/// The prototype of a filter for R(Args...): bool(Args&...).
template <class Prototype>
struct FilterPrototypeOf;
template <class R, class... Args>
struct FilterPrototypeOf<R(Args...)> {
    using Type = bool(std::add_lvalue_reference_t<Args>...);
};

/// Filters have the threading of the dispatcher, and none of its other policies.
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
/// Purpose: a filter sees every event. It lets the event pass or not, and may change its arguments.
///
/// Filters run in the order in which they were added, also if the event has no listener. A queue
/// runs them when it processes the event. The first filter that returns false ends the dispatch: no
/// later filter and no listener is called. A filter gets all arguments as references. Later filters
/// and the listeners get the values that it writes.
///
/// Threads, progress, memory: as for a CallbackList with the Threading of the dispatcher. A filter
/// may add and remove filters.
///
/// Errors: an exception of a filter ends the dispatch. Cost: one branch for a dispatch without
/// filters, one call for each filter.
///
/// Copies of the dispatcher have the same filters; swap() exchanges the filters.
///
/// Tests: tests/unit/eventpp/mixin_filter_test.cpp.
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

    /// Removes a filter. Returns false if it was removed before, or if it is no filter of this
    /// object.
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
