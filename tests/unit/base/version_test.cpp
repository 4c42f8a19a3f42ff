#include <sluice/base/version.hpp>

#include "support/testing.hpp"

namespace {

TEST(VersionTest, TheHeaderHasTheVersionOfThePackages) {
    EXPECT_EQ(std::to_string(SLUICE_VERSION_MAJOR) + "." + std::to_string(SLUICE_VERSION_MINOR) +
                  "." + std::to_string(SLUICE_VERSION_PATCH),
              SLUICE_PACKAGE_VERSION);
}

TEST(VersionTest, ThePreprocessorComparesIt) {
#if SLUICE_VERSION < 100 || SLUICE_VERSION >= 10000
#error "the version is 0.1 or later, and before 1.0"
#endif
    EXPECT_EQ(SLUICE_VERSION / 10000, SLUICE_VERSION_MAJOR);
    EXPECT_EQ(SLUICE_VERSION / 100 % 100, SLUICE_VERSION_MINOR);
    EXPECT_EQ(SLUICE_VERSION % 100, SLUICE_VERSION_PATCH);
}

}  // namespace
