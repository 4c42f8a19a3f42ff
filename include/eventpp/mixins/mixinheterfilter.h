#pragma once

// eventpp's filters of heterogeneous classes: see sluice/event/mixin_heter_filter.hpp.

#include <eventpp/hetercallbacklist.h>
#include <sluice/event/mixin_heter_filter.hpp>

namespace eventpp {

using sluice::MixinHeterFilter;

}  // namespace eventpp
