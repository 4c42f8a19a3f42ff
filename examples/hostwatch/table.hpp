#pragma once

#include "accounts.hpp"
#include "figures.hpp"
#include "samples.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace hostwatch {

/// The data that the table shows at one moment.
struct View {
    const Figures& figures;
    const Accounts& accounts;
    const Statistics& statistics;
    const Deliveries& deliveries;
    Clock::time_point now;
    Clock::duration elapsed;
    int seconds;
    bool flood;
};

/// One line of the table, without any terminal code.
struct Line {
    enum class Style { plain, title, heading, warning };

    std::string text;
    Style style = Style::plain;
    std::size_t bold = 0;  ///< this many characters of a plain line stand out
};

/// No line of the table is wider.
inline constexpr std::size_t tableWidth = 79;

/// The whole table. Shows as many cores, disks and interfaces as fit into `mostLines`, the busiest
/// ones, in their usual order; "+2" below a heading says that two more are not shown. Blank lines
/// between the sections come last: only when there is room for all of them.
std::vector<Line> buildTable(const View& view, std::size_t mostLines);

/// The same moment in one line: processors, memory, busiest disk, busiest interface, losses,
/// alarms. It knows the aggregates and alarms alone, which get through when samples do not.
std::string summaryLine(const View& view);

/// "cpu, disk sda": the alarms that are on; empty when none is.
std::string activeAlarms(const Figures& figures);

}  // namespace hostwatch
