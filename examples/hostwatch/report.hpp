#pragma once

#include "accounts.hpp"

#include <cstdint>
#include <string>

namespace hostwatch {

/// What became of the run, known once the producers have ended and the queue was drained.
struct Outcome {
    const Accounts& accounts;
    std::uint64_t stillQueued;     ///< as the queue itself says
    std::uint64_t samplesLeftOut;  ///< of devices for which the display had no place
};

/// Whether attempted = accepted + rejected and accepted = delivered + still queued hold, for all
/// together, and for each producer with nothing still queued.
bool accountsAddUp(const Outcome& outcome);

/// The account of every message, file and delay, as text for the user.
std::string report(const Outcome& outcome);

}  // namespace hostwatch
