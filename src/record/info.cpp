// sluice-info FILE...: prints what a recording contains.

#include <sluice/record/replay.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>

namespace {

/// Returns a text of the file, which may contain commands to a terminal, without such characters.
std::string printable(std::string text) {
    for (char& c : text) {
        c = static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
    }
    return text;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fputs("usage: sluice-info FILE...\n", stderr);
        return 2;
    }
    bool isComplete = true;
    for (int i = 1; i < argc; ++i) {
        try {
            const sluice::RecordingInfo info = sluice::recordingInfo(argv[i]);
            const std::chrono::duration<double> length = info.last - info.first;
            std::printf("%s: %s\n%llu messages in %.3f s, from %.3f s since 1970 on\n", argv[i],
                        toString(info.end), static_cast<unsigned long long>(info.messages),
                        length.count(),
                        std::chrono::duration<double>(info.first.time_since_epoch()).count());
            for (const sluice::RecordingTopic& each : info.topics) {
                std::printf("%12llu  %s  %s  %s  %s\n",
                            static_cast<unsigned long long>(each.messages),
                            printable(each.topic).c_str(), printable(each.type).c_str(),
                            printable(each.priority).c_str(), printable(each.encoding).c_str());
            }
            for (const auto& [what, count] : info.lost) {
                std::printf("%12s  %s\n", printable(count).c_str(), printable(what).c_str());
            }
            isComplete = isComplete && info.end == sluice::RecordingEnd::complete;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
            return 1;
        }
    }
    return isComplete ? 0 : 1;
}
