#include <sluice/actor/detail/coroutine_scheduler.hpp>
#include <sluice/base/platform.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace sluice {
namespace {

using Scheduler = detail::CoroutineScheduler<StdPlatform>;
using TimePoint = Scheduler::TimePoint;

struct Frame : detail::CoroutineFrame {
    Frame()
        : CoroutineFrame{[](CoroutineFrame& frame) {
                             ++static_cast<Frame&>(frame).continued;
                             return false;
                         },
                         [](CoroutineFrame& /*frame*/) noexcept {}} {}
    int continued = 0;
};

/// A thread wakes it, although it must wait again.
class WokenInVain final : public Scheduler::Waiting {
public:
    WokenInVain(Scheduler& scheduler, Frame& frame, TimePoint deadline)
        : Scheduler::Waiting(scheduler, frame) {
        begin(deadline);
    }
    bool isDone() override { return false; }
    bool giveUp() override { return !isBeingWoken; }

    bool isBeingWoken = true;
};

TEST(CoroutineSchedulerTest, GivesUpAfterItWasWokenInVainAtItsDeadline) {
    Scheduler scheduler([](Scheduler& /*scheduler*/) noexcept {});
    Frame frame;
    const TimePoint deadline = TimePoint() + std::chrono::seconds(1);
    WokenInVain waiting(scheduler, frame, deadline);
    const auto resumeOne = [&] { return scheduler.resumeOne([&] { return deadline; }); };

    EXPECT_TRUE(resumeOne());  // a thread is about to wake it
    EXPECT_FALSE(resumeOne());
    EXPECT_EQ(scheduler.nextDeadline(), TimePoint::max());

    waiting.isBeingWoken = false;
    waiting.wake();
    EXPECT_TRUE(resumeOne());  // it waits again
    EXPECT_EQ(frame.continued, 0);
    EXPECT_EQ(scheduler.nextDeadline(), TimePoint::min());
    EXPECT_TRUE(resumeOne());
    EXPECT_EQ(frame.continued, 1);
    EXPECT_FALSE(resumeOne());
}

}  // namespace
}  // namespace sluice
