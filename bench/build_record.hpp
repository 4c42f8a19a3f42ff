#pragma once

/// \file
/// How this program was built. The source that knows is written by cmake/build_record.cmake at
/// every build.

#include "harness/machine/environment.hpp"

namespace sluice::bench {

BuildRecord buildRecord();

}  // namespace sluice::bench
