#include "harness/report/scaling.hpp"

#include <algorithm>
#include <iomanip>

namespace sluice::bench {

namespace {

const Result* find(const std::vector<Result>& results, const std::string& scenario,
                   const std::string& subject) {
    const auto found = std::find_if(results.begin(), results.end(), [&](const Result& result) {
        return result.scenario.name == scenario && result.subject == subject && !isInvalid(result);
    });
    return found != results.end() ? &*found : nullptr;
}

void printRow(std::ostream& out, const Result& one, const Result& two) {
    out << "  " << std::left << std::setw(38) << one.subject << std::right << std::fixed
        << std::setprecision(2) << std::setw(11) << one.stats.median << std::setw(13)
        << two.stats.median << std::setw(15) << one.stats.median / two.stats.median << '\n';
}

void printPair(std::ostream& out, const std::vector<Result>& results, const ScalingPair& pair) {
    bool isFirst = true;
    for (const Result& two : results) {
        const Result* const one = find(results, pair.oneThread, two.subject);
        if (two.scenario.name != pair.twoThreads || isInvalid(two) || one == nullptr) {
            continue;
        }
        if (isFirst) {
            out << "scaling: " << pair.what << ", wall time\n  " << std::left << std::setw(38)
                << "subject" << std::right << std::setw(11) << "1 thread" << std::setw(13)
                << "2 threads" << std::setw(15) << "times as fast\n";
            isFirst = false;
        }
        printRow(out, *one, two);
    }
}

}  // namespace

void printScaling(std::ostream& out, const std::vector<Result>& results,
                  const std::vector<ScalingPair>& pairs) {
    for (const ScalingPair& pair : pairs) {
        printPair(out, results, pair);
    }
}

}  // namespace sluice::bench
