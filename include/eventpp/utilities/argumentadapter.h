#pragma once

#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "Sluice needs C++17: compile with -std=c++17 or later"
#else

#include <sluice/eventpp/listener_adapters.hpp>

#include <memory>

namespace eventpp {

using sluice::ArgumentAdapter;
using sluice::argumentAdapter;

}  // namespace eventpp

#endif
