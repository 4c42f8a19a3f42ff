#include "harness/report/progress_line.hpp"

#include <unistd.h>

#include <cstdio>

namespace sluice::bench {

namespace {

constexpr Nanoseconds second = 1000000000;

}  // namespace

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) == 1) {
}

void ProgressLine::begin(const std::string& step) {
    step_ = step;
    beganAt_ = now();
    shownAt_ = terminal_ ? 0 : beganAt_;
    if (!terminal_) {
        std::fprintf(stderr, "%s ...\n", step.c_str());
    }
}

void ProgressLine::show(std::size_t done, std::size_t all) {
    const Nanoseconds time = now();
    if (time - shownAt_ < (terminal_ ? second / 5 : 10 * second)) {
        return;
    }
    shownAt_ = time;
    const double spent = double(time - beganAt_) / double(second);
    const double left = done == 0 ? 0 : spent / double(done) * double(all - done);
    std::fprintf(stderr, "%s%s: run %zu of %zu, about %.0f s left%s", terminal_ ? "\r\033[K" : "",
                 step_.c_str(), done + 1, all, left, terminal_ ? "" : "\n");
}

void ProgressLine::end() const {
    if (terminal_) {
        std::fprintf(stderr, "\r\033[K");
    }
}

}  // namespace sluice::bench
