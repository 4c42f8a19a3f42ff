#include "table.hpp"

#include "ranking.hpp"
#include "units.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace hostwatch {
namespace {

constexpr std::size_t headingWidth = 9;
constexpr std::size_t labelWidth = 17;
constexpr std::size_t numberWidth = 11;
constexpr std::size_t noteWidth = 8;
constexpr std::size_t countWidth = 13;
constexpr std::size_t delayWidth = 9;
static_assert(headingWidth + labelWidth + 4 * numberWidth + 1 + noteWidth == tableWidth);
static_assert(headingWidth + 4 * countWidth + 2 * delayWidth == tableWidth);

/// Commas between thousands, as long as the column has room for them.
std::string countCell(std::uint64_t count) {
    const std::string text = formatCount(count);
    return right(text.size() < countWidth ? text : std::to_string(count), countWidth);
}

/// Collects the lines. The first row of a section carries its heading.
class Table {
public:
    Table(const View& view, std::size_t devices, bool blankLines)
        : view_(view), devices_(devices), blankLines_(blankLines) {}

    std::vector<Line> build() {
        addTitle();
        addCpu();
        endSection();
        addMemory();
        endSection();
        addDisks();
        endSection();
        addNetwork();
        endSection();
        addAlarms();
        addBlankLine();
        addMessages();
        addProblems();
        return std::move(lines_);
    }

private:
    void add(std::string text, Line::Style style = Line::Style::plain) {
        lines_.push_back({std::move(text), style, headingWidth});
    }

    void addBlankLine() {
        if (!lines_.back().text.empty()) {
            add("");
        }
    }

    void endSection() {
        if (blankLines_) {
            addBlankLine();
        }
    }

    void addRow(std::string_view heading, std::string_view label, const RollingFigure& figure,
                std::string (*format)(double), std::string_view note = "") {
        std::string text = left(heading, headingWidth) + left(label, labelWidth);
        if (const auto summary = figure.summary(view_.now)) {
            for (const double value : {summary->last, summary->min, summary->mean, summary->max}) {
                text += right(format(value), numberWidth);
            }
            text += ' ';
            text += note;
        } else {
            text += right("-", numberWidth);
        }
        add(std::move(text));
    }

    /// The second row of a section may say how many devices are not shown.
    static std::string more(std::size_t all, std::size_t shown) {
        return all > shown ? " +" + std::to_string(all - shown) : "";
    }

    void addTitle() {
        const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(view_.elapsed);
        const std::string title = view_.flood ? "hostwatch --flood" : "hostwatch";
        const std::string time =
            std::to_string(elapsed.count()) + " of " + std::to_string(view_.seconds) + " s";
        add(title + right(time, tableWidth - title.size()), Line::Style::title);
        std::string columns = left("last 10 s", headingWidth + labelWidth);
        for (const char* column : {"now", "min", "mean", "max"}) {
            columns += right(column, numberWidth);
        }
        add(std::move(columns) + " in use", Line::Style::heading);
    }

    void addCpu() {
        const RollingFigure& all = view_.figures.load(Source::cpu).mean;
        addRow("cpu", "all cores", all, formatPercent, bar(all.lastOrZero(view_.now), noteWidth));
        const auto shown = busiest(view_.figures.cores(), devices_, view_.now);
        std::string heading = more(view_.figures.cores().size(), shown.size());
        for (const CoreFigures* core : shown) {
            addRow(heading, "core " + std::to_string(core->id), core->busyPercent, formatPercent,
                   bar(core->busyPercent.lastOrZero(view_.now), noteWidth));
            heading.clear();
        }
    }

    void addMemory() {
        const MemorySample& memory = view_.figures.memory();
        const auto share = [](std::uint64_t part, std::uint64_t whole) {
            return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
        };
        const auto of = [](std::uint64_t whole) {
            return " of " + formatBytes(static_cast<double>(whole));
        };
        addRow("memory", "used" + of(memory.totalBytes), view_.figures.memoryUsed(), formatBytes,
               bar(share(memory.usedBytes, memory.totalBytes), noteWidth));
        addRow("", "cached", view_.figures.memoryCached(), formatBytes);
        if (memory.swapTotalBytes != 0) {
            addRow("", "swap" + of(memory.swapTotalBytes), view_.figures.swapUsed(), formatBytes,
                   bar(share(memory.swapUsedBytes, memory.swapTotalBytes), noteWidth));
        }
    }

