#pragma once

/// \file
/// Ctrl-C ends a run early and leaves what was measured until then.

namespace sluice::bench {

/// While it lives, the first interrupt (Ctrl-C) or request to terminate is only noted; the second
/// one ends the program as usual. One at a time.
class InterruptionWatch {
public:
    InterruptionWatch() noexcept;
    InterruptionWatch(const InterruptionWatch&) = delete;
    InterruptionWatch& operator=(const InterruptionWatch&) = delete;
    ~InterruptionWatch();
};

/// Whether an interrupt was noted since the watch began.
bool interrupted() noexcept;

}  // namespace sluice::bench
