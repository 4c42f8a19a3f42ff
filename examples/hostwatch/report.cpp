#include "report.hpp"

#include "readers.hpp"
#include "units.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <string_view>

namespace hostwatch {
namespace {

Counts totalOf(const Accounts& accounts) {
    Counts total;
    for (const Account& account : accounts) {
        total += account.counts();
    }
    return total;
}

DelayHistogram allDelays(const Accounts& accounts) {
    DelayHistogram all;
    for (const Account& account : accounts) {
        all.merge(account.delays);
    }
    return all;
}

template <class... Arguments>
void append(std::string& text, const char* format, const Arguments&... arguments) {
    std::array<char, 256> line{};
    std::snprintf(line.data(), line.size(), format, arguments...);
    text += line.data();
}

void appendCounts(std::string& text, std::string_view name, const Counts& counts) {
    append(text, "%-9s %16s %16s %16s %16s\n", name.data(), formatCount(counts.attempted).c_str(),
           formatCount(counts.accepted).c_str(), formatCount(counts.rejected).c_str(),
           formatCount(counts.delivered).c_str());
}

void appendDelays(std::string& text, std::string_view name, const DelayHistogram& delays) {
    append(text, "%-9s %16s %16s %16s\n", name.data(), formatPercentile(delays, 50).c_str(),
           formatPercentile(delays, 99).c_str(), formatPercentile(delays, 100).c_str());
}

void appendReadings(std::string& text, Source source, const ReadingAccount::Readings& readings) {
    append(text, "%-9s %16s %16s\n", fileOf(source), formatCount(readings.total).c_str(),
           formatCount(readings.faulty).c_str());
    if (readings.faulty != 0) {
        text += "          first: " + readings.firstProblem + '\n';
    }
}

}  // namespace

bool accountsAddUp(const Outcome& outcome) {
    return totalOf(outcome.accounts).addUp(outcome.stillQueued) &&
           std::all_of(outcome.accounts.begin(), outcome.accounts.end(),
                       [](const Account& account) { return account.counts().addUp(0); });
}

std::string report(const Outcome& outcome) {
    std::string text;
    append(text, "\n%-9s %16s %16s %16s %16s\n", "messages", "attempted", "accepted", "rejected",
           "delivered");
    for (const Source source : allSources) {
        appendCounts(text, sourceNames[indexOf(source)],
                     outcome.accounts[indexOf(source)].counts());
    }
    appendCounts(text, "all", totalOf(outcome.accounts));

    append(text, "\n%-9s %16s %16s %16s\n", "wait", "P50", "P99", "max");
    for (const Source source : allSources) {
        appendDelays(text, sourceNames[indexOf(source)], outcome.accounts[indexOf(source)].delays);
    }
    appendDelays(text, "all", allDelays(outcome.accounts));
    text += "from publishing to handling; P50 and P99 at most 3.2 % too large, max exact\n";

    append(text, "\n%-9s %16s %16s\n", "file", "readings", "faulty");
    for (const Source source : allSources) {
        appendReadings(text, source, outcome.accounts[indexOf(source)].reading.readings());
    }
    if (outcome.samplesLeftOut != 0) {
        text += formatCount(outcome.samplesLeftOut) +
                " samples were of more devices than the table has places for\n";
    }
    text += "\nattempted = accepted + rejected, accepted = delivered + " +
            formatCount(outcome.stillQueued) + " still queued:\n" +
            (accountsAddUp(outcome) ? "the accounts add up\n" : "THE ACCOUNTS DO NOT ADD UP\n");
    return text;
}

}  // namespace hostwatch
