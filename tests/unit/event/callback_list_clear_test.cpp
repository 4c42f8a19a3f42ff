#include "support/crew.hpp"
#include "support/scale.hpp"

#include <sluice/event/callback_list.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

// clear() takes the callbacks out under the lock, and does the rest without it.

namespace sluice {
namespace {

/// Counts the atomic stores that are made under the lock.
struct Counting {
    inline static bool isLocked = false;
    inline static std::size_t stores = 0;

    struct Mutex {
        void lock() noexcept { isLocked = true; }
        void unlock() noexcept { isLocked = false; }
    };
    template <class T>
    struct CountedAtomic : std::atomic<T> {
        using std::atomic<T>::atomic;
        void store(T value, std::memory_order order) noexcept {
            stores += isLocked ? 1U : 0U;
            std::atomic<T>::store(value, order);
        }
    };
    struct Platform : StdPlatform {
        template <class T>
        using Atomic = CountedAtomic<T>;
    };
    template <class T>
    using Atomic = std::atomic<T>;
};
struct CountingPolicies {
    using Threading = Counting;
};

std::size_t storesOfClear(std::size_t callbacks) {
    CallbackList<void(), CountingPolicies> list;
    for (std::size_t i = 0; i < callbacks; ++i) {
        list.append([] {});
    }
    Counting::stores = 0;
    list.clear();
    EXPECT_TRUE(list.empty());
    return Counting::stores;
}

TEST(CallbackListClearTest, HoldsTheLockForAsManyStepsHoweverManyCallbacks) {
    EXPECT_EQ(storesOfClear(1000), storesOfClear(1));
}

TEST(CallbackListClearTest, RemovalsAndInsertionsMayMeetIt) {
    CallbackList<void()> list;
    const auto captured = std::make_shared<int>(0);
    std::atomic<bool> isOver{false};
    test::Crew crew;
    crew.add([&] {
        while (!isOver) {
            list.clear();
        }
    });
    crew.add([&] {
        while (!isOver) {
            list();
        }
    });
    crew.start();
    const std::size_t rounds = test::scaled(2000);
    for (std::size_t round = 0; round < rounds; ++round) {
        std::vector<CallbackList<void()>::Handle> handles;
        for (int i = 0; i < 20; ++i) {
            handles.push_back(list.append([captured] {}));
        }
        list.insert([captured] {}, handles[10]);
        for (const auto& handle : handles) {
            list.remove(handle);
        }
        EXPECT_FALSE(handles[5]);
        list.removeAndWait(handles[7]);
    }
    isOver = true;
    crew.join();
    list.clear();
    EXPECT_EQ(captured.use_count(), 1);
    EXPECT_EQ(list.removedSizeApprox(), 0U);
    list.append([captured] {});
    list();
    EXPECT_EQ(captured.use_count(), 2);
}

}  // namespace
}  // namespace sluice
