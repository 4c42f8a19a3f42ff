#pragma once

#if __cplusplus < 201703L
#error "Sluice needs C++17: compile with -std=c++17 or later"
#else

// eventpp's filters of heterogeneous classes: see sluice/eventpp/mixin_heter_filter.hpp.

#include <eventpp/hetercallbacklist.h>
#include <sluice/eventpp/mixin_heter_filter.hpp>

namespace eventpp {

using sluice::MixinHeterFilter;

}  // namespace eventpp

#endif
