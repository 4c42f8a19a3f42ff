#include <sluice/base/epoch.hpp>
#include <sluice/base/platform.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <type_traits>

namespace sluice {
namespace {

// Relaxed, so that no test owes its happens-before edges to the waiting.
void awaitTrue(const std::atomic<bool>& flag) {
    while (!flag.load(std::memory_order_relaxed)) {
        std::this_thread::yield();
    }
}

// Tells when the waiting thread has begun to wait, by the pauses of its back-off.
template <class F>
struct WaitObserver : StdPlatform {
    using Fence = F;
    static void pause() noexcept {
        pauses.fetch_add(1);
        std::this_thread::yield();
    }
    static void yield() noexcept { pause(); }
    static void awaitPause() {
        const int before = pauses.load();
        while (pauses.load() == before) {
            std::this_thread::yield();
        }
    }
    inline static std::atomic<int> pauses{0};
};

template <class Fence>
class EpochSynchronizeTest : public testing::Test {};
struct FenceNames {
    template <class Fence>
    static std::string GetName(int) {
        return std::is_same_v<Fence, PortableFence> ? "Portable" : "Standard";
    }
};
using Fences = testing::Types<StdPlatform::Fence, PortableFence>;
TYPED_TEST_SUITE(EpochSynchronizeTest, Fences, FenceNames);

TYPED_TEST(EpochSynchronizeTest, WaitsForAReaderInsideButNotForALaterOne) {
    using Observer = WaitObserver<TypeParam>;
    BasicEpochDomain<Observer> domain;
    std::atomic<bool> earlierIsInside{false};
    std::atomic<bool> laterIsInside{false};
    std::atomic<bool> mayReturn{false};
    std::atomic<bool> hasReturned{false};

    std::thread earlier([&] {
        const auto guard = domain.enter();
        earlierIsInside.store(true);
        awaitTrue(laterIsInside);
        mayReturn.store(true);
    });
    std::thread later([&] {
        Observer::awaitPause();
        const auto guard = domain.enter();
        laterIsInside.store(true);
        awaitTrue(hasReturned);
    });
    awaitTrue(earlierIsInside);
    domain.synchronize();
    EXPECT_TRUE(mayReturn.load()) << "synchronize() did not wait for the earlier reader";
    hasReturned.store(true);
    earlier.join();
    later.join();
}

TYPED_TEST(EpochSynchronizeTest, ShowsTheCallerWhatReadersDid) {
    BasicEpochDomain<WaitObserver<TypeParam>> domain;
    std::atomic<bool> isInside{false};
    int written = 0;
    std::thread reader([&] {
        const auto guard = domain.enter();
        isInside.store(true, std::memory_order_relaxed);
        written = 42;
    });
    awaitTrue(isInside);
    domain.synchronize();
    EXPECT_EQ(written, 42);
    reader.join();
}

}  // namespace
}  // namespace sluice
