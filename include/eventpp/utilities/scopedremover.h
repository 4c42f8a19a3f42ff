#pragma once

#if __cplusplus < 201703L
#error "Sluice needs C++17: compile with -std=c++17 or later"
#else

// eventpp's ScopedRemover: see sluice/eventpp/scoped_remover.hpp.

#include <eventpp/eventpolicies.h>
#include <sluice/eventpp/scoped_remover.hpp>

#include <algorithm>
#include <vector>

namespace eventpp {

using sluice::ScopedRemover;

}  // namespace eventpp

#endif
