#include "harness/machine/cpu_share.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace sluice::bench {

namespace {

double secondsInTick() {
    return 1.0 / double(sysconf(_SC_CLK_TCK));
}

/// The ticks of the process in this folder of /proc, if it is in the group. 0 if it has ended.
double ticksOf(const std::filesystem::path& folder, pid_t group) {
    std::ifstream file(folder / "stat");
    std::string line;
    std::getline(file, line);
    // The name is in brackets and may contain any character.
    std::istringstream fields(line.substr(std::min(line.rfind(')') + 1, line.size())));
    std::string state;
    pid_t parent = 0;
    pid_t ofGroup = 0;
    std::string skipped;
    double user = 0, system = 0, childrenUser = 0, childrenSystem = 0;
    fields >> state >> parent >> ofGroup;
    for (int i = 6; i < 14; ++i) {
        fields >> skipped;
    }
    fields >> user >> system >> childrenUser >> childrenSystem;
    return fields && ofGroup == group ? user + system + childrenUser + childrenSystem : 0;
}

}  // namespace

double secondsOfGroup() {
    double ticks = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        const char first = entry.path().filename().string().front();
        if (first >= '0' && first <= '9') {
            ticks += ticksOf(entry.path(), getpgrp());
        }
    }
    return ticks * secondsInTick();
}

CpuShare::CpuShare() : start_(read()) {
}

CpuShare::Times CpuShare::read() {
    Times times;
    times.own = secondsOfGroup();
    std::ifstream file("/proc/stat");
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softIrq = 0, steal = 0;
    if (file >> name >> user >> nice >> system >> idle >> wait >> irq >> softIrq >> steal) {
        const double tick = secondsInTick();
        times.busy = tick * (user + nice + system + irq + softIrq);
        times.stolen = tick * steal;
        times.all = times.busy + times.stolen + tick * (idle + wait);
    }
    return times;
}

double CpuShare::others() const {
    const Times end = read();
    if (start_.all < 0 || end.all <= start_.all) {
        return -1;
    }
    const double busy = end.busy - start_.busy;
    return std::max(0.0, busy - (end.own - start_.own)) / (end.all - start_.all);
}

double CpuShare::stolen() const {
    const Times end = read();
    if (start_.all < 0 || end.all <= start_.all) {
        return -1;
    }
    return (end.stolen - start_.stolen) / (end.all - start_.all);
}

}  // namespace sluice::bench
