#include "support/model/expectations.hpp"
#include "support/sanitizers.hpp"

#include <sluice/base/detail/fork_gate.hpp>
#include <sluice/base/spin_lock.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

// The gate of fork() as shipped, under the model checker. The child of a fork sees what the thread
// that forks sees: a section that is half done shows as a data race, or as two unequal numbers.

namespace sluice::model {
namespace {

/// The checker has no futexes.
struct GateLock : BasicSpinLock<ModelPlatform> {
    void forgetHolder() noexcept {
        (void)try_lock();
        unlock();
    }
};
using Gate = detail::BasicForkGate<ModelPlatform, GateLock>;

/// A thread of the gate.
struct Member {
    explicit Member(Gate& gate, std::uint32_t number) : gate_(gate), number_(number) {}

    void enter(const void* mutex) {
        if (Gate::enter(self, pass_, mutex) == 0) {
            gate_.admit(self, pass_, mutex, number_, [] { return true; });
        }
    }
    void leave() { Gate::leave(self); }
    void beginDelay() {
        enter(this);
        Gate::addDelays(self, 1);
        leave();
    }
    void endDelay() { Gate::addDelays(self, -1U); }
    void end() { gate_.remove(self, number_); }

    Gate::Thread self;

private:
    Gate& gate_;
    const std::uint32_t number_;
    Gate::Pass pass_{0};
};

struct Shared {
    Gate gate;
    Member worker{gate, 1};
    Member forker{gate, 2};
    Plain<int> first;
    Plain<int> second;
    const int mutex = 0;
    const int otherMutex = 0;

    void work() {
        worker.enter(&mutex);
        first.set(first.get() + 1);
        second.set(second.get() + 1);
        worker.leave();
    }
    void fork() {
        gate.close(forker.self);
        check(first.get() == second.get(), "the child finds nothing half done");
        gate.open();
    }
};

void forkMeetsSections() {
    Shared shared;
    parallel([&] { shared.work(), shared.work(); }, [&] { shared.fork(); });
    check(shared.first.get() == 2, "each section ends");
}

void forkMeetsAThreadThatEnds() {
    Shared shared;
    parallel([&] { shared.work(), shared.worker.end(); }, [&] { shared.fork(); });
    check(shared.worker.self.link == nullptr, "threads that have ended are not listed");
}

/// The delay holds between two sections, and inside of it no section waits for the fork.
void forkMeetsADelay() {
    Shared shared;
    parallel(
        [&] {
            shared.worker.beginDelay();
            shared.first.set(1);
            shared.worker.enter(&shared.otherMutex);
            shared.worker.leave();
            shared.second.set(1);
            shared.worker.endDelay();
        },
        [&] { shared.fork(); });
}

void twoThreadsFork() {
    Shared shared;
    parallel([&] { shared.work(), shared.gate.close(shared.worker.self), shared.gate.open(); },
             [&] { shared.fork(); });
    shared.work();
    check(shared.first.get() == 2, "the gate is open in the end");
}

/// The owner of a mutex ends its life when another thread has unlocked it.
void ownerAwaitsAnUnlock() {
    Shared shared;
    Atomic<bool> isUnlocked{false};
    parallel(
        [&] {
            shared.worker.enter(&shared.mutex);
            isUnlocked.store(true, std::memory_order_release);
            (void)shared.first.get();  // unlock() reads the mutex once more
            shared.worker.leave();
        },
        [&] {
            while (!isUnlocked.load(std::memory_order_acquire)) {
                ModelPlatform::pause();
            }
            shared.gate.awaitOthers(shared.forker.self, &shared.mutex);
            shared.first.set(1);
        });
}

TEST(ForkGateModelTest, ChildFindsNothingHalfDoneAndEveryThreadGoesOn) {
    EXPECT_TRUE(holds(forkMeetsSections));
    EXPECT_TRUE(holds(forkMeetsAThreadThatEnds));
    EXPECT_TRUE(holds(forkMeetsADelay));
    EXPECT_TRUE(holds(twoThreadsFork));
}

TEST(ForkGateModelTest, OwnerOfAMutexAwaitsTheEndOfItsSections) {
    EXPECT_TRUE(holds(ownerAwaitsAnUnlock));
}

// Not under sanitizers: they end the process for the faults that mutants are meant to have.
#if !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN
TEST(ForkGateModelTest, EveryOrderIsNeeded) {
    EXPECT_TRUE(survive({}, surveyOrders("fork_gate.hpp", {},
                                         {forkMeetsSections, forkMeetsADelay, twoThreadsFork,
                                          ownerAwaitsAnUnlock})));
}
#endif

}  // namespace
}  // namespace sluice::model
