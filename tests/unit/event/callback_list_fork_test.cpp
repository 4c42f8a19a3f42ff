#include "support/crew.hpp"
#include "support/forks.hpp"

#include <sluice/event/callback_list.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>

#if SLUICE_TEST_FORKS

namespace sluice {
namespace {

using List = CallbackList<void()>;

/// Whether the list can do everything, and destroys the callbacks that it removes.
bool isUsable(List& list) {
    const auto captured = std::make_shared<int>(0);
    bool isCalled = false;
    const auto waited = list.append([&isCalled, captured] { isCalled = true; });
    const auto removed = list.append([captured] {});
    list();
    const bool areRemoved = list.remove(removed) && list.removeAndWait(waited);
    const bool isGone = captured.use_count() == 1;
    list.clear();
    return isCalled && areRemoved && isGone && list.empty() && list.removedSizeApprox() == 0;
}

// The end of a call collects the removed callbacks, which takes the lock of the list.
TEST(CallbackListForkTest, ChildUsesAListThatOtherThreadsWereCalling) {
    List list;
    list.append([] {});
    std::atomic<bool> isOver{false};
    test::Crew crew;
    for (int i = 0; i < 2; ++i) {
        crew.add([&] {
            while (!isOver) {
                list();
            }
        });
    }
    crew.start();
    for (int round = 0; round < 200; ++round) {
        EXPECT_TRUE(list.remove(list.append([kept = std::make_shared<int>(0)] {})));
        EXPECT_TRUE(test::isTrueInChild([&] { return isUsable(list); })) << round;
    }
    isOver = true;
}

TEST(CallbackListForkTest, ChildUsesAListThatOtherThreadsWereChanging) {
    List list;
    std::atomic<bool> isOver{false};
    test::Crew crew;
    for (int i = 0; i < 2; ++i) {
        crew.add([&] {
            while (!isOver) {
                const auto handle = list.append([] {});
                list();
                list.removeAndWait(handle);
                list.remove(list.prepend([kept = std::make_shared<int>(0)] {}));
                list.clear();
            }
        });
    }
    crew.start();
    for (int round = 0; round < 200; ++round) {
        EXPECT_TRUE(test::isTrueInChild([&] { return isUsable(list); })) << round;
    }
    isOver = true;
}

// No thread is left that could end the wait of the parent's thread.
TEST(CallbackListForkTest, ChildWaitsForNoRemovalOfAThreadThatIsGone) {
    List list;
    std::atomic<int> step{0};
    const auto handle = list.append([&] {
        step = 1;
        test::awaitThat([&] { return step == 2; });
    });
    test::Crew crew;
    crew.add([&] { list(); });
    crew.add([&] {
        test::awaitThat([&] { return step == 1; });
        EXPECT_TRUE(list.removeAndWait(handle));
    });
    crew.start();
    test::awaitThat([&] { return list.empty(); });
    EXPECT_TRUE(test::isTrueInChild([&] { return !list.removeAndWait(handle) && isUsable(list); }));
    step = 2;
}

TEST(CallbackListForkTest, ChildGoesOnWithTheCallThatForked) {
    List list;
    pid_t child = -1;
    int calls = 0;
    List::Handle forking;
    forking = list.append([&, kept = std::make_shared<int>(0)] {
        child = test::limitedFork();
        list.remove(forking);
    });
    list.append([&calls] { ++calls; });
    list();
    if (child == 0) {
        test::endChild(calls == 1 && list.removedSizeApprox() == 0 && isUsable(list));
    }
    EXPECT_TRUE(test::endedWell(child));
    EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace sluice

#endif
