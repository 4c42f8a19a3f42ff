#pragma once

/// \file
/// The parts of the card. Each struct is one kind of message.

#include <sluice/fixed/fixed_string.hpp>

#include <cstdint>

namespace machine_card {

using Name = sluice::FixedString<31>;

struct Load {
    double oneMinute = 0;
    double fiveMinutes = 0;
    double fifteenMinutes = 0;
};

struct Memory {
    std::uint64_t totalKib = 0;
    std::uint64_t availableKib = 0;
};

struct Disk {
    Name name;
    std::uint64_t sectorsRead = 0;
    std::uint64_t sectorsWritten = 0;
};

struct Interface {
    Name name;
    std::uint64_t bytesReceived = 0;
    std::uint64_t bytesSent = 0;
};

}  // namespace machine_card
