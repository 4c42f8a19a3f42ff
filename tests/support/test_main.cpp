#include <gtest/gtest.h>

#include <cstdio>

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    const int status = RUN_ALL_TESTS();
    if (testing::UnitTest::GetInstance()->test_to_run_count() == 0 &&
        !testing::GTEST_FLAG(list_tests)) {
        std::fputs("the filter selects no test\n", stderr);
        return 1;
    }
    return status;
}
