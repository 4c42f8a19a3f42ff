#include "model/exchange.hpp"

#include <sluice/actor/detail/awaited_posting.hpp>
#include <sluice/actor/detail/coroutine_scheduler.hpp>

#include "support/testing.hpp"

// The parts that wake coroutines, as shipped, under the model checker: the scheduler of waiting
// coroutines, a request that a coroutine awaits, and the wait for room.

namespace sluice::model {
namespace {

using Scheduler = detail::CoroutineScheduler<ModelPlatform>;

/// The object of a coroutine that awaits a reply. `isAlive` is 0 after its end. The thread that
/// wakes the coroutine reads `isAlive`.
struct Object : Scheduler {
    Object()
        : Scheduler([](Scheduler& scheduler) noexcept { static_cast<Object&>(scheduler).told(); }) {
        isAlive.set(1);
    }
    void told() noexcept { check(isAlive.get() == 1, "the object is there"); }
    Plain<int> isAlive;
};

class Awaiting;

struct Frame : detail::CoroutineFrame {
    Frame()
        : CoroutineFrame{
              [](CoroutineFrame& frame) {
                  static_cast<Frame&>(frame).goesOn();
                  return true;
              },
              [](CoroutineFrame& frame) noexcept { static_cast<Frame&>(frame).destroyed(); }} {}
    void goesOn();
    void destroyed() noexcept;
    Awaiting* waiting = nullptr;
    int resumed = 0;
    bool isDestroyed = false;
};

class Awaiting final : public Scheduler::Waiting {
public:
    Awaiting(Object& object, Frame& frame, Asked::Future& f,
             Scheduler::TimePoint deadline = Scheduler::TimePoint::max())
        : Scheduler::Waiting(object, frame), future(f) {
        frame.waiting = this;
        isAttached = future.attach(*this);
        if (isAttached) {
            begin(deadline);
        }
    }
    bool detach() { return !std::exchange(isAttached, false) || future.detach(*this); }
    bool isDone() override { return true; }
    bool giveUp() override { return detach(); }

    Asked::Future& future;
    bool isAttached = false;
};

void Frame::goesOn() {
    ++resumed;
    (void)waiting->detach();  // as the end of what it waited for does
}
void Frame::destroyed() noexcept {
    isDestroyed = true;
    (void)waiting->detach();
}

/// The coroutine goes on once, and sees what the replying thread wrote.
void replyWakes() {
    Exchange exchange;
    Object object;
    Frame frame;
    parallel([&] { exchange.reply(); },
             [&] {
                 Awaiting waiting(object, frame, exchange.future);
                 if (waiting.isAttached &&
                     object.resumeOne([] { return Scheduler::TimePoint(); })) {
                     check(frame.resumed == 1, "it goes on");
                 }
                 if (frame.resumed == 1) {
                     const auto reply = exchange.future.poll();
                     check(reply && (*reply)->get() == 7, "the reply with what it names");
                 }
                 object.destroyAll();
                 object.isAlive.set(0);  // nobody wakes afterwards
             });
}

/// The object ends while a reply comes. No thread touches the object afterwards.
void endBesideAReply() {
    Exchange exchange;
    Object object;
    Frame frame;
    parallel([&] { exchange.reply(); },
             [&] {
                 Awaiting waiting(object, frame, exchange.future);
                 const bool isWaiting = waiting.isAttached;
                 object.destroyAll();
                 check(frame.isDestroyed == isWaiting, "it is destroyed if it waits");
                 check(!object.hasWoken(), "nobody is left");
                 object.isAlive.set(0);
             });
}

/// At its deadline a coroutine gives up, or it has been woken: it goes on once.
void deadlineBesideAReply() {
    Exchange exchange;
    Object object;
    Frame frame;
    parallel([&] { exchange.reply(); },
             [&] {
                 Awaiting waiting(object, frame, exchange.future, Scheduler::TimePoint());
                 const bool isWaiting = waiting.isAttached;
                 while (object.resumeOne([] { return Scheduler::TimePoint::max(); })) {
                 }
                 check(frame.resumed == (isWaiting ? 1 : 0), "it goes on once");
                 check(!object.hasWoken(), "nobody is left");
                 object.isAlive.set(0);
             });
}

/// A coroutine that waits for room. The thread that wakes it reads `isAlive`.
struct RoomWait : detail::Waker {
    RoomWait()
        : Waker([](Waker& waker) noexcept {
              auto& self = static_cast<RoomWait&>(waker);
              check(self.isAlive.get() == 1, "the wait is there");
              self.isWoken = true;
          }) {
        isAlive.set(1);
    }
    Plain<int> isAlive;
    bool isWoken = false;
    detail::RoomWaiters<ModelPlatform>::Wait wait{*this};
};

/// A thread that waits too late to be woken finds the room, and after its end nobody wakes it.
void roomWakesOrIsFound() {
    detail::RoomWaiters<ModelPlatform> waiters;
    Atomic<int> isFull{1};
    parallel(
        [&] {
            RoomWait room;
            const auto seen = waiters.notifications();
            const bool isFound = isFull.load(relaxed) == 0;
            const bool isAdded = !isFound && waiters.add(room.wait, seen);
            const bool isRemoved = waiters.remove(room.wait);
            check(isFound || !isAdded || isRemoved || room.isWoken, "woken, or not waiting");
            check(isFound || isAdded || isFull.load(relaxed) == 0 ||
                      waiters.notifications() != seen,
                  "refused only after a notification");
            waiters.end(room.wait);
            room.isAlive.set(0);
        },
        [&] {
            isFull.store(0, relaxed);
            waiters.notifyAll();
        });
}

/// Room that was made before the wait is found: it is not waited for.
void roomIsFoundIfNobodyWakes() {
    detail::RoomWaiters<ModelPlatform> waiters;
    Atomic<int> isFull{1};
    RoomWait room;
    bool isFound = false;
    bool isAdded = false;
    parallel(
        [&] {
            do {
                const auto seen = waiters.notifications();
                isFound = isFull.load(relaxed) == 0;
                isAdded = !isFound && waiters.add(room.wait, seen);
            } while (!isFound && !isAdded);
        },
        [&] {
            isFull.store(0, relaxed);
            waiters.notifyOne();
        });
    check(isFound || room.isWoken, "woken, or the room is found");
    waiters.end(room.wait);
}

TEST(CoroutineSchedulerModelTest, WokenOnceOrNotAtAll) {
    EXPECT_TRUE(holds(replyWakes));
    EXPECT_TRUE(holds(endBesideAReply));
    EXPECT_TRUE(holds(deadlineBesideAReply));
    EXPECT_TRUE(holds(roomWakesOrIsFound));
    EXPECT_TRUE(holds(roomIsFoundIfNobodyWakes));
}

TEST(CoroutineSchedulerModelTest, EveryOrderIsNeeded) {
    EXPECT_TRUE(survive({}, ordersOf("coroutine_scheduler.hpp", {},
                                     {replyWakes, endBesideAReply, deadlineBesideAReply})));
    EXPECT_TRUE(survive(
        {}, ordersOf("awaited_posting.hpp", {}, {roomWakesOrIsFound, roomIsFoundIfNobodyWakes})));
}

}  // namespace
}  // namespace sluice::model
