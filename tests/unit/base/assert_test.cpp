#include <sluice/base/assert.hpp>

#include "support/testing.hpp"
#include <csignal>

namespace sluice {
namespace {

constexpr int halved(int number) {
    SLUICE_ASSERT(number % 2 == 0, "pass an even number");
    return number / 2;
}
static_assert(halved(8) == 4);

void printAllOf(const AssertionFailure& failure) {
    std::fprintf(stderr, "seen: %s|%s|%s|%d\n", failure.expression, failure.message, failure.file,
                 failure.line);
}

TEST(AssertTest, EvaluatesTheConditionOnceOrWithNdebugNever) {
    int evaluations = 0;
    SLUICE_ASSERT(++evaluations > 0, "never printed");  // NOLINT(bugprone-assert-side-effect)
#if defined(NDEBUG)
    EXPECT_EQ(evaluations, 0);
#else
    EXPECT_EQ(evaluations, 1);
#endif
}

TEST(AssertTest, HandlerIsHandedBackByTheNextInstallation) {
    EXPECT_EQ(setAssertionHandler(&printAllOf), nullptr);
    EXPECT_EQ(setAssertionHandler(nullptr), &printAllOf);
    EXPECT_EQ(setAssertionHandler(nullptr), nullptr);
}

TEST(AssertDeathTest, HandlerReplacesTheLineAndThenAbortFollows) {
    const AssertionFailure failure{"1 > 2", "swap them", "some.cpp", 17};
    EXPECT_EXIT(
        {
            setAssertionHandler(&printAllOf);
            failAssertion(failure);
        },
        testing::KilledBySignal(SIGABRT),
        "^seen: 1 > 2\\|swap them\\|some\\.cpp\\|17\n(qemu: [^\n]*\n)?$");
}

#if !defined(NDEBUG)
TEST(AssertDeathTest, ReportsConditionMessageAndPlace) {
    EXPECT_DEATH(halved(7), "sluice: pass an even number \\[number % 2 == 0\\] at "
                            ".*assert_test\\.cpp:[0-9]+\n$");
}
#endif

}  // namespace
}  // namespace sluice
