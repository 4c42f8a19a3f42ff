#pragma once

#include <sluice/eventpp/detail/heter/heter_dispatcher_base.hpp>

namespace sluice {

/// Calls the listeners of an event, whose arguments may be of several prototypes.
///
///     using Prototypes = sluice::HeterTuple<void(), void(int, const std::string&)>;
///     sluice::HeterEventDispatcher<int, Prototypes> dispatcher;
///     dispatcher.appendListener(3, [] { ... });
///     dispatcher.appendListener(3, [](int value, const std::string& text) { ... });
///     dispatcher.dispatch(3);              // calls the first one
///     dispatcher.dispatch(3, 42, "text");  // calls the second one
///
/// Use it if events have different arguments. Use EventDispatcher if all have the same. Use
/// TypeDispatcher if each kind of event is a type of its own.
///
/// Listeners and arguments belong to the first prototype that fits: see HeterCallbackList. The
/// arguments follow the event. With ArgumentPassingIncludeEvent the event is among them.
///
/// Threads, progress, memory, exceptions: as for EventDispatcher. `Policies`: as for
/// EventDispatcher, without Callback; getEvent may be overloaded. One exception: no listener that
/// removeAllListeners() removes may be the last owner of the dispatcher.
template <class Event, class PrototypeList, class Policies = DefaultPolicies>
class HeterEventDispatcher
    : public detail::Mixed<detail::HeterDispatcherBase<Event, PrototypeList, Policies>, Policies>,
      public TagEventDispatcher,
      public TagHeterEventDispatcher {
    using Base =
        detail::Mixed<detail::HeterDispatcherBase<Event, PrototypeList, Policies>, Policies>;

public:
    using Base::Base;

    friend void swap(HeterEventDispatcher& a, HeterEventDispatcher& b) noexcept { a.swap(b); }
};

}  // namespace sluice