    void addDisks() {
        constexpr std::size_t room = labelWidth - std::string_view(" write ").size();
        const auto shown = busiest(view_.figures.disks(), devices_, view_.now);
        std::string_view heading = "disk";
        std::string below = more(view_.figures.disks().size(), shown.size());
        for (const DiskFigures* disk : shown) {
            addRow(heading, deviceLabel(disk->id, room, "read"), disk->readBytesPerSecond,
                   formatRate, bar(disk->busyPercent.lastOrZero(view_.now), noteWidth));
            addRow(below, deviceLabel(disk->id, room, "write"), disk->writtenBytesPerSecond,
                   formatRate);
            heading = "";
            below.clear();
        }
    }

    void addNetwork() {
        constexpr std::size_t room = labelWidth - std::string_view(" out ").size();
        const auto shown = busiest(view_.figures.interfaces(), devices_, view_.now);
        std::string_view heading = "network";
        std::string below = more(view_.figures.interfaces().size(), shown.size());
        for (const NetworkFigures* one : shown) {
            addRow(heading, deviceLabel(one->id, room, "in"), one->receivedBytesPerSecond,
                   formatRate);
            addRow(below, deviceLabel(one->id, room, "out"), one->sentBytesPerSecond, formatRate);
            heading = "";
            below.clear();
        }
    }

    /// "eth0 in"; a name that is too long is cut so that the text after it stays visible.
    static std::string deviceLabel(const DeviceName& name, std::size_t room,
                                   std::string_view what) {
        const std::size_t length = std::min(room, name.size());
        return left(name.view(), length).append(" ").append(what);
    }

    /// Always there, or the table would jump.
    void addAlarms() {
        const std::string active = activeAlarms(view_.figures);
        const std::string text = left("alarms", headingWidth) + (active.empty() ? "none" : active);
        add(left(text, std::min(text.size(), tableWidth)),
            active.empty() ? Line::Style::plain : Line::Style::warning);
    }

    void addMessages() {
        std::string columns = left("messages", headingWidth);
        for (const char* column : {"attempted", "accepted", "rejected", "delivered"}) {
            columns += right(column, countWidth);
        }
        columns += right("wait P50", delayWidth) + right("P99", delayWidth);
        add(std::move(columns), Line::Style::heading);
        for (const Priority priority : allPriorities) {
            const sluice::MessageCounts counts = view_.statistics.ofPriority(priority);
            const DelayHistogram& delays = view_.deliveries.delays(priority);
            add(left(sluice::toString(priority), headingWidth) + countCell(counts.attempted()) +
                countCell(counts.published) + countCell(counts.rejected()) +
                countCell(counts.delivered) + right(formatPercentile(delays, 50), delayWidth) +
                right(formatPercentile(delays, 99), delayWidth));
        }
    }

    void addProblems() {
        for (const Account& account : view_.accounts) {
            const auto readings = account.reading.readings();
            if (readings.faulty != 0) {
                const std::string text =
                    "failed " + formatCount(readings.faulty) + " times: " + readings.firstProblem;
                add(left(text, std::min(text.size(), tableWidth)), Line::Style::warning);
            }
        }
    }

    const View& view_;
    const std::size_t devices_;  ///< of each kind that are shown
    const bool blankLines_;      ///< between the sections
    std::vector<Line> lines_;
};

}  // namespace

std::vector<Line> buildTable(const View& view, std::size_t mostLines) {
    const Figures& figures = view.figures;
    const std::size_t most =
        std::max({figures.cores().size(), figures.disks().size(), figures.interfaces().size()});
    std::vector<Line> best = Table(view, 1, false).build();
    std::size_t devices = 1;
    while (devices < most) {
        std::vector<Line> more = Table(view, devices + 1, false).build();
        if (more.size() > mostLines) {
            break;
        }
        best = std::move(more);
        ++devices;
    }
    std::vector<Line> airy = Table(view, devices, true).build();
    if (airy.size() <= mostLines) {
        best = std::move(airy);
    }
    best.resize(std::min(best.size(), mostLines));
    return best;
}

}  // namespace hostwatch
