#pragma once

#include <sluice/eventpp/heter_callback_list.hpp>
#include <sluice/eventpp/mixin_filter.hpp>

#include <utility>

namespace sluice {

namespace detail {

template <class PrototypeList>
struct FilterPrototypesOf;
template <class... P>
struct FilterPrototypesOf<HeterTuple<P...>> {
    using Type = HeterTuple<typename FilterPrototypeOf<P>::Type...>;
};

}  // namespace detail

/// Filters in front of all listeners of a heterogeneous dispatcher or queue.
///
///     struct Policies { using Mixins = sluice::MixinList<sluice::MixinHeterFilter>; };
///     using Prototypes = sluice::HeterTuple<void(), void(int)>;
///     sluice::HeterEventDispatcher<int, Prototypes, Policies> dispatcher;
///     dispatcher.appendFilter([](int& value) { return value > 0; });
///
/// As MixinFilter, but a filter sees only the events of one prototype: the first whose arguments it
/// accepts as references.
///
/// Threads, progress, memory, errors, cost: as for MixinFilter.
///
/// Tests: tests/unit/eventpp/mixin_heter_filter_test.cpp.
template <class Base>
class MixinHeterFilter : public Base {
    using FilterList =
        HeterCallbackList<typename detail::FilterPrototypesOf<typename Base::PrototypeList>::Type,
                          detail::FilterPolicies<typename Base::Threading>>;

public:
    using FilterHandle = typename FilterList::Handle;

    using Base::Base;

    /// Adds a filter behind the others of its prototype.
    template <class Filter>
    FilterHandle appendFilter(Filter&& filter) {
        return filters_.append(std::forward<Filter>(filter));
    }

    /// Removes a filter. Returns false if it was removed before, or if it is no filter of this
    /// object.
    bool removeFilter(const FilterHandle& handle) { return filters_.remove(handle); }

    /// Called by the dispatcher: whether all filters let the event pass.
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
