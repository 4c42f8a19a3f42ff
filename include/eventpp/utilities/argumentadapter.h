#pragma once

// eventpp's argumentAdapter: see sluice/event/argument_adapter.hpp.

#include <sluice/event/argument_adapter.hpp>

#include <memory>

namespace eventpp {

using sluice::ArgumentAdapter;
using sluice::argumentAdapter;

}  // namespace eventpp
