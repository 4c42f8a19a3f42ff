#include "proc_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <system_error>

namespace hostwatch {
namespace {

constexpr std::string_view blanks = " \t";

/// Takes words off the front of a line.
class Words {
public:
    explicit Words(std::string_view line) noexcept : rest_(line) {}

    /// The next word; empty at the end of the line.
    std::string_view next() noexcept {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size()));
        const std::string_view word = rest_.substr(0, rest_.find_first_of(blanks));
        rest_.remove_prefix(word.size());
        return word;
    }

    /// Fills `out` with the numbers that follow and returns how many there were before the end of
    /// the line; 0 when one of the words is not a number.
    template <std::size_t N>
    std::size_t numbers(std::array<std::uint64_t, N>& out) noexcept {
        std::size_t count = 0;
        for (std::string_view word; count < N && !(word = next()).empty(); ++count) {
            const std::optional<std::uint64_t> number = toNumber(word);
            if (!number) {
                return 0;
            }
            out[count] = *number;
        }
        return count;
    }

private:
    std::string_view rest_;
};

/// Calls `parseLine(line)` for each line and turns the first refusal into a problem.
/// `parseLine` returns false for a line it does not understand.
template <class ParseLine>
Problem forEachLine(std::string_view text, const char* expected, ParseLine&& parseLine) {
    Problem problem;
    std::size_t lineNumber = 0;
    while (!text.empty()) {
        ++lineNumber;
        const std::size_t end = text.find('\n');
        const bool complete = end != std::string_view::npos;
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(complete ? end + 1 : text.size());
        if ((!complete || !parseLine(line)) && !problem) {
            problem.text = "line " + std::to_string(lineNumber) + ": " +
                           (complete ? expected : "cut short (no newline at the end)");
        }
    }
    return problem;
}

/// Keeps terminals safe: a byte that is not visible ASCII becomes a question mark.
DeviceName toDeviceName(std::string_view word) noexcept {
    DeviceName name;
    for (const char c : word) {
        const char visible = c > ' ' && c <= '~' ? c : '?';
        if (!name.append(std::string_view(&visible, 1))) {
            break;
        }
    }
    return name;
}

/// The sum, or nothing when it does not fit.
template <class... Numbers>
std::optional<std::uint64_t> checkedSum(std::uint64_t sum, Numbers... numbers) noexcept {
    const bool fits =
        ((numbers <= std::numeric_limits<std::uint64_t>::max() - sum && (sum += numbers, true)) &&
         ...);
    return fits ? std::optional<std::uint64_t>(sum) : std::nullopt;
}

/// "cpu" is the line of all cores together, "cpu7" that of core 7.
std::optional<int> coreOf(std::string_view word) noexcept {
    constexpr std::uint64_t mostCores = 65536;
    word.remove_prefix(std::string_view("cpu").size());
    if (word.empty()) {
        return CpuCounters::allCores;
    }
    const std::optional<std::uint64_t> core = toNumber(word);
    return core && *core < mostCores ? std::optional<int>(static_cast<int>(*core)) : std::nullopt;
}

bool parseCpuLine(std::string_view line, std::vector<CpuCounters>& out) {
    enum { user, nice, system, idle, ioWait, irq, softIrq, steal, columns };
    constexpr std::size_t oldestKernel = 4;  // user, nice, system, idle: the rest came later
    if (line.substr(0, 3) != "cpu") {
        return true;  // interrupts, context switches and so on: not ours
    }
    Words words(line);
    const std::optional<int> core = coreOf(words.next());
    std::array<std::uint64_t, columns> ticks{};
    if (!core || words.numbers(ticks) < oldestKernel) {
        return false;
    }
    const auto busySum = checkedSum(ticks[user], ticks[nice], ticks[system], ticks[irq],
                                    ticks[softIrq], ticks[steal]);
    const auto idleSum = checkedSum(ticks[idle], ticks[ioWait]);
    if (!busySum || !idleSum) {
        return false;
    }
    out.push_back({*core, *busySum, *idleSum});
    return true;
}

bool parseDiskLine(std::string_view line, std::vector<DiskCounters>& out) {
    enum {
        reads,
        merged,
        sectorsRead,
        readTime,
        writes,
        writesMerged,
        sectorsWritten,
        writeTime,
        inFlight,
        busyTime,
        columns
    };
    Words words(line);
    const bool hasNumbers = toNumber(words.next()) && toNumber(words.next());  // major and minor
    const std::string_view name = words.next();
    std::array<std::uint64_t, columns> counters{};
    if (!hasNumbers || name.empty() || words.numbers(counters) < columns) {
        return false;
    }
    const bool neverUsed = counters[reads] == 0 && counters[writes] == 0;
    const bool partition = std::any_of(out.begin(), out.end(), [name](const DiskCounters& disk) {
        return isPartitionOf(name, disk.name.view());
    });
    if (!neverUsed && !partition) {
        out.push_back({toDeviceName(name), counters[sectorsRead], counters[sectorsWritten],
                       counters[busyTime]});
    }
    return true;
}

