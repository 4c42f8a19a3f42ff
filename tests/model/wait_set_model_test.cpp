#include "support/model/expectations.hpp"

#include <sluice/wait/wait_set.hpp>

#include "support/testing.hpp"

// WaitSet as shipped, under the model checker. A lost wake-up shows as a schedule in which no
// thread can continue.

namespace sluice::model {
namespace {

using Set = BasicWaitSet<ModelPlatform, ModelParker>;

/// Carries messages without content.
struct Counter {
    Atomic<int> messages{0};
    Atomic<int> isClosed{0};
    Set::Member member{{0, 0}};

    Set::Member& waiting() { return member; }
    bool isDrained() { return isClosed.load(acquire) == 1 && messages.load(acquire) == 0; }
    bool tryTake() {
        int seen = messages.load(relaxed);
        while (seen > 0) {
            if (messages.compare_exchange_strong(seen, seen - 1, acquire, relaxed)) {
                return true;
            }
        }
        return false;
    }
    void send() {
        (void)messages.fetch_add(1, release);
        member.notifyOne();
    }
    void close() {
        isClosed.store(1, release);
        member.notifyAll();
    }
    void joinTo(Set& set) {
        set.add(*this, [this] { return tryTake(); });
    }
};

void oneSource() {
    Set set({0, 0});
    Counter source;
    source.joinTo(set);
    parallel([&] { check(set.wait() && set.wait(), "both messages are found"); },
             [&] { source.send(), source.send(); });
}

void twoSources() {
    Set set({0, 0});
    Counter first;
    Counter second;
    first.joinTo(set);
    second.joinTo(set);
    parallel(
        [&] {
            const auto one = set.wait();
            const auto other = set.wait();
            check(one.source + other.source == 1, "each source has a turn");
        },
        [&] { first.send(); }, [&] { second.send(); });
}

/// The set is made and joined in another thread than the notifier's.
void joinsDuringASend() {
    std::optional<Set> set;
    Counter source;
    parallel(
        [&] {
            set.emplace(Set::Options{0, 0});
            source.joinTo(*set);
            check(bool(set->wait()), "the message is found");
        },
        [&] { source.send(); });
}

void theEndIsSeen() {
    Set set({0, 0});
    Counter source;
    source.joinTo(set);
    parallel(
        [&] {
            check(!set.wait().isOver, "the message is found before the end");
            check(set.wait().isOver, "the source is closed and drained");
        },
        [&] { source.send(), source.close(); });
}

void plainSource() {
    Set set({0, 0});
    Atomic<int> value{0};
    set.add([&] { return value.exchange(0, acquire) != 0; });
    parallel([&] { check(bool(set.wait()), "the value is found"); },
             [&] { value.store(1, release), set.notify(); });
}

/// Another thread waits for the source alone.
void oneWaitsAlone() {
    Set set({0, 0});
    Counter source;
    source.joinTo(set);
    Atomic<int> taken{0};
    const auto count = [&] { (void)taken.fetch_add(1, relaxed); };
    parallel([&] { (void)set.wait(), count(); },
             [&] { source.member.wait([&] { return source.tryTake(); }), count(); },
             [&] { source.send(), source.send(); });
    check(taken.load(relaxed) == 2, "each takes one");
}

void aTimerEndsTheSleep() {
    using namespace std::chrono_literals;
    Set set({0, 0});
    Counter source;
    source.joinTo(set);
    const auto due = ModelPlatform::Clock::now() + 5ms;
    set.addTimer(due, [] {});
    parallel(
        [&] {
            for (int found = 0; found < 2; ++found) {
                const auto ready = set.wait();
                check(ready.source != 1 || ModelPlatform::Clock::now() >= due, "not before it");
            }
        },
        [&] { source.send(); });
}

TEST(WaitSetModelTest, NoWakeUpIsLost) {
    EXPECT_TRUE(holds(oneSource));
    EXPECT_TRUE(holds(twoSources));
    EXPECT_TRUE(holds(joinsDuringASend));
    EXPECT_TRUE(holds(theEndIsSeen));
    EXPECT_TRUE(holds(plainSource));
    EXPECT_TRUE(holds(oneWaitsAlone));
    EXPECT_TRUE(holds(aTimerEndsTheSleep));
}

TEST(WaitSetModelTest, EveryOrderIsNeeded) {
    EXPECT_TRUE(survive({}, ordersOf("wait_set.hpp", {}, {oneSource, joinsDuringASend})));
}

}  // namespace
}  // namespace sluice::model
