#include <sluice/base/platform.hpp>
#include <sluice/base/role_check.hpp>

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(RoleCheckTest, RoleMayBePassedOn) {
    RoleCheck<StdPlatform> role;
    { const RoleCheck<StdPlatform>::Scope first(role, oneConsumer); }
    { const RoleCheck<StdPlatform>::Scope second(role, oneConsumer); }
}

#ifndef NDEBUG
TEST(RoleCheckDeathTest, SecondOneAtTheSameTimeIsNoticed) {
    RoleCheck<StdPlatform> role;
    const RoleCheck<StdPlatform>::Scope first(role, oneProducer);
    EXPECT_DEATH(RoleCheck<StdPlatform>::Scope(role, oneProducer), "a second producer");
}
#endif

}  // namespace
}  // namespace sluice
