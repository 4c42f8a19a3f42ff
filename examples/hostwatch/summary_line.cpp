#include "table.hpp"
#include "units.hpp"

#include <algorithm>
#include <string_view>

namespace hostwatch {
namespace {

/// " | cpu  12.3 %": the newest value right-aligned, or a dash when there is none.
std::string cell(std::string_view name, const RollingFigure& figure, Clock::time_point now,
                 std::string (*format)(double), std::size_t width) {
    const auto summary = figure.summary(now);
    return std::string(" | ").append(name) + right(summary ? format(summary->last) : "-", width);
}

/// The same of the busiest device, or nothing when none is heard of.
std::string busiestCell(const LoadFigures& load, Clock::time_point now,
                        std::string (*format)(double), std::size_t width) {
    constexpr std::size_t nameWidth = 7;
    return load.max.summary(now)
               ? cell(left(load.busiest.view(), nameWidth), load.max, now, format, width)
               : "";
}

}  // namespace

std::string activeAlarms(const Figures& figures) {
    std::string text;
    for (const Source source : allSources) {
        if (const auto& alarm = figures.alarm(source)) {
            text += text.empty() ? "" : ", ";
            text += sourceNames[indexOf(source)];
            text += alarm->device.empty() ? "" : " ";
            text += alarm->device.view();
        }
    }
    return text;
}

std::string summaryLine(const View& view) {
    constexpr std::size_t percentWidth = 8;
    constexpr std::size_t rateWidth = 10;
    const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(view.elapsed);
    const Figures& figures = view.figures;
    const std::string alarms = activeAlarms(figures);
    return right(std::to_string(elapsed.count()), 5) + " s" +
           cell("cpu", figures.load(Source::cpu).mean, view.now, formatPercent, percentWidth) +
           cell("mem", figures.load(Source::memory).mean, view.now, formatPercent, percentWidth) +
           busiestCell(figures.load(Source::disk), view.now, formatPercent, percentWidth) +
           busiestCell(figures.load(Source::network), view.now, formatRate, rateWidth) +
           " | rejected " + formatCount(view.statistics.total().rejected()) +
           (alarms.empty() ? "" : " | ALARM " + alarms);
}

}  // namespace hostwatch
