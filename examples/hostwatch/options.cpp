#include "options.hpp"

#include <charconv>
#include <string_view>
#include <system_error>

#include <sys/stat.h>

namespace hostwatch {
namespace {

using Result = sluice::Expected<Options, std::string>;

Result refuse(std::string message) {
    return sluice::Unexpected<std::string>(std::move(message));
}

bool isDirectory(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

/// Whether `text` is a whole number in range; `seconds` is set only then.
bool parseSeconds(std::string_view text, int& seconds) {
    int number = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stopped != end || number < 1 || number > Options::mostSeconds) {
        return false;
    }
    seconds = number;
    return true;
}

}  // namespace

Result parseOptions(int argc, const char* const* argv) {
    Options options;
    bool hasSeconds = false;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        const bool takesValue =
            argument == "--seconds" || argument == "--proc" || argument == "--log";
        if (takesValue && i + 1 == argc) {
            return refuse(argument + " needs a value; --help shows the options");
        }
        if (argument == "--flood") {
            options.flood = true;
        } else if (argument == "--watch") {
            options.watch = true;
        } else if (argument == "--help") {
            options.help = true;
        } else if (argument == "--seconds") {
            const std::string value = argv[++i];
            hasSeconds = true;
            if (!parseSeconds(value, options.seconds)) {
                return refuse("--seconds " + value + ": must be a whole number from 1 to " +
                              std::to_string(Options::mostSeconds));
            }
        } else if (argument == "--proc") {
            options.procDirectory = argv[++i];
            if (!isDirectory(options.procDirectory)) {
                return refuse("--proc " + options.procDirectory + ": is not a directory");
            }
        } else if (argument == "--log") {
            options.logFile = argv[++i];
        } else {
            return refuse("unknown argument " + argument + "; --help shows the options");
        }
    }
    if (options.watch && !hasSeconds) {
        options.seconds = Options::mostSeconds;
    }
    return options;
}

const char* usage() noexcept {
    return "usage: hostwatch [--seconds N] [--flood] [--watch] [--proc DIR] [--log FILE]\n"
           "\n"
           "Watches the processors, memory, disks and network of this machine. Four threads\n"
           "read /proc, each at its own rate. Their samples go through Sluice's bus to one\n"
           "consumer. On a terminal it draws a table; otherwise it prints a line a second.\n"
           "Samples have low priority, values computed from them medium, and alarms high. An\n"
           "alarm begins at 90 % in use (processors, memory, a disk) and ends below 80 %. At\n"
           "the end it prints an account of all messages.\n"
           "\n"
           "  --seconds N  run for N seconds, 1 to 86400 (default 10); Ctrl-C ends it earlier\n"
           "  --flood      publish samples as fast as possible, more than the bus accepts, and\n"
           "               a drill alarm every 10 ms, to show that alarms still get through\n"
           "  --watch      print the address of a page that shows the bus while it runs, and run\n"
           "               until Ctrl-C unless --seconds says how long\n"
           "  --proc DIR   read DIR instead of /proc\n"
           "  --log FILE   write events to FILE: the start, alarms, changes of the pressure on\n"
           "               the bus, files that cannot be read, and the accounts\n"
           "  --help       print this text\n"
           "\n"
           "exit status: 0 if all messages are accounted for; 1 if not, or if the output cannot\n"
           "be written; 2 for a wrong argument\n";
}

}  // namespace hostwatch
