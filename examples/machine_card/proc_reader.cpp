#include "proc_reader.hpp"

#include <fstream>
#include <iterator>

namespace machine_card {

namespace {

std::string fileText(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void skip(std::istream& words, int count) {
    std::string word;
    while (count-- > 0) {
        words >> word;
    }
}

}  // namespace

Snapshot readSnapshot(const std::string& folder) {
    return {fileText(folder + "/loadavg"), fileText(folder + "/meminfo"),
            fileText(folder + "/diskstats"), fileText(folder + "/net/dev")};
}

std::optional<Load> parseLoad(const std::string& text) {
    std::istringstream words(text);
    Load load;
    if (words >> load.oneMinute >> load.fiveMinutes >> load.fifteenMinutes) {
        return load;
    }
    return std::nullopt;
}

std::optional<Memory> parseMemory(const std::string& text) {
    std::istringstream lines(text);
    Memory memory;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name;
        words >> name;
        if (name == "MemTotal:") {
            words >> memory.totalKib;
        } else if (name == "MemAvailable:") {
            words >> memory.availableKib;
        }
    }
    return memory.totalKib != 0 ? std::optional(memory) : std::nullopt;
}

std::optional<Disk> parseDisk(const std::string& line) {
    std::istringstream words(line);
    std::string name;
    Disk disk;
    skip(words, 2);  // the numbers of the device
    words >> name;
    skip(words, 2);  // reads, and how many of them were merged
    words >> disk.sectorsRead;
    skip(words, 3);  // time spent reading, writes, and how many of them were merged
    if (!(words >> disk.sectorsWritten) || disk.sectorsRead + disk.sectorsWritten == 0) {
        return std::nullopt;
    }
    disk.name.assign(name);
    return disk;
}

std::optional<Interface> parseInterface(const std::string& line) {
    // A large figure may follow the colon without a space.
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) {
        return std::nullopt;
    }
    std::istringstream words(line.substr(colon + 1));
    Interface interface;
    words >> interface.bytesReceived;
    skip(words, 7);
    if (!(words >> interface.bytesSent)) {
        return std::nullopt;
    }
    const std::size_t begin = line.find_first_not_of(' ');
    interface.name.assign(line.substr(begin, colon - begin));
    return interface;
}

}  // namespace machine_card
