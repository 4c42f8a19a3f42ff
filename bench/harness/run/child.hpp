#pragma once

/// \file
/// Measurements in a process of their own, with untouched memory.

#include "harness/run/round.hpp"

#include <functional>

namespace sluice::bench {

/// Runs `measure`, which fills in `ns` and `counts`, in a child of this process and checks the
/// counts. To be called while the process has one thread. A child that does not end in time is
/// killed by a signal, which is an error of the round.
Round inChild(const std::function<void(Round&)>& measure);

/// How much memory of this process is resident; negative when the system does not tell.
double residentMiB();

}  // namespace sluice::bench
