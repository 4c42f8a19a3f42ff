#pragma once

// eventpp's functions that look listeners up by value: see sluice/event/event_util.hpp.

#include <sluice/event/event_util.hpp>

namespace eventpp {

using sluice::hasAnyListener;
using sluice::hasListener;
using sluice::removeListener;

}  // namespace eventpp
