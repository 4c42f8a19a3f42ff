#include "harness/machine/cpu_share.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace sluice::bench {

namespace {

double seconds(const timeval& time) {
    return double(time.tv_sec) + 1e-6 * double(time.tv_usec);
}

}  // namespace

CpuShare::CpuShare() : start_(read()) {
}

CpuShare::Times CpuShare::read() {
    Times times;
    for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage usage{};
        getrusage(who, &usage);
        times.own += seconds(usage.ru_utime) + seconds(usage.ru_stime);
    }
    std::ifstream file("/proc/stat");
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softIrq = 0, steal = 0;
    if (file >> name >> user >> nice >> system >> idle >> wait >> irq >> softIrq >> steal) {
        const double tick = 1.0 / double(sysconf(_SC_CLK_TCK));
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
