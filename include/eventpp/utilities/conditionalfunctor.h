#pragma once

// eventpp's conditionalFunctor: see sluice/event/conditional_functor.hpp.

#include <sluice/event/conditional_functor.hpp>

#include <utility>

namespace eventpp {

using sluice::ConditionalFunctor;
using sluice::conditionalFunctor;

}  // namespace eventpp
