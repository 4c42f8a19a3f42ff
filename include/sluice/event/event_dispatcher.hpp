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
/// Who may call what, progress, memory and exceptions: as for CallbackList. Threads dispatch in
/// parallel: finding the list takes no lock, except that the first few searches after a new event
/// was added do. Hash and comparison of events may run under that lock; they must not use the
/// dispatcher.
///
/// An event that ever had a listener keeps a few bytes until the dispatcher is destroyed.
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
