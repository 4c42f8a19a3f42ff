#include <sluice/log/detail/stamp_clock.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace sluice::log::detail {
namespace {

TEST(StampClock, NeverGoesBackOnOneThread) {
    std::atomic<std::uint64_t> word{0};
    Key last = 0;
    for (int i = 0; i < 100'000; ++i) {
        const Key first = StampClock::now();
        const Key second = StampClock::announceThenNow(word, 1);
        const Key third = StampClock::nowThenLook();
        ASSERT_LE(last, first);
        ASSERT_LE(first, second);
        ASSERT_LE(second, third);
        last = third;
    }
}

TEST(StampClock, AnnouncesBeforeItReads) {
    std::atomic<std::uint64_t> word{0};
    (void)StampClock::announceThenNow(word, 7);
    EXPECT_EQ(word.load(), 7U);
}

TEST(StampClock, LetPassReturnsWhenTheNextReadingIsLater) {
    for (int i = 0; i < 1000; ++i) {
        const Key key = StampClock::now();
        StampClock::letPass(key);
        ASSERT_GT(StampClock::now(), key);
    }
}

// What a stamp is for: it is handed from thread to thread, and each finds a later one.
TEST(StampClock, NeverGoesBackFromThreadToThread) {
    constexpr int threads = 4;
    constexpr Key rounds = 20'000;
    std::atomic<Key> turn{0};
    std::atomic<Key> latest{0};
    std::atomic<int> backward{0};
    std::vector<std::thread> all;
    for (Key t = 0; t < threads; ++t) {
        all.emplace_back([&, t] {
            for (Key round = t; round < rounds; round += threads) {
                while (turn.load(std::memory_order_acquire) != round) {
                    std::this_thread::yield();
                }
                const Key key = StampClock::now();
                backward += key <= latest.load(std::memory_order_relaxed) ? 1 : 0;
                StampClock::letPass(key);
                latest.store(key, std::memory_order_relaxed);
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
    constexpr std::uint64_t rounds = 50'000;
    std::atomic<std::uint64_t> word{0};
    std::vector<Key> stamps(rounds + 1);
    std::vector<Key> looks(rounds + 1);
    std::vector<std::uint64_t> seen(rounds + 1);
    std::atomic<int> ready{0};
    const auto meet = [&ready](int count) {
        ready.fetch_add(1);
        while (ready.load() < count) {
        }
    };
    std::thread producer([&] {
        meet(2);
        for (std::uint64_t i = 1; i <= rounds; ++i) {
            stamps[i] = StampClock::announceThenNow(word, i);
        }
    });
    meet(2);
    for (std::uint64_t i = 1; i <= rounds; ++i) {
        looks[i] = StampClock::nowThenLook();
        seen[i] = word.load(std::memory_order_seq_cst);
    }
    producer.join();
    for (std::uint64_t i = 1; i <= rounds; ++i) {
        if (seen[i] < rounds) {
            ASSERT_GE(stamps[seen[i] + 1], looks[i]) << "the next announcement after the one seen";
        }
    }
}

#if defined(__x86_64__) && defined(__linux__)
TEST(StampClock, UsesTheCounterOnlyIfTheKernelDoes) {
    std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    std::string source;
    file >> source;
    if (StampClock::usesCounter()) {
        EXPECT_EQ(source, "tsc");
    }
    const Key before = StampClock::now();
    std::this_thread::yield();
    EXPECT_GT(StampClock::now(), before);
}
#endif

}  // namespace
}  // namespace sluice::log::detail
