#include "terminal.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace hostwatch {
namespace {

constexpr const char* hideCursor = "\x1b[?25l";
constexpr const char* showCursor = "\x1b[?25h";
constexpr const char* stopWrapping = "\x1b[?7l";
constexpr const char* startWrapping = "\x1b[?7h";
constexpr const char* clearScreen = "\x1b[H\x1b[2J";
constexpr const char* clearToEndOfLine = "\x1b[K";
constexpr const char* clearBelow = "\x1b[J";
constexpr const char* normal = "\x1b[0m";

const char* codeOf(Line::Style style) {
    switch (style) {
    case Line::Style::title:
        return "\x1b[7m";  // reversed
    case Line::Style::heading:
        return "\x1b[1m";  // bold
    case Line::Style::warning:
        return "\x1b[33m";  // yellow
    case Line::Style::plain:
        break;
    }
    return "";
}

/// The line cut to `columns`, with the codes of its style.
std::string styled(const Line& line, std::size_t columns) {
    const std::string_view text = std::string_view(line.text).substr(0, columns);
    if (line.style != Line::Style::plain) {
        return std::string(codeOf(line.style)).append(text).append(normal);
    }
    const std::size_t bold = std::min(line.bold, text.size());
    return std::string(codeOf(Line::Style::heading))
        .append(text.substr(0, bold))
        .append(normal)
        .append(text.substr(bold));
}

void write(std::FILE* file, std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), file);
    std::fflush(file);
}

}  // namespace

bool Terminal::isUsable(std::FILE* file) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): called before the program starts its threads
    const char* const type = std::getenv("TERM");
    return ::isatty(::fileno(file)) == 1 && type != nullptr && *type != '\0' &&
           std::string_view(type) != "dumb";
}

Terminal::Terminal(std::FILE* file) : file_(file) {
    write(file_, std::string(hideCursor) + stopWrapping);
}

Terminal::~Terminal() {
    write(file_, std::string(normal) + startWrapping + showCursor);
}

Terminal::Size Terminal::size() const {
    winsize window{};
    if (::ioctl(::fileno(file_), TIOCGWINSZ, &window) != 0 || window.ws_col == 0 ||
        window.ws_row == 0) {
        return {80, 24};
    }
    return {window.ws_col, window.ws_row};
}

void Terminal::draw(const std::vector<Line>& lines, Size size) {
    std::string frame;
    const bool resized = size.columns != drawnSize_.columns || size.rows != drawnSize_.rows;
    if (drawnLines_ != 0 && resized) {
        frame += clearScreen;  // the terminal has moved the old lines, nobody knows where to
    } else if (drawnLines_ != 0) {
        frame += "\x1b[" + std::to_string(drawnLines_) + 'A';  // up to the first line
    }
    const std::size_t count = std::min(lines.size(), size.rows - 1);  // the cursor needs a row
    for (std::size_t i = 0; i < count; ++i) {
        frame += styled(lines[i], size.columns);
        frame += clearToEndOfLine;
        frame += "\r\n";
    }
    frame += clearBelow;
    write(file_, frame);
    drawnLines_ = count;
    drawnSize_ = size;
}

}  // namespace hostwatch
