#include "harness/run/child.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>

namespace sluice::bench {

namespace {

constexpr unsigned patienceSeconds = 60;

struct Answer {
    double value;
    Counts counts;
};

// Runs in the child.
[[noreturn]] void answer(int pipe, const std::function<void(Round&)>& measure) {
    alarm(patienceSeconds);
    Round round;
    measure(round);
    const Answer answer{round.ns, round.counts};
    const ssize_t written = write(pipe, &answer, sizeof answer);
    _exit(written == ssize_t{sizeof answer} ? 0 : 1);
}

}  // namespace

Round inChild(const std::function<void(Round&)>& measure) {
    Round round;
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) {
        round.error = "no pipe to be had";
        return round;
    }
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        answer(ends[1], measure);
    }
    close(ends[1]);
    Answer answer{};
    const bool told = child > 0 && read(ends[0], &answer, sizeof answer) == ssize_t{sizeof answer};
    close(ends[0]);
    int status = 0;
    if (child > 0) {
        waitpid(child, &status, 0);
    }
    round.ns = answer.value;
    round.counts = answer.counts;
    round.error = told ? complaint(round.counts, false) : "the child process did not answer";
    return round;
}

double residentMiB() {
    std::ifstream file("/proc/self/statm");
    double pages = -1;
    double resident = -1;
    constexpr double mebi = 1024.0 * 1024.0;
    return file >> pages >> resident ? resident * double(sysconf(_SC_PAGESIZE)) / mebi : -1;
}

}  // namespace sluice::bench
