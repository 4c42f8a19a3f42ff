#include "support/real_time.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"

#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_queue.hpp>

#include <gtest/gtest.h>

#include <cstdio>

#if defined(__linux__)

namespace sluice {
namespace {

using namespace test;

// The thread of low priority may be preempted while it holds a lock.
template <class Call>
void expectAnEnd(const Call& call) {
    const Watchdog watchdog([](std::FILE*) {});
    if (!callAtThreePriorities(scaled(2'000), call)) {
        GTEST_SKIP() << "no real-time priorities here, or a sanitizer";
    }
}

TEST(EventQueueRealTimeTest, PreemptedProducerLetsOneOfHigherPriorityEnqueue) {
    EventQueue<int, void(int)> queue;
    expectAnEnd([&queue] {
        queue.enqueue(1, 2);
        (void)queue.processOne();
    });
}

TEST(CallbackListRealTimeTest, PreemptedThreadLetsOneOfHigherPriorityChangeTheList) {
    CallbackList<void()> list;
    expectAnEnd([&list] {
        const auto handle = list.append([] {});
        list();
        EXPECT_TRUE(list.remove(handle));
    });
}

// No thread calls the list, so there is nothing to wait for.
TEST(CallbackListRealTimeTest, RemovalThatWaitsIsNotHeldUpByAPreemptedOne) {
    CallbackList<void()> list;
    expectAnEnd([&list] {
        const auto handle = list.append([] {});
        EXPECT_TRUE(list.removeAndWait(handle));
    });
}

}  // namespace
}  // namespace sluice

#endif
