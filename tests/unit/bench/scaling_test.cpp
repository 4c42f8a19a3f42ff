#include "harness/report/scaling.hpp"

#include "sample_report.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace sluice::bench {
namespace {

Result resultIn(const std::string& scenario, const std::string& subject, double ns) {
    Result result = resultOf(subject, {ns});
    result.scenario.name = scenario;
    return result;
}

TEST(ScalingTest, ShowsWhatIsThereOnOneThreadAndOnTwo) {
    std::ostringstream out;
    const std::vector<Result> results = {resultIn("one", "ours", 5), resultIn("one", "theirs", 20),
                                         resultIn("one", "alone", 1), resultIn("two", "ours", 2.5),
                                         resultIn("two", "theirs", 40)};
    printScaling(out, results, {{"one call", "one", "two"}, {"nothing", "three", "four"}});
    const std::string table = out.str();
    EXPECT_EQ(table.find("scaling: one call"), 0U);
    EXPECT_EQ(table.find("nothing"), std::string::npos);
    EXPECT_EQ(table.find("alone"), std::string::npos);
    EXPECT_NE(table.find("5.00         2.50           2.00\n"), std::string::npos);
    EXPECT_NE(table.find("20.00        40.00           0.50\n"), std::string::npos);
}

}  // namespace
}  // namespace sluice::bench
