#pragma once

#include "accounts.hpp"

#include <cstdint>
#include <string>

namespace hostwatch {

/// What became of the run, known once the producers have ended and the bus was drained. The same
/// messages are counted by the bus, by those who publish them and by the consumer.
struct Outcome {
    Statistics statistics;
    std::uint64_t stillQueued;  ///< as the bus itself says
    Tally attempts;
    const Deliveries& deliveries;
    const Accounts& accounts;
    std::uint64_t samplesLeftOut;  ///< of devices for which the display had no place
};

/// Whether attempted = accepted + rejected and accepted = delivered + dropped + discarded + still
/// queued hold for each type and priority. What is attempted is as the publishers have counted it,
/// what is delivered as the consumer has.
bool accountsAddUp(const Outcome& outcome);

/// The account of every message, file and delay, as text for the user.
std::string report(const Outcome& outcome);

}  // namespace hostwatch
