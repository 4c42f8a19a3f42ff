#pragma once

/// \file
/// The part of the processors that others had during a measurement.

namespace sluice::bench {

/// The processor time of the processes in this process's group, in seconds: of this one, its
/// children, and a server that the same script has started.
double secondsOfGroup();

/// Watches from its construction on. Resolution is the kernel's tick, so short spans say little.
class CpuShare {
public:
    CpuShare();

    /// Part of all CPU time that processes of other groups used, 0 to 1; negative when the system
    /// does not tell.
    double others() const;

    /// Part of all CPU time that the hypervisor gave to other machines; negative when unknown.
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
