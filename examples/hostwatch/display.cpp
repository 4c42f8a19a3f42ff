#include "display.hpp"

#include <cstddef>

namespace hostwatch {

void TableDisplay::show(const View& view) {
    const Terminal::Size size = terminal_.size();
    terminal_.draw(buildTable(view, size.rows - 1), size);
}

void LineDisplay::show(const View& view) {
    for (std::size_t i = 0; i < sourceCount; ++i) {
        const auto readings = view.accounts[i].reading.readings();
        if (readings.faulty != 0 && !problemShown_[i]) {
            problemShown_[i] = true;
            std::fprintf(problems_, "hostwatch: %s; going on\n", readings.firstProblem.c_str());
        }
    }
    std::fprintf(out_, "%s\n", summaryLine(view).c_str());
    std::fflush(out_);
}

std::unique_ptr<Display> makeDisplay(std::FILE* out, std::FILE* problems) {
    if (Terminal::isUsable(out)) {
        return std::make_unique<TableDisplay>(out);
    }
    return std::make_unique<LineDisplay>(out, problems);
}

}  // namespace hostwatch
