#pragma once

#if __cplusplus < 201703L
#error "Sluice needs C++17: compile with -std=c++17 or later"
#else

// eventpp's argumentAdapter: see sluice/eventpp/argument_adapter.hpp.

#include <sluice/eventpp/argument_adapter.hpp>

#include <memory>

namespace eventpp {

using sluice::ArgumentAdapter;
using sluice::argumentAdapter;

}  // namespace eventpp

#endif
