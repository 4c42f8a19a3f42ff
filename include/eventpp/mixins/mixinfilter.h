#pragma once

// eventpp's filters: see sluice/event/mixin_filter.hpp.

#include <eventpp/callbacklist.h>
#include <sluice/event/mixin_filter.hpp>

namespace eventpp {

using sluice::MixinFilter;

}  // namespace eventpp
