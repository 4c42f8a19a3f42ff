#include "unit/wait/idle_thread.hpp"

#include <sluice/wait/park.hpp>
#include <sluice/wait/portable_parkers.hpp>

#include "support/testing.hpp"
#include <thread>

// The properties that an event count relies on when it sends a thread to sleep. A parker may return
// for no reason, so these tests tell by the processor time whether it slept.

namespace sluice::detail {
namespace {

using namespace std::chrono_literals;
using Word = std::atomic<std::uint64_t>;

constexpr std::uint64_t epoch = std::uint64_t{1} << 32U;

template <class Parker>
class ParkerTest : public testing::Test {
protected:
    static auto epochIs(std::uint64_t value) {
        return [value](std::uint64_t seen) { return seen / epoch == value; };
    }
    std::uint64_t currentEpoch() const { return word.load(std::memory_order_acquire) / epoch; }

    void nextEpoch() {
        word.fetch_add(epoch, std::memory_order_acq_rel);
        parker.unparkAll(word);
    }

    Word word{0};
    Parker parker;
};

#if defined(_WIN32)
using Parkers = testing::Types<AddressParker, CondVarParker>;
static_assert(std::is_same_v<DefaultParker, AddressParker> && std::is_empty_v<AddressParker>);
#elif defined(__linux__)
using Parkers = testing::Types<FutexParker, CondVarParker>;
static_assert(std::is_same_v<DefaultParker, FutexParker> && std::is_empty_v<FutexParker>);
#else
using Parkers = testing::Types<CondVarParker>;
static_assert(std::is_same_v<DefaultParker, CondVarParker>);
#endif

struct ParkerNames {
    template <class Parker>
    static std::string GetName(int) {
        return std::is_same_v<Parker, CondVarParker> ? "CondVar" : "Futex";
    }
};
TYPED_TEST_SUITE(ParkerTest, Parkers, ParkerNames);

TYPED_TEST(ParkerTest, ChangeOfTheEpochEndsTheSleep) {
    for (std::uint64_t now = 0; now < 200; ++now) {
        std::thread waker([this] { this->nextEpoch(); });
        while (this->currentEpoch() == now) {
            this->parker.park(this->word, this->epochIs(now), 1h);
        }
        waker.join();
    }
}

TYPED_TEST(ParkerTest, SleepsForTheTimeGivenInAnyEpoch) {
    for (const std::uint64_t now : {std::uint64_t{0}, std::uint64_t{1} << 31U, ~epoch / epoch}) {
        this->word.store(now * epoch, std::memory_order_relaxed);
        EXPECT_TRUE(test::sleeps([&] {
            const auto deadline = std::chrono::steady_clock::now() + 100ms;
            return test::usageOf([&] {
                while (std::chrono::steady_clock::now() < deadline) {
                    this->parker.park(this->word, this->epochIs(now),
                                      deadline - std::chrono::steady_clock::now());
                }
            });
        })) << now;
        EXPECT_EQ(this->word.load(), now * epoch) << "sleeping changes nothing";
    }
}

TYPED_TEST(ParkerTest, OtherWaitersComingAndGoingDoNotKeepItAwake) {
    const auto sleepBesideOthers = [&] {
        std::atomic<bool> isOver{false};
        test::Usage usage;
        this->word.store(1, std::memory_order_relaxed);
        std::thread sleeper([&] {
            usage = test::usageOf([&] {
                while (this->currentEpoch() == 0) {
                    this->parker.park(this->word, this->epochIs(0), 1h);
                }
            });
        });
        std::thread others([&] {
            while (!isOver.load(std::memory_order_relaxed)) {
                this->word.fetch_add(1, std::memory_order_relaxed);
                std::this_thread::yield();
                this->word.fetch_sub(1, std::memory_order_relaxed);
            }
        });
        std::this_thread::sleep_for(200ms);
        isOver.store(true, std::memory_order_relaxed);
        others.join();
        this->nextEpoch();
        sleeper.join();
        return usage;
    };
    EXPECT_TRUE(test::sleeps(sleepBesideOthers));
}

#if defined(__linux__) || defined(_WIN32)
// The epoch changes between the check and the kernel's own look. The kernel sees the change.
TEST(DefaultParkerTest, EpochThatChangesDuringTheCheckPreventsTheSleep) {
    Word word{5 * epoch + 1};
    DefaultParker parker;
    parker.park(
        word,
        [&](std::uint64_t) {
            word.store(7 * epoch + 1, std::memory_order_relaxed);
            return true;
        },
        1h);
}
#endif

}  // namespace
}  // namespace sluice::detail
