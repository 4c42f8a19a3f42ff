#pragma once

#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "Sluice needs C++17: compile with -std=c++17 or later"
#else

#include <eventpp/hetercallbacklist.h>
#include <sluice/eventpp/mixin_filter.hpp>

namespace eventpp {

using sluice::MixinHeterFilter;

}  // namespace eventpp

#endif
