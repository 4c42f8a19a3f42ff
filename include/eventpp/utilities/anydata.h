#pragma once

// eventpp's AnyData: see sluice/event/any_data.hpp.

#include <sluice/event/any_data.hpp>

#include <array>
#include <cassert>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace eventpp {

using sluice::AnyData;
using sluice::maxSizeOf;

}  // namespace eventpp
