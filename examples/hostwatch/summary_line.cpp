#include "table.hpp"
#include "units.hpp"

#include <algorithm>
#include <cstdint>

namespace hostwatch {
namespace {

/// The newest value, or a dash when there is none.
std::string lastCell(const RollingFigure& figure, Clock::time_point now,
                     std::string (*format)(double)) {
    const auto summary = figure.summary(now);
    return summary ? format(summary->last) : "-";
}

/// " name rate" of the busiest entry at this moment, or nothing when there is none.
template <class Entry, class RateOf>
std::string busiestNow(const Figures::Entries<Entry>& entries, RateOf rateOf) {
    const auto busiest =
        std::max_element(entries.begin(), entries.end(),
                         [&](const Entry& a, const Entry& b) { return rateOf(a) < rateOf(b); });
    if (busiest == entries.end()) {
        return "";
    }
    constexpr std::size_t nameWidth = 7;
    constexpr std::size_t rateWidth = 10;
    return " | " + left(busiest->id.view(), nameWidth) +
           right(formatRate(rateOf(*busiest)), rateWidth);
}

}  // namespace

std::string summaryLine(const View& view) {
    const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(view.elapsed);
    const auto now = view.now;
    std::uint64_t rejected = 0;
    for (const Account& account : view.accounts) {
        rejected += account.counts().rejected;
    }
    return right(std::to_string(elapsed.count()), 5) + " s | cpu" +
           right(lastCell(view.figures.allCores(), now, formatPercent), 8) + " | mem" +
           right(lastCell(view.figures.memoryUsed(), now, formatBytes), 9) +
           busiestNow(view.figures.disks(),
                      [now](const DiskFigures& disk) {
                          return disk.readBytesPerSecond.lastOrZero(now) +
                                 disk.writtenBytesPerSecond.lastOrZero(now);
                      }) +
           busiestNow(view.figures.interfaces(),
                      [now](const NetworkFigures& interface) {
                          return interface.receivedBytesPerSecond.lastOrZero(now) +
                                 interface.sentBytesPerSecond.lastOrZero(now);
                      }) +
           " | rejected " + formatCount(rejected);
}

}  // namespace hostwatch
