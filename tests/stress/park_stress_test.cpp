#include "support/sanitizers.hpp"
#include "support/watchdog.hpp"

#include <sluice/wait/park.hpp>
#include <sluice/wait/portable_parkers.hpp>

#include "support/testing.hpp"
#include <thread>

// No wake-up is lost: each of these tests hangs, and the watchdog tells where, if a single one is.

namespace sluice {
namespace {

#if SLUICE_TEST_TSAN || SLUICE_TEST_ASAN
constexpr int effort = 1;
#else
constexpr int effort = 4;
#endif

struct PortablePlatform : StdPlatform {
    using Fence = PortableFence;
};

template <class Platform, class Parker>
struct SleepsAtOnce : BasicPark<Platform, Parker> {
    SleepsAtOnce() : BasicPark<Platform, Parker>({0, 0}) {}
};

// Shifts the moments at which two threads meet a little in each round.
class Jitter {
public:
    explicit Jitter(std::uint32_t seed) : state_(seed) {}

    void spend() {
        state_ = state_ * 1664525U + 1013904223U;
        for (std::uint32_t i = state_ >> 26U; i != 0; --i) {
            cpuPause();
        }
    }

private:
    std::uint32_t state_;
};

template <class Park>
class ParkStressTest : public testing::Test {
protected:
    using Counter = std::atomic<int>;

    void set(Counter& counter, int value) {
        counter.store(value, std::memory_order_release);
        park.notifyAll();
    }
    static auto reached(const Counter& counter, int value) {
        return [&counter, value] { return counter.load(std::memory_order_acquire) >= value; };
    }

    Park park;
};

struct ParkNames {
    template <class Park>
    static std::string GetName(int) {
        return Park::name();
    }
};

struct CondVarPark : SleepsAtOnce<StdPlatform, detail::CondVarParker> {
    static const char* name() { return "CondVar"; }
};
struct PortableCondVarPark : SleepsAtOnce<PortablePlatform, detail::CondVarParker> {
    static const char* name() { return "CondVarPortable"; }
};
struct DefaultPark : Park {
    static const char* name() { return "Default"; }
};
#if defined(__linux__)
struct FutexPark : SleepsAtOnce<StdPlatform, detail::FutexParker> {
    static const char* name() { return "Futex"; }
};
struct PortableFutexPark : SleepsAtOnce<PortablePlatform, detail::FutexParker> {
    static const char* name() { return "FutexPortable"; }
};
using Parks =
    testing::Types<DefaultPark, CondVarPark, PortableCondVarPark, FutexPark, PortableFutexPark>;
#else
using Parks = testing::Types<DefaultPark, CondVarPark, PortableCondVarPark>;
#endif
TYPED_TEST_SUITE(ParkStressTest, Parks, ParkNames);

// One thread is always about to sleep while the other is about to notify: the moments meet in all
// ways.
TYPED_TEST(ParkStressTest, NotificationMeetsTheWayToSleep) {
    constexpr int rounds = 5000 * effort;
    std::atomic<int> asked{0};
    std::atomic<int> answered{0};
    const test::Watchdog watchdog([&](std::FILE* out) {
        std::fprintf(out, "asked %d, answered %d of %d\n", asked.load(), answered.load(), rounds);
    });
    std::thread notifier([&] {
        Jitter jitter{1};
        for (int round = 1; round <= rounds; ++round) {
            while (asked.load(std::memory_order_acquire) < round) {
                std::this_thread::yield();
            }
            jitter.spend();
            this->set(answered, round);
        }
    });
    Jitter jitter{2};
    for (int round = 1; round <= rounds; ++round) {
        asked.store(round, std::memory_order_release);
        jitter.spend();
        this->park.wait(this->reached(answered, round));
    }
    notifier.join();
}

TYPED_TEST(ParkStressTest, TimedWaitersComeAndGo) {
    constexpr int rounds = 1000 * effort;
    std::atomic<int> value{0};
    std::atomic<int> givenUp{0};
    const test::Watchdog watchdog([&](std::FILE* out) {
        std::fprintf(out, "value %d of %d, %d waits timed out\n", value.load(), rounds,
                     givenUp.load());
    });
    std::atomic<int> seen{0};
    std::thread impatient([&] {
        for (int i = 0; value.load(std::memory_order_relaxed) < rounds; ++i) {
            const auto deadline = StdPlatform::Clock::now() + std::chrono::microseconds{i % 50};
            if (!this->park.waitUntil([] { return false; }, deadline)) {
                EXPECT_GE(StdPlatform::Clock::now(), deadline);
                givenUp.fetch_add(1, std::memory_order_relaxed);
            }
        }
    });
    std::thread patient([&] {
        for (int round = 1; round <= rounds; ++round) {
            this->park.wait(this->reached(value, round));
            this->set(seen, round);
        }
    });
    for (int round = 1; round <= rounds; ++round) {
        this->set(value, round);
        const auto deadline = StdPlatform::Clock::now() + std::chrono::hours{1};
        EXPECT_TRUE(this->park.waitUntil(this->reached(seen, round), deadline));
    }
    patient.join();
    impatient.join();
    EXPECT_GT(givenUp.load(), 0);
}

}  // namespace
}  // namespace sluice
