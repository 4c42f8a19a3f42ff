#pragma once

// eventpp's dispatcher: see sluice/event/event_dispatcher.hpp.

#include <eventpp/callbacklist.h>
#include <sluice/event/event_dispatcher.hpp>

namespace eventpp {

using sluice::EventDispatcher;

}  // namespace eventpp
