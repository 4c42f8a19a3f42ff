#include "card.hpp"

#include <cstdio>

namespace machine_card {

namespace {

std::string megabytes(std::uint64_t bytes) {
    return std::to_string(bytes / 1000000) + " MB";
}

std::string twoDecimals(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", value);
    return text;
}

}  // namespace

void Card::add(const Load& load) {
    addLine("load", twoDecimals(load.oneMinute) + ", " + twoDecimals(load.fiveMinutes) + ", " +
                        twoDecimals(load.fifteenMinutes) + " (1, 5, 15 minutes)");
}

void Card::add(const Memory& memory) {
    addLine("memory", std::to_string(memory.availableKib / 1024) + " of " +
                          std::to_string(memory.totalKib / 1024) + " MiB available");
}

void Card::add(const Disk& disk) {
    constexpr std::uint64_t sector = 512;
    addLine(disk.name.c_str(), "read " + megabytes(disk.sectorsRead * sector) + ", wrote " +
                                   megabytes(disk.sectorsWritten * sector));
}

void Card::add(const Interface& interface) {
    addLine(interface.name.c_str(), "received " + megabytes(interface.bytesReceived) + ", sent " +
                                        megabytes(interface.bytesSent));
}

void Card::addLine(const char* label, const std::string& value) {
    char begin[48];
    std::snprintf(begin, sizeof begin, "%-12s ", label);
    text_ += begin + value + '\n';
    ++parts_;
}

}  // namespace machine_card
