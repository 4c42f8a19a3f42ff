#include "support/model/expectations.hpp"

#include <sluice/base/spin_lock.hpp>

#include "support/testing.hpp"

namespace sluice::model {
namespace {

using Lock = BasicSpinLock<ModelPlatform>;

void threeLockers() {
    Lock lock;
    Plain<int> sum;
    const auto add = [&] {
        const std::lock_guard<Lock> guard(lock);
        sum.set(sum.get() + 1);
    };
    parallel(add, add, add);
    check(sum.get() == 3, "each section runs alone");
}

void lockAgainstTryLock() {
    Lock lock;
    Plain<int> sum;
    int tried = 0;
    parallel(
        [&] {
            const std::lock_guard<Lock> guard(lock);
            sum.set(sum.get() + 1);
        },
        [&] {
            while (!lock.try_lock()) {
                ModelPlatform::pause();
            }
            sum.set(sum.get() + 1);
            lock.unlock();
            ++tried;
        });
    check(sum.get() == 2 && tried == 1, "each section runs alone, and a free lock is obtained");
}

TEST(SpinLockModelTest, SectionsExcludeEachOther) {
    EXPECT_TRUE(holds(threeLockers));
    EXPECT_TRUE(holds(lockAgainstTryLock));
}

TEST(SpinLockModelTest, EveryOrderIsNeeded) {
    EXPECT_TRUE(survive({}, ordersOf("spin_lock.hpp", {}, {threeLockers, lockAgainstTryLock})));
}

}  // namespace
}  // namespace sluice::model
