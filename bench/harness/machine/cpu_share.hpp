#pragma once

/// \file
/// The part of the processors that others had during a measurement.

namespace sluice::bench {

/// The processor time of this process's group, in seconds: this process, its children, and a server
/// that the same script has started.
double secondsOfGroup();

/// Measures from its construction on, with the resolution of the kernel's tick.
class CpuShare {
public:
    CpuShare();

    /// The part of all CPU time that processes of other groups used, 0 to 1. Negative if unknown.
    double others() const;

    /// The part of all CPU time that the hypervisor gave to other machines. Negative if unknown.
    double stolen() const;

private:
    struct Times {
        double busy = -1;
        double stolen = -1;
        double all = -1;
        double own = 0;
    };

    static Times read();

    const Times start_;
};

}  // namespace sluice::bench
