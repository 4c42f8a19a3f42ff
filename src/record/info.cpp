// sluice-info FILE: prints what a recording contains. It fails unless the recording is complete.

#include "mcap.hpp"

#include <cinttypes>
#include <cstdio>
#include <exception>

namespace {

/// Returns a text of the file without characters that are commands to a terminal: those of ASCII,
/// and U+0080 to U+009F.
std::string printable(std::string text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c < 0x20 || c == 0x7F) {
            text[i] = '?';
        } else if (c >= 0x80 && c < 0xA0 && i > 0 && text[i - 1] == '\xC2') {
            text[i - 1] = text[i] = '?';
        }
    }
    return text;
}

/// Returns whether the recording is complete.
bool print(const char* path) {
    sluice::detail::mcap::Reader file(path);
    std::map<std::uint16_t, std::uint64_t> counts;
    std::uint64_t first = ~std::uint64_t{0};
    std::uint64_t last = 0;
    sluice::RecorderStatistics missing;
    for (sluice::detail::mcap::Message message; file.next(message);) {
        ++counts[message.channel];
        first = std::min(first, message.logTime);
        last = std::max(last, message.logTime);
        if (file.channels().at(message.channel).schemaName == "RecorderStatistics") {
            const auto* const data = reinterpret_cast<const unsigned char*>(message.data.data());
            (void)sluice::wire::decode(data, message.data.size(), missing);
        }
    }
    std::printf("%s: %s\n", path, toString(file.end()));
    if (!counts.empty()) {
        std::printf("%.3f s, from %.3f s since 1970 on\n", static_cast<double>(last - first) / 1e9,
                    static_cast<double>(first) / 1e9);
    }
    for (const auto& [id, count] : counts) {
        const sluice::detail::mcap::Channel& channel = file.channels().at(id);
        std::printf("%12" PRIu64 "  %s  %s  %s", count, printable(channel.topic).c_str(),
                    printable(channel.schemaName).c_str(), printable(channel.encoding).c_str());
        for (const auto& [key, value] : channel.metadata) {
            std::printf("  %s=%s", printable(key).c_str(), printable(value).c_str());
        }
        std::puts("");
    }
    std::printf("lost %" PRIu64 ", unencodable %" PRIu64 ", failed %" PRIu64 "\n", missing.lost,
                missing.unencodable, missing.failed);
    return file.end() == sluice::RecordingEnd::complete;
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
