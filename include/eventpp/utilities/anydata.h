#pragma once

#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "Sluice needs C++17: compile with -std=c++17 or later"
#else

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

#endif
