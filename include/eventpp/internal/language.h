#pragma once

// Each eventpp header includes this one first, so an older standard causes only one error.

#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "Sluice needs C++17: compile with -std=c++17 or later"
#include <C++17 or later>  // ends the compilation: the file does not exist
#endif