bool parseNetworkLine(std::string_view line, std::vector<NetworkCounters>& out) {
    enum { received = 0, sent = 8, columns = 16 };
    const std::size_t colon = line.find(':');  // cannot occur in a name; may touch the first number
    if (colon == std::string_view::npos) {
        return false;
    }
    const std::string_view name = Words(line.substr(0, colon)).next();
    std::array<std::uint64_t, columns> counters{};
    if (name.empty() || Words(line.substr(colon + 1)).numbers(counters) < columns) {
        return false;
    }
    if (counters[received] != 0 || counters[sent] != 0) {
        out.push_back({toDeviceName(name), counters[received], counters[sent]});
    }
    return true;
}

}  // namespace

std::optional<std::uint64_t> toNumber(std::string_view word) noexcept {
    std::uint64_t number = 0;
    const char* const end = word.data() + word.size();
    const auto [stopped, error] = std::from_chars(word.data(), end, number);
    return error == std::errc() && stopped == end ? std::optional<std::uint64_t>(number)
                                                  : std::nullopt;
}

bool isPartitionOf(std::string_view name, std::string_view disk) noexcept {
    const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
    if (disk.empty() || name.size() <= disk.size() || name.substr(0, disk.size()) != disk) {
        return false;
    }
    std::string_view suffix = name.substr(disk.size());
    if (isDigit(disk.back())) {  // the kernel then puts a p in between
        if (suffix.front() != 'p') {
            return false;
        }
        suffix.remove_prefix(1);
    }
    return !suffix.empty() && std::all_of(suffix.begin(), suffix.end(), isDigit);
}

Problem parseCpu(std::string_view text, std::vector<CpuCounters>& out) {
    Problem problem = forEachLine(text, "expected a core and at least 4 numbers",
                                  [&](std::string_view line) { return parseCpuLine(line, out); });
    const bool hasTotal = std::any_of(out.begin(), out.end(), [](const CpuCounters& cpu) {
        return cpu.core == CpuCounters::allCores;
    });
    if (!problem && !hasTotal) {
        problem.text = "no line of all cores together";
    }
    return problem;
}

Problem parseMemory(std::string_view text, MemoryState& out) {
    struct Wanted {
        std::string_view key;
        std::uint64_t MemoryState::*field;
        bool required;
    };
    constexpr std::array<Wanted, 5> wanted{{{"MemTotal:", &MemoryState::total, true},
                                            {"MemAvailable:", &MemoryState::available, true},
                                            {"Cached:", &MemoryState::cached, false},
                                            {"SwapTotal:", &MemoryState::swapTotal, false},
                                            {"SwapFree:", &MemoryState::swapFree, false}}};
    constexpr std::uint64_t bytesPerKib = 1024;
    constexpr std::uint64_t mostKib = std::numeric_limits<std::uint64_t>::max() / bytesPerKib;

    MemoryState state;
    std::array<bool, wanted.size()> seen{};
    Problem problem = forEachLine(text, "expected a number of kB", [&](std::string_view line) {
        Words words(line);
        const std::string_view key = words.next();
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            if (key == wanted[i].key) {
                const std::optional<std::uint64_t> kib = toNumber(words.next());
                if (!kib || *kib > mostKib || words.next() != "kB") {
                    return false;
                }
                state.*wanted[i].field = *kib * bytesPerKib;
                seen[i] = true;
            }
        }
        return true;
    });
    for (std::size_t i = 0; i < wanted.size() && !problem; ++i) {
        if (wanted[i].required && !seen[i]) {
            problem.text = "no line that starts with " + std::string(wanted[i].key);
        }
    }
    if (!problem && (state.available > state.total || state.swapFree > state.swapTotal)) {
        problem.text = "more memory free than there is";
    }
    if (!problem) {
        out = state;
    }
    return problem;
}

Problem parseDisks(std::string_view text, std::vector<DiskCounters>& out) {
    return forEachLine(text, "expected two numbers, a name and at least 10 numbers",
                       [&](std::string_view line) { return parseDiskLine(line, out); });
}

Problem parseNetwork(std::string_view text, std::vector<NetworkCounters>& out) {
    constexpr std::size_t headingLines = 2;
    std::size_t lines = 0;
    Problem problem =
        forEachLine(text, "expected a name, a colon and 16 numbers", [&](std::string_view line) {
            const bool heading = lines++ < headingLines;
            return heading ? line.find('|') != std::string_view::npos : parseNetworkLine(line, out);
        });
    if (!problem && lines < headingLines) {
        problem.text = "the two heading lines are missing";
    }
    // The loopback interface comes first in the file and last in interest.
    std::stable_partition(out.begin(), out.end(), [](const NetworkCounters& interface) {
        return interface.name.view() != "lo";
    });
    return problem;
}

}  // namespace hostwatch
