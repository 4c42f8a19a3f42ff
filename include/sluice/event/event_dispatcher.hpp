#pragma once

#include <sluice/event/detail/dispatch/dispatcher_base.hpp>

namespace sluice {

/// Calls the listeners of an event: a map from events to callback lists.
///
///     sluice::EventDispatcher<int, void(const std::string&)> dispatcher;
///     dispatcher.appendListener(3, [](const std::string& text) { ... });
///     dispatcher.dispatch(3, "hello");
///
/// Use it when listeners ask for particular events, such as message types or topics. Use
/// CallbackList when there is one kind of event; EventQueue when listeners run later or on another
/// thread; HeterEventDispatcher when events have different arguments.
///
/// Threads, progress, memory and exceptions: as for CallbackList. Threads dispatch in
/// parallel: finding the list takes no lock. No lock is held while hash and comparison of events
/// run.
///
/// An event that has lost its last listener keeps its memory, some 200 bytes and the event itself.
/// trimEvents() frees it. A program whose events come and go, such as sessions, calls trimEvents()
/// at a time when no other thread uses the dispatcher.
///
/// `Event` needs std::hash and ==, or <, unless the policy has a Map. `Policies`: Callback,
/// Threading, Map, getEvent, canContinueInvoking, ArgumentPassingMode, Mixins.
template <class Event, class Prototype, class Policies = DefaultPolicies>
class EventDispatcher
    : public detail::WithMixins<detail::DispatcherBase<Event, Prototype, Policies>,
                                detail::MixinsOf<Policies>>::Type,
      public TagEventDispatcher {
    using Base = typename detail::WithMixins<detail::DispatcherBase<Event, Prototype, Policies>,
                                             detail::MixinsOf<Policies>>::Type;

public:
    using Base::Base;

    friend void swap(EventDispatcher& a, EventDispatcher& b) noexcept { a.swap(b); }
};

}  // namespace sluice
