#pragma once

// All public headers of the module fixed.

#include <sluice/fixed/fixed_function.hpp>
#include <sluice/fixed/fixed_string.hpp>
#include <sluice/fixed/fixed_vector.hpp>
