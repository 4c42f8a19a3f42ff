#pragma once

/// \file
/// Measurements in a process of their own, with untouched memory.

#include "harness/run/round.hpp"

#include <functional>

namespace sluice::bench {

/// Runs `measure`, which fills in `ns` and `counts`, in a child of this process and checks the
/// counts. Call it while the process has one thread. A signal kills a child that does not end in
/// time. This is an error of the round.
Round inChild(const std::function<void(Round&)>& measure);

/// The resident memory of this process. Negative if unknown.
double residentMiB();

}  // namespace sluice::bench
