// The scenarios that measure queues, and the queues that take part.

#include "scenarios/queue_matrix.hpp"

#include "adapters/queue_subjects.hpp"
#include "faulty_queue.hpp"
#include "harness/report/control_group.hpp"
#include "harness/report/report_json.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>

namespace sluice::bench {
namespace {

// Of a machine with two packages of two cores.
std::vector<Scenario> matrix(bool quick = false, bool unpinned = false) {
    std::vector<CpuPlace> places(4);
    for (int cpu = 0; cpu < 4; ++cpu) {
        CpuPlace& place = places[std::size_t(cpu)];
        place.cpu = place.core = cpu;
        place.package = place.l3 = cpu / 2;
    }
    return queueScenarios(quick, unpinned, places);
}

TEST(QueueMatrixTest, GivesNoTwoScenariosOneName) {
    for (const bool quick : {false, true}) {
        std::set<std::string> names;
        for (const Scenario& scenario : matrix(quick)) {
            EXPECT_TRUE(names.insert(scenario.name).second) << scenario.name;
        }
    }
}

// A filter for one figure of the control group selects the other two as well.
TEST(ControlGroupTest, RunsAsAWholeOrNotAtAll) {
    const std::vector<Scenario> all = matrix();
    const auto kindsAskedFor = [&all](const char* filter) {
        std::set<Kind> kinds;
        for (const Scenario& scenario : all) {
            if (scenario.section == controlGroup && isAskedFor(scenario, all, std::regex{filter})) {
                kinds.insert(scenario.kind);
            }
        }
        return kinds;
    };
    const std::set<Kind> whole = {Kind::rawEnqueue, Kind::overflow, Kind::throughput};
    for (const char* const filter : {"", "control-raw", "overflow", "consumer"}) {
        EXPECT_EQ(kindsAskedFor(filter), whole) << filter;
    }
    EXPECT_TRUE(kindsAskedFor("^spsc").empty());
}

std::vector<Subject> takingPartIn(const std::string& scenario, const QueueSubjects& subjects) {
    const std::vector<Scenario> all = matrix();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Scenario& each) { return each.name == scenario; });
    std::vector<Subject> parts;
    for (const QueueSubject& subject : subjects) {
        if (found != all.end() && takesPart(*found, subject.info)) {
            parts.push_back(subject.info);
        }
    }
    return parts;
}

// The same queue with and without padding, both measured in the same scenario.
TEST(QueueSubjectsTest, HaveAQueueWithAndWithoutPadding) {
    QueueSubjects subjects;
    addSpscRing(subjects);
    for (const char* const scenario : {"spsc-8B", "spsc-64B"}) {
        std::set<std::string> ids;
        for (const Subject& subject : takingPartIn(scenario, subjects)) {
            ids.insert(subject.id);
        }
        EXPECT_EQ(ids.count("sluice/SpscRing"), 1U);
        EXPECT_EQ(ids.count("sluice/SpscRing" + unpaddedMark), 1U);
    }
    for (const QueueSubject& subject : subjects) {
        const Round round = onAThread([&] { return subject.runs.throughput64(smallPlan(1)); });
        EXPECT_EQ(round.error, "") << subject.info.id;
    }
    EXPECT_TRUE(takingPartIn("mpsc-64B-1p", subjects).empty());
}

std::set<std::string> distancesIn(const std::vector<Scenario>& scenarios) {
    std::set<std::string> names;
    for (const Scenario& scenario : scenarios) {
        if (scenario.section == distanceSection) {
            EXPECT_EQ(scenario.cpus, (std::vector<int>{0, 2})) << scenario.name;
            names.insert(scenario.name);
        }
    }
    return names;
}

// The distances that the machine has besides that of the main pair.
TEST(QueueMatrixTest, HasTheOtherDistances) {
    const std::set<std::string> expected = {"spsc-64B-other-package", "mpsc-64B-1p-other-package"};
    EXPECT_EQ(distancesIn(matrix()), expected);
}

}  // namespace
}  // namespace sluice::bench
