#pragma once

// eventpp's ConditionalRemover: see sluice/event/conditional_remover.hpp.

#include <eventpp/eventpolicies.h>
#include <sluice/event/conditional_remover.hpp>

namespace eventpp {

using sluice::ConditionalRemover;
using sluice::conditionalRemover;

}  // namespace eventpp
