#include <sluice/base/epoch.hpp>

#include <gtest/gtest.h>

#ifndef NDEBUG

#include <memory>
#include <thread>
#include <utility>

namespace sluice {
namespace {

using EpochDomainDeathTest = testing::Test;

// A guard that outlives its scope: what the type makes hard and the assertions catch.
EpochDomain::Guard* leakGuard(EpochDomain& domain) {
    return new EpochDomain::Guard(domain.enter());
}

TEST(EpochDomainDeathTest, SynchronizeInsideAGuardAsserts) {
    EpochDomain domain;
    const auto guard = domain.enter();
    EXPECT_DEATH(domain.synchronize(), "waits for itself");
}

TEST(EpochDomainDeathTest, SynchronizeInsideAReadersGuardAsserts) {
    EpochDomain domain;
    auto reader = domain.reader();
    const auto guard = reader.enter();
    EXPECT_DEATH(domain.synchronize(), "waits for itself");
}

TEST(EpochDomainDeathTest, DestructionInsideAGuardAsserts) {
    auto domain = std::make_unique<EpochDomain>();
    const auto guard = domain->enter();
    EXPECT_DEATH(domain.reset(), "destroyed while a reader is inside");
}

TEST(EpochDomainDeathTest, DestructionByItsOwnDeleterAsserts) {
    struct Owner : EpochNode {
        EpochDomain domain;
    };
    EXPECT_DEATH(
        {
            auto* owner = new Owner;
            owner->domain.retire(owner);
            (void)owner->domain.collect();
        },
        "destroyed by a deleter that it runs");
}

TEST(EpochDomainDeathTest, ThreadThatEndsInsideAsserts) {
    EpochDomain domain;
    EXPECT_DEATH(std::thread([&] { (void)leakGuard(domain); }).join(), "thread ends inside");
}

TEST(EpochDomainDeathTest, GuardThatChangesThreadsAsserts) {
    EpochDomain domain;
    EXPECT_DEATH(
        {
            auto* guard = leakGuard(domain);
            std::thread([&] { delete guard; }).join();
        },
        "left on another thread");
}

TEST(EpochDomainDeathTest, ReaderDestroyedInsideAsserts) {
    EpochDomain domain;
    EXPECT_DEATH(
        {
            auto reader = domain.reader();
            (void)new EpochDomain::Guard(reader.enter());
        },
        "destroyed inside its own guard");
}

TEST(EpochDomainDeathTest, EnterOfAMovedReaderAsserts) {
    EpochDomain domain;
    auto reader = domain.reader();
    const auto moved = std::move(reader);
    EXPECT_DEATH((void)reader.enter(), "moved from");
}

TEST(EpochDomainDeathTest, RetiringTwiceAsserts) {
    EpochDomain domain;
    auto* object = new EpochNode;
    domain.retire(object);
    EXPECT_DEATH(domain.retire(object), "retired twice");
}

TEST(EpochDomainDeathTest, RetiringWithoutAFunctionAsserts) {
    EpochDomain domain;
    int object = 0;
    EXPECT_DEATH(domain.retire(&object, static_cast<void (*)(void*)>(nullptr)), "needs a function");
}

}  // namespace
}  // namespace sluice

#endif
