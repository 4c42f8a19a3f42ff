#define EVENTPP_CACHELINE_SIZE 256
#include <eventpp/eventpolicies.h>

#include <gtest/gtest.h>

namespace {

struct EVENTPP_ALIGN_CACHELINE Line {
    char content;
};

TEST(EventppCacheLineTest, AProgramMayChooseTheSize) {
    static_assert(EVENTPP_CACHELINE_SIZE == 256);
    EXPECT_EQ(alignof(Line), 256U);
}

}  // namespace
