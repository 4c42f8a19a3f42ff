#include "hostwatch/options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hostwatch {
namespace {

sluice::Expected<Options, std::string> parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "hostwatch");
    return parseOptions(static_cast<int>(arguments.size()), arguments.data());
}

TEST(Options, HaveDefaults) {
    const auto options = parse({});
    ASSERT_TRUE(options);
    EXPECT_EQ(options->seconds, 10);
    EXPECT_FALSE(options->flood);
    EXPECT_FALSE(options->help);
    EXPECT_EQ(options->logFile, "");
    EXPECT_EQ(options->procDirectory, "/proc");
}

TEST(Options, AreTakenInAnyOrder) {
    const std::string directory = ::testing::TempDir();
    const auto options =
        parse({"--proc", directory.c_str(), "--flood", "--seconds", "86400", "--log", "events"});
    ASSERT_TRUE(options);
    EXPECT_EQ(options->seconds, 86400);
    EXPECT_TRUE(options->flood);
    EXPECT_EQ(options->procDirectory, directory);
    EXPECT_EQ(options->logFile, "events");
    EXPECT_TRUE(parse({"--help"})->help);
    EXPECT_EQ(parse({"--seconds", "1"})->seconds, 1);
}

TEST(Options, NameTheSecondsThatAreOutOfRangeAndTheRange) {
    for (const char* bad :
         {"0", "-1", "86401", "99999999999999999999", "5s", "1.5", "", " 5", "+5", "five"}) {
        const auto options = parse({"--seconds", bad});
        ASSERT_FALSE(options) << bad;
        EXPECT_EQ(options.error(),
                  std::string("--seconds ") + bad + ": must be a whole number from 1 to 86400");
    }
}

TEST(Options, NameWhatIsMissingOrUnknown) {
    EXPECT_NE(parse({"--seconds"}).error().find("--seconds"), std::string::npos);
    EXPECT_NE(parse({"--flood", "--proc"}).error().find("--proc"), std::string::npos);
    EXPECT_NE(parse({"--fast"}).error().find("--fast"), std::string::npos);
    EXPECT_FALSE(parse({""}));
    EXPECT_FALSE(parse({"5"}));
}

TEST(Options, WantADirectoryForProc) {
    EXPECT_NE(parse({"--proc", "/does/not/exist"}).error().find("/does/not/exist"),
              std::string::npos);
    EXPECT_FALSE(parse({"--proc", "/dev/null"}));
}

TEST(Options, AreAllInTheUsage) {
    const std::string text = usage();
    for (const char* option :
         {"--seconds", "--flood", "--proc", "--log", "--help", "86400", "/proc"}) {
        EXPECT_NE(text.find(option), std::string::npos) << option;
    }
}

}  // namespace
}  // namespace hostwatch
