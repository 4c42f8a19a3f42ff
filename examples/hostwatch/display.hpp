#pragma once

#include "table.hpp"
#include "terminal.hpp"

#include <array>
#include <cstdio>
#include <memory>

namespace hostwatch {

/// Shows the figures as often as it likes.
class Display {
public:
    virtual ~Display() = default;

    virtual Clock::duration period() const = 0;
    virtual void show(const View& view) = 0;
};

/// A table, redrawn in place.
class TableDisplay final : public Display {
public:
    explicit TableDisplay(std::FILE* out) : terminal_(out) {}

    Clock::duration period() const override { return std::chrono::milliseconds(250); }
    void show(const View& view) override;

private:
    Terminal terminal_;
};

/// A line a second, and one for each file that cannot be read or understood.
class LineDisplay final : public Display {
public:
    LineDisplay(std::FILE* out, std::FILE* problems) : out_(out), problems_(problems) {}

    Clock::duration period() const override { return std::chrono::seconds(1); }
    void show(const View& view) override;

private:
    std::FILE* out_;
    std::FILE* problems_;
    std::array<bool, sourceCount> problemShown_{};
};

/// The table when `out` is a terminal, lines otherwise.
std::unique_ptr<Display> makeDisplay(std::FILE* out, std::FILE* problems);

}  // namespace hostwatch
