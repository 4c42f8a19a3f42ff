#include <gtest/gtest.h>

#include <cstdio>

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    const int status = RUN_ALL_TESTS();
    const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
    if (tests.test_to_run_count() == 0 && !testing::GTEST_FLAG(list_tests)) {
        std::fputs("the filter selects no test\n", stderr);
        return 1;
    }
    // ctest counts a program that exits with 77 as skipped.
    return status == 0 && tests.skipped_test_count() != 0 ? 77 : status;
}
