#pragma once

#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "Sluice needs C++17: compile with -std=c++17 or later"
#else

#include <eventpp/callbacklist.h>
#include <sluice/event/event_dispatcher.hpp>

namespace eventpp {

using sluice::EventDispatcher;

namespace internal_ {

template <class Event, class Prototype, class Policies, class MixinRoot>
using EventDispatcherBase = sluice::EventDispatcher<Event, Prototype, Policies>;

}  // namespace internal_

}  // namespace eventpp

#endif
