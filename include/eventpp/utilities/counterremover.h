#pragma once

#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "Sluice needs C++17: compile with -std=c++17 or later"
#else

#include <eventpp/eventpolicies.h>
#include <sluice/eventpp/removers.hpp>

namespace eventpp {

using sluice::CounterRemover;
using sluice::counterRemover;

}  // namespace eventpp

#endif
