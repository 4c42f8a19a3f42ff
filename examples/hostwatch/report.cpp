#include "report.hpp"

#include "readers.hpp"
#include "units.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace hostwatch {
namespace {

template <class... Arguments>
void append(std::string& text, const char* format, const Arguments&... arguments) {
    std::array<char, 256> line{};
    std::snprintf(line.data(), line.size(), format, arguments...);
    text += line.data();
}

void appendCounts(std::string& text, const char* name, const sluice::MessageCounts& counts) {
    append(text, "%-15s %15s %15s %15s %15s\n", name, formatCount(counts.attempted()).c_str(),
           formatCount(counts.published).c_str(), formatCount(counts.rejected()).c_str(),
           formatCount(counts.delivered).c_str());
}

void appendMessages(std::string& text, const Statistics& statistics) {
    append(text, "\n%-15s %15s %15s %15s %15s\n", "messages", "attempted", "accepted", "rejected",
           "delivered");
    for (std::size_t type = 0; type < MessageTypes::count; ++type) {
        appendCounts(text, typeNames[type], statistics.ofType(type));
    }
    for (const Priority priority : allPriorities) {
        const std::string name = std::string("all ") + sluice::toString(priority);
        appendCounts(text, name.c_str(), statistics.ofPriority(priority));
    }
    appendCounts(text, "all", statistics.total());
}

void appendDelays(std::string& text, const Deliveries& deliveries) {
    append(text, "\n%-15s %15s %15s %15s\n", "wait", "P50", "P99", "max");
    for (const Priority priority : allPriorities) {
        const DelayHistogram& delays = deliveries.delays(priority);
        append(text, "%-15s %15s %15s %15s\n", sluice::toString(priority),
               formatPercentile(delays, 50).c_str(), formatPercentile(delays, 99).c_str(),
               formatPercentile(delays, 100).c_str());
    }
    text += "from publishing to handling; P50 and P99 at most 3.2 % too large, max exact\n";
}

/// The delay that the bus causes. The time until the consumer gets a processor is not part of it.
void appendOvertaken(std::string& text, const Deliveries& deliveries) {
    const Overtaken& overtaken = deliveries.overtaken();
    append(text, "\n%-15s %15s %15s %15s\n", "waited for", "0 or 1 other", "more", "at most");
    append(text, "%-15s %15s %15s %15s\n", "alarms", formatCount(overtaken.byOneAtMost).c_str(),
           formatCount(overtaken.byMore).c_str(), formatCount(overtaken.most).c_str());
    append(text,
           "other messages whose handling began after the publication of the alarm had\n"
           "returned, and before its own; counted up to %s\n",
           formatCount(Deliveries::remembered).c_str());
}

void appendReadings(std::string& text, Source source, const ReadingAccount::Readings& readings) {
    append(text, "%-15s %15s %15s\n", fileOf(source), formatCount(readings.total).c_str(),
           formatCount(readings.faulty).c_str());
    if (readings.faulty != 0) {
        text += "first: " + readings.firstProblem + '\n';
    }
}

}  // namespace

bool accountsAddUp(const Outcome& outcome) {
    // By priority: the bus learns the type of an accepted message when the message leaves.
    for (const Priority priority : allPriorities) {
        std::uint64_t attempted = 0;
        for (std::size_t type = 0; type < MessageTypes::count; ++type) {
            attempted += outcome.attempts[type][indexOf(priority)];
            if (outcome.deliveries.counts()[type][indexOf(priority)] !=
                outcome.statistics.of(type, priority).delivered) {
                return false;
            }
        }
        if (attempted != outcome.statistics.ofPriority(priority).attempted()) {
            return false;
        }
    }
    return outcome.statistics.total().queued() == outcome.stillQueued;
}

std::string report(const Outcome& outcome) {
    std::string text;
    appendMessages(text, outcome.statistics);
    appendDelays(text, outcome.deliveries);
    appendOvertaken(text, outcome.deliveries);
    append(text, "\n%-15s %15s %15s\n", "file", "readings", "faulty");
    for (const Source source : allSources) {
        appendReadings(text, source, outcome.accounts[indexOf(source)].reading.readings());
    }
    if (outcome.samplesLeftOut != 0) {
        text += formatCount(outcome.samplesLeftOut) +
                " samples were of more devices than the table has places for\n";
    }
    const sluice::MessageCounts total = outcome.statistics.total();
    text += "\nfor each priority, as counted by the bus and by those who use it:\n"
            "attempted = accepted + rejected\naccepted = delivered + " +
            formatCount(total.dropped) + " dropped + " + formatCount(outcome.stillQueued) +
            " still queued\n" +
            (accountsAddUp(outcome) ? "the accounts add up\n" : "THE ACCOUNTS DO NOT ADD UP\n");
    return text;
}

}  // namespace hostwatch
