#pragma once

#include <eventpp/internal/language.h>

#include <sluice/eventpp/any_data.hpp>

#include <array>
#include <cassert>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace eventpp {

using sluice::AnyData;
using sluice::maxSizeOf;

}  // namespace eventpp
