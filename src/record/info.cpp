// sluice-info FILE: prints what a recording contains.

#include <sluice/record/replay.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>

namespace {

/// Returns a text of the file, which may contain commands to a terminal, without such characters.
std::string printable(std::string text) {
    for (char& c : text) {
        c = static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
    }
    return text;
}

/// Returns whether the recording is complete.
bool print(const char* path) {
    sluice::detail::mcap::Reader file(path);
    std::map<std::uint16_t, unsigned long long> counts;
    unsigned long long sum = 0;
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t last = 0;
    for (sluice::detail::mcap::Message message; file.next(message); ++sum) {
        ++counts[message.channel];
        first = std::min(first, message.logTime);
        last = std::max(last, message.logTime);
    }
    const sluice::RecordingEnd end = sluice::detail::endOf(file);
    std::printf("%s: %s\n%llu messages", path, toString(end), sum);
    if (sum != 0) {
        std::printf(" in %.3f s, from %.3f s since 1970 on",
                    static_cast<double>(last - first) / 1e9, static_cast<double>(first) / 1e9);
    }
    std::puts("");
    for (const auto& [id, channel] : file.channels()) {
        std::printf("%12llu  %s  %s  %s", counts[id], printable(channel.topic).c_str(),
                    printable(channel.schemaName).c_str(), printable(channel.encoding).c_str());
        for (const auto& [key, value] : channel.metadata) {
            std::printf("  %s=%s", printable(key).c_str(), printable(value).c_str());
        }
        std::puts("");
    }
    for (const auto& [what, count] : file.lost()) {
        std::printf("%12s  %s\n", printable(count).c_str(), printable(what).c_str());
    }
    return end == sluice::RecordingEnd::complete;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: sluice-info FILE\n", stderr);
        return 2;
    }
    try {
        return print(argv[1]) ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
