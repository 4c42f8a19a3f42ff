#pragma once

#include <eventpp/internal/language.h>

#include <eventpp/mixins/mixinheterfilter.h>
#include <sluice/eventpp/heter_event_dispatcher.hpp>

namespace eventpp {

using sluice::HeterEventDispatcher;

namespace internal_ {

template <class Event, class PrototypeList, class Policies, class MixinRoot>
using HeterEventDispatcherBase = sluice::HeterEventDispatcher<Event, PrototypeList, Policies>;

}  // namespace internal_

}  // namespace eventpp
