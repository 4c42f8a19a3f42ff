#pragma once

// eventpp's CounterRemover: see sluice/event/counter_remover.hpp.

#include <eventpp/eventpolicies.h>
#include <sluice/event/counter_remover.hpp>

namespace eventpp {

using sluice::CounterRemover;
using sluice::counterRemover;

}  // namespace eventpp
