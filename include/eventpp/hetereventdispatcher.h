#pragma once

#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "Sluice needs C++17: compile with -std=c++17 or later"
#else

#include <eventpp/mixins/mixinheterfilter.h>
#include <sluice/eventpp/heter_event_dispatcher.hpp>

namespace eventpp {

using sluice::HeterEventDispatcher;

namespace internal_ {

template <class Event, class PrototypeList, class Policies, class MixinRoot>
using HeterEventDispatcherBase = sluice::HeterEventDispatcher<Event, PrototypeList, Policies>;

}  // namespace internal_

}  // namespace eventpp

#endif
