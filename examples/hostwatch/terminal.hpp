#pragma once

#include "table.hpp"

#include <cstddef>
#include <cstdio>
#include <vector>

namespace hostwatch {

/// Redraws lines in place on a terminal, without flicker: each frame is one write, and old text is
/// overwritten instead of erased first. Hides the cursor and gives it back when destroyed.
class Terminal {
public:
    struct Size {
        std::size_t columns;
        std::size_t rows;
    };

    /// Whether `file` is a terminal that understands cursor movement.
    static bool isUsable(std::FILE* file);

    explicit Terminal(std::FILE* file);
    ~Terminal();

    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    /// The size at this moment; 80 x 24 when the terminal does not tell.
    Size size() const;

    /// Replaces the frame before by `lines`. Text that does not fit into `size` is cut off.
    void draw(const std::vector<Line>& lines, Size size);

private:
    std::FILE* file_;
    Size drawnSize_{0, 0};
    std::size_t drawnLines_ = 0;
};

}  // namespace hostwatch
