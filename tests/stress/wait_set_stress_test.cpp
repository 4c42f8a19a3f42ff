#include "support/crew.hpp"
#include "support/sanitizers.hpp"
#include "support/watchdog.hpp"

#include <sluice/bus.hpp>
#include <sluice/queue.hpp>
#include <sluice/wait.hpp>

#include "support/testing.hpp"
#include <thread>

// No wake-up is lost: the test hangs, and the watchdog says where, if a single one is.

namespace sluice::test {
namespace {

using namespace std::chrono_literals;

#if SLUICE_TEST_TSAN || SLUICE_TEST_ASAN
constexpr int messages = 3000;
#else
constexpr int messages = 30000;
#endif

struct Number {
    int value;
};
struct BusTraits : FullBusTraits {
    using Wait = WaitSet::Member;
};

/// Expects 0, 1, 2, ... of each of two senders.
struct Sequence {
    int next[2] = {0, 0};
    void take(int number) {
        EXPECT_EQ(number / 2, next[number % 2]);
        next[number % 2] = number / 2 + 1;
    }
};

// Lockstep: a sender waits for the handling of each message, so the set sleeps again and again.
TEST(WaitSetStressTest, EveryMessageOfEverySourceIsHandled) {
    WaitSet set;
    BlockingQueue<SpscRing<int, 4>, WaitSet::Member> single;
    BlockingQueue<MpscRing<int, 4>, WaitSet::Member> shared;
    Bus<Messages<Number>, BusTraits> bus;
    std::atomic<int> plain{0};
    std::atomic<int> handled{0};
    const Watchdog watchdog(
        [&](std::FILE* out) { std::fprintf(out, "%d are handled\n", handled.load()); });

    Sequence fromShared;
    Sequence fromBus;
    int fromSingle = 0;
    int fromPlain = 0;
    int ticks = 0;
    set.add(single, [&] {
        return single.tryConsume([&](int number) { EXPECT_EQ(number, fromSingle++); }, 1);
    });
    set.add(shared, [&] {
        return shared.tryConsume([&](int number) { fromShared.take(number), ++handled; }, 3);
    });
    const auto subscription =
        bus.subscribe<Number>([&](const Number& number) { fromBus.take(number.value); });
    set.add(bus, [&] { return bus.process(3); });
    set.add([&] {
        const int seen = plain.load(std::memory_order_acquire);
        return std::exchange(fromPlain, seen) != seen;
    });
    set.addTimer(
        WaitSet::Clock::now(), [&] { ++ticks; }, 1ms);

    Crew crew;
    for (int sender = 0; sender < 2; ++sender) {
        crew.add([&, sender] {
            for (int i = 0; i < messages; ++i) {
                const int before = handled.load();
                EXPECT_EQ(shared.push(2 * i + sender), SendResult::ok);
                if (sender == 0) {
                    awaitThat([&] { return handled.load() > before; });
                }
            }
        });
        crew.add([&, sender] {
            for (int i = 0; i < messages; ++i) {
                while (bus.publish(Number{2 * i + sender}) != SendResult::ok) {
                    std::this_thread::yield();
                }
            }
        });
    }
    crew.add([&] {
        for (int i = 0; i < messages; ++i) {
            EXPECT_EQ(single.push(i), SendResult::ok);
        }
    });
    crew.add([&] {
        for (int i = 1; i <= messages; ++i) {
            plain.store(i, std::memory_order_release);
            set.notify();
        }
    });
    crew.start();
    while (fromSingle < messages || fromPlain < messages || ticks == 0 ||
           fromShared.next[0] + fromShared.next[1] < 2 * messages ||
           fromBus.next[0] + fromBus.next[1] < 2 * messages) {
        EXPECT_TRUE(set.wait());
    }
    crew.join();
}

// A source joins and leaves while its messages arrive.
TEST(WaitSetStressTest, SourcesComeAndGo) {
    using Queue = BlockingQueue<SpscRing<int, 4>, WaitSet::Member>;
    std::atomic<int> round{0};
    const Watchdog watchdog([&](std::FILE* out) { std::fprintf(out, "round %d\n", round.load()); });
    WaitSet set;
    for (; round < messages / 10; ++round) {
        auto queue = std::make_unique<Queue>();
        std::thread sender([&queue = *queue] { EXPECT_EQ(queue.push(1), SendResult::ok); });
        set.add(*queue, [&queue = *queue] { return queue.tryConsume([](int) {}); });
        EXPECT_TRUE(set.wait());
        sender.join();
    }
    EXPECT_EQ(set.size(), 0U);
}

}  // namespace
}  // namespace sluice::test
