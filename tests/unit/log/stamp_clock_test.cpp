#include "support/dice.hpp"
#include "support/scale.hpp"

#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include "support/testing.hpp"
#include <fstream>
#include <thread>

namespace sluice::log::detail {
namespace {

TEST(StampClock, NeverGoesBackOnOneThread) {
    std::atomic<std::uint64_t> word{0};
    Stamp last = 0;
    for (int i = 0; i < 100'000; ++i) {
        const Stamp first = StampClock::now();
        const Stamp second = StampClock::announceThenNow(word, 1);
        const Stamp third = StampClock::nowThenLoad();
        ASSERT_LE(last, first);
        ASSERT_LE(first, second);
        ASSERT_LE(second, third);
        last = third;
    }
}

TEST(StampClock, LetPassReturnsWhenTheNextReadingIsLater) {
    for (int i = 0; i < 1000; ++i) {
        const Stamp stamp = StampClock::now();
        StampClock::waitUntilPast(stamp);
        ASSERT_GT(StampClock::now(), stamp);
    }
}

// What a stamp is for: it is handed from thread to thread, and each finds a later one.
TEST(StampClock, NeverGoesBackFromThreadToThread) {
    constexpr int threads = 4;
    constexpr Stamp rounds = 20'000;
    std::atomic<Stamp> turn{0};
    std::atomic<Stamp> latest{0};
    std::atomic<int> backward{0};
    std::vector<std::thread> all;
    for (Stamp t = 0; t < threads; ++t) {
        all.emplace_back([&, t] {
            for (Stamp round = t; round < rounds; round += threads) {
                while (turn.load(std::memory_order_acquire) != round) {
                    std::this_thread::yield();
                }
                const Stamp stamp = StampClock::now();
                backward += stamp <= latest.load(std::memory_order_relaxed) ? 1 : 0;
                StampClock::waitUntilPast(stamp);
                latest.store(stamp, std::memory_order_relaxed);
                turn.store(round + 1, std::memory_order_release);
            }
        });
    }
    for (std::thread& thread : all) {
        thread.join();
    }
    EXPECT_EQ(backward.load(), 0);
}

// Store, then read the clock; read the clock, then load. Whoever loads nothing has read the clock
// first. With plain accesses the store would wait in its processor while the clock is read.
TEST(StampClock, AnAnnouncementThatWasNotSeenIsStampedLater) {
    const auto rounds = static_cast<std::size_t>(test::scaled(100'000));
    // Stores that miss the caches: an announcement that could wait in the processor would do so
    // behind them.
    constexpr std::size_t farSize = std::size_t{1} << 25U;
    std::vector<unsigned char> far(farSize);
    test::Dice dice(1);
    struct Look {
        Stamp time;
        std::uint64_t seen;
    };
    std::atomic<std::uint64_t> word{0};
    std::vector<Stamp> stamps(rounds + 1);
    std::vector<Look> looks;
    std::atomic<bool> hasBegun{false};
    std::thread producer([&] {
        hasBegun = true;
        for (std::size_t i = 1; i <= rounds; ++i) {
            for (int n = 0; n < 8; ++n) {
                far[(std::size_t{dice()} << 6U) % farSize] = 1;
            }
            stamps[i] = StampClock::announceThenNow(word, i);
        }
    });
    while (!hasBegun) {
    }
    while (looks.empty() || looks.back().seen != rounds) {
        const Stamp time = StampClock::nowThenLoad();
        looks.push_back({time, word.load(std::memory_order_seq_cst)});
    }
    producer.join();
    std::uint64_t early = 0;
    for (const Look& look : looks) {
        early += look.seen != rounds && stamps[static_cast<std::size_t>(look.seen) + 1] < look.time
                     ? 1
                     : 0;
    }
    EXPECT_EQ(early, 0U) << "stamps of announcements that a look before them did not see";
}

#if defined(__x86_64__) && defined(__linux__)
TEST(StampClock, UsesTheCounterOnlyIfTheKernelDoes) {
    std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    std::string source;
    file >> source;
    if (StampClock::usesCounter()) {
        EXPECT_EQ(source, "tsc");
    }
    const Stamp before = StampClock::now();
    std::this_thread::yield();
    EXPECT_GT(StampClock::now(), before);
}
#endif

}  // namespace
}  // namespace sluice::log::detail
