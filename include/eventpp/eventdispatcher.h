#pragma once

#include <eventpp/internal/language.h>

#include <eventpp/callbacklist.h>
#include <sluice/event/event_dispatcher.hpp>

namespace eventpp {

using sluice::EventDispatcher;

namespace internal_ {

template <class Event, class Prototype, class Policies, class MixinRoot>
using EventDispatcherBase = sluice::EventDispatcher<Event, Prototype, Policies>;

}  // namespace internal_

}  // namespace eventpp
