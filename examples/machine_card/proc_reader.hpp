#pragma once

/// \file
/// Reads the files of /proc that the card is made of.

#include "parts.hpp"

#include <istream>
#include <optional>
#include <sstream>
#include <string>

namespace machine_card {

/// The files as they were at one time. One that cannot be read is empty.
struct Snapshot {
    std::string load;        // loadavg
    std::string memory;      // meminfo
    std::string disks;       // diskstats
    std::string interfaces;  // net/dev
};

/// `folder`: usually "/proc".
Snapshot readSnapshot(const std::string& folder);

// Each understands one file, or one line of it; lines that tell nothing give nothing.

std::optional<Load> parseLoad(const std::string& text);
std::optional<Memory> parseMemory(const std::string& text);
/// Nothing for a disk that was never used.
std::optional<Disk> parseDisk(const std::string& line);
std::optional<Interface> parseInterface(const std::string& line);

/// Calls send(part) with each part of the machine, in the order of the files.
template <class Send>
void sendParts(const Snapshot& snapshot, Send send) {
    const auto sendIfThere = [&send](const auto& part) {
        if (part) {
            send(*part);
        }
    };
    sendIfThere(parseLoad(snapshot.load));
    sendIfThere(parseMemory(snapshot.memory));
    std::istringstream disks(snapshot.disks);
    for (std::string line; std::getline(disks, line);) {
        sendIfThere(parseDisk(line));
    }
    std::istringstream interfaces(snapshot.interfaces);
    for (std::string line; std::getline(interfaces, line);) {
        sendIfThere(parseInterface(line));
    }
}

}  // namespace machine_card
