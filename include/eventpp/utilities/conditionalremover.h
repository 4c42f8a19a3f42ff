#pragma once

#if __cplusplus < 201703L
#error "Sluice needs C++17: compile with -std=c++17 or later"
#else

// eventpp's ConditionalRemover: see sluice/eventpp/conditional_remover.hpp.

#include <eventpp/eventpolicies.h>
#include <sluice/eventpp/conditional_remover.hpp>

namespace eventpp {

using sluice::ConditionalRemover;
using sluice::conditionalRemover;

}  // namespace eventpp

#endif
