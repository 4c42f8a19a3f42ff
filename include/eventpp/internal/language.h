#pragma once

// Each header of eventpp includes this one first, so that an older language is the only error.

#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "Sluice needs C++17: compile with -std=c++17 or later"
#include <C++17 or later>  // this file does not exist, which ends the compilation
#endif
