#include <sluice/base/thread_support.hpp>

#include <gtest/gtest.h>

#include <thread>

namespace sluice {
namespace {

SLUICE_THREAD_LOCAL int number = 1;

TEST(ThreadSupportTest, EachThreadHasVariablesOfItsOwn) {
    static_assert(SLUICE_HAS_THREADS == 1);
    int seen = 0;
    number = 2;
    std::thread([&seen] { seen = number; }).join();
    EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace sluice
