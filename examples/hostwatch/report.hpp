#pragma once

#include "accounts.hpp"

#include <cstdint>
#include <string>

namespace hostwatch {

/// The result of the run, after the producers have ended and the bus was drained. The bus, the
/// publishers and the consumer have each counted the same messages.
struct Outcome {
    Statistics statistics;
    std::uint64_t stillQueued;  ///< as the bus itself says
    Tally attempts;
    const Deliveries& deliveries;
    const Accounts& accounts;
    std::uint64_t samplesLeftOut;  ///< of devices for which the display had no place
};

/// Whether attempted = accepted + rejected and accepted = delivered + dropped + discarded + still
/// queued hold for each type and priority. The publishers have counted the
/// attempted messages, and the consumer the delivered ones.
bool accountsAddUp(const Outcome& outcome);

/// The account of every message, file and delay, as text for the user.
std::string report(const Outcome& outcome);

}  // namespace hostwatch
