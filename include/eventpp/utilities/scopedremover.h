#pragma once

// eventpp's ScopedRemover: see sluice/event/scoped_remover.hpp.

#include <eventpp/eventpolicies.h>
#include <sluice/event/scoped_remover.hpp>

#include <algorithm>
#include <vector>

namespace eventpp {

using sluice::ScopedRemover;

}  // namespace eventpp
