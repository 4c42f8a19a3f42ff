#pragma once

#include <sluice/event/detail/dispatch/dispatcher_base.hpp>

namespace sluice {

/// Calls the listeners of an event: a map from events to callback lists.
///
///     sluice::EventDispatcher<int, void(const std::string&)> dispatcher;
///     dispatcher.appendListener(3, [](const std::string& text) { ... });
///     dispatcher.dispatch(3, "hello");
///
/// Use it if listeners ask for particular events, such as message types or topics. Use CallbackList
/// if there is one kind of event. Use EventQueue if listeners run later or on another thread. Use
/// HeterEventDispatcher if events have different arguments.
///
/// Threads, progress, memory and exceptions: as for CallbackList. Threads dispatch in parallel,
/// because finding the list takes no lock. The hash and the comparison of events run without a
/// lock.
///
/// An event that has lost its last listener keeps its memory: about 200 bytes and the event itself.
/// trimEvents() frees this memory. If the events of a program come and go, such as sessions, call
/// trimEvents() at a time when no other thread uses the dispatcher.
///
/// `Event` needs std::hash and ==, or <, unless the policy has a Map. `Policies`: Callback,
/// Threading, Map, getEvent, canContinueInvoking, ArgumentPassingMode, Mixins.
template <class Event, class Prototype, class Policies = DefaultPolicies>
class EventDispatcher
    : public detail::Mixed<detail::DispatcherBase<Event, Prototype, Policies>, Policies>,
      public TagEventDispatcher {
    using Base = detail::Mixed<detail::DispatcherBase<Event, Prototype, Policies>, Policies>;

public:
    using Base::Base;

    friend void swap(EventDispatcher& a, EventDispatcher& b) noexcept { a.swap(b); }
};

}  // namespace sluice
