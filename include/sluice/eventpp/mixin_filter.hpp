#pragma once

#include <sluice/eventpp/heter_callback_list.hpp>

#include <functional>
#include <type_traits>
#include <utility>

namespace sluice {

namespace detail {

/// Converts a prototype R(Args...) to the prototype of its filters, bool(Args&...).
template <class Prototype>
struct FilterPrototypeOf;
template <class R, class... Args>
struct FilterPrototypeOf<R(Args...)> {
    using Type = bool(std::add_lvalue_reference_t<Args>...);
};
template <class... P>
struct FilterPrototypeOf<HeterTuple<P...>> {
    using Type = HeterTuple<typename FilterPrototypeOf<P>::Type...>;
};

/// The policies of a list of filters: only Threading is taken from the dispatcher's policies.
template <class T>
struct FilterPolicies {
    using Threading = T;
};

}  // namespace detail

/// A mixin that lets filters run before the listeners of a dispatcher or queue.
///
///     struct Policies { using Mixins = sluice::MixinList<sluice::MixinFilter>; };
///     sluice::EventDispatcher<int, void(int), Policies> dispatcher;
///     dispatcher.appendFilter([](int& value) { return value > 0; });
///
/// A filter receives every event, with or without listeners, and may change the arguments. Filters
/// run in the order of addition. A queue filters an event when processing it. The first filter that
/// returns false or throws ends the dispatch. Copies of a dispatcher have the same filters.
///
/// The thread safety of filters is that of a CallbackList with the dispatcher's Threading.
template <class Base>
class MixinFilter : public Base {
    using FilterPrototype = typename detail::FilterPrototypeOf<typename Base::Prototype>::Type;
    using Filter = std::function<FilterPrototype>;
    using FilterList =
        CallbackList<FilterPrototype, detail::FilterPolicies<typename Base::Threading>>;

public:
    using FilterHandle = typename FilterList::Handle;

    using Base::Base;

    FilterHandle appendFilter(const Filter& filter) { return filters_.append(filter); }

    /// Removes a filter. Returns false if the handle names no filter of this object.
    bool removeFilter(const FilterHandle& handle) { return filters_.remove(handle); }

    /// Called by the dispatcher. Returns true if all filters return true.
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

/// The MixinFilter of a heterogeneous dispatcher or queue. A filter belongs to the first prototype
/// whose arguments the filter accepts as references, and receives only events of that prototype.
///
///     struct Policies { using Mixins = sluice::MixinList<sluice::MixinHeterFilter>; };
///     using Prototypes = sluice::HeterTuple<void(), void(int)>;
///     sluice::HeterEventDispatcher<int, Prototypes, Policies> dispatcher;
///     dispatcher.appendFilter([](int& value) { return value > 0; });
template <class Base>
class MixinHeterFilter : public Base {
    using FilterList =
        HeterCallbackList<typename detail::FilterPrototypeOf<typename Base::PrototypeList>::Type,
                          detail::FilterPolicies<typename Base::Threading>>;

public:
    using FilterHandle = typename FilterList::Handle;

    using Base::Base;

    template <class Filter>
    FilterHandle appendFilter(Filter&& filter) {
        return filters_.append(std::forward<Filter>(filter));
    }

    bool removeFilter(const FilterHandle& handle) { return filters_.remove(handle); }

    template <class... Args>
    bool mixinBeforeDispatch(Args&... args) const {
        return filters_.empty() || filters_.template forEachIf<bool(Args & ...)>(
                                       [&args...](auto& filter) { return filter(args...); });
    }

    void swap(MixinHeterFilter& other) noexcept {
        Base::swap(other);
        filters_.swap(other.filters_);
    }

private:
    FilterList filters_;
};

}  // namespace sluice
