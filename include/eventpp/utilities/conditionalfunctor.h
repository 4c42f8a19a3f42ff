#pragma once

#if __cplusplus < 201703L
#error "Sluice needs C++17: compile with -std=c++17 or later"
#else

// eventpp's conditionalFunctor: see sluice/eventpp/conditional_functor.hpp.

#include <sluice/eventpp/conditional_functor.hpp>

#include <utility>

namespace eventpp {

using sluice::ConditionalFunctor;
using sluice::conditionalFunctor;

}  // namespace eventpp

#endif
