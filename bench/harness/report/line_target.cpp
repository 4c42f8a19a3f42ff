#include "harness/report/line_target.hpp"

#include "harness/report/text.hpp"

namespace sluice::bench {

std::vector<Verdict> judgeByLine(const std::vector<LineTarget>& targets,
                                 const std::vector<Result>& results, const MachineRecord& machine) {
    std::vector<Verdict> verdicts;
    if (machine.clockNs < 0 || machine.lineOneWay.median <= 0) {
        return verdicts;
    }
    const auto inLines = [&machine](double ns) {
        return (ns - machine.clockNs) / machine.lineOneWay.median;
    };
    for (const LineTarget& target : targets) {
        for (const Result& result : results) {
            if (result.scenario.name == target.scenario && result.subject == target.subject &&
                !isInvalid(result)) {
                const Interval interval = medianInterval(result.series.roundNs);
                const std::string baseline =
                    format("a cache line one way (%.1f ns), the clock's %.1f ns subtracted",
                           machine.lineOneWay.median, machine.clockNs);
                verdicts.push_back({{target.scenario, target.subject, baseline, target.atMost},
                                    inLines(result.stats.median),
                                    {inLines(interval.low), inLines(interval.high)},
                                    "ratio"});
            }
        }
    }
    return verdicts;
}

}  // namespace sluice::bench
