#include "support/crew.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"

#include <sluice/actor.hpp>
#include <sluice/bus.hpp>

#include "support/testing.hpp"
#include <thread>

// Threads that post while others start and stop the object. Each message owns memory, so that a
// message that is lost or handled twice shows to AddressSanitizer too.

namespace sluice {
namespace {

using namespace test;

struct Order {
    std::uint32_t poster;
    std::uint32_t number;
    std::string text;
};

template <Overflow Policy>
struct Narrow : ActorTraits {
    static constexpr std::size_t depth = 13;
    static constexpr std::array<Overflow, priorityCount> overflow{Policy, Policy, Policy};
};

constexpr std::size_t posters = 3;

/// Checks that each poster's messages come in order.
template <class Traits>
class Checker : public ActiveObject<Checker<Traits>, Messages<Order>, Traits> {
public:
    void handle(const Order& order) {
        isOrdered = isOrdered && order.number > last[order.poster] && order.text.size() == 40;
        last[order.poster] = order.number;
        ++handled;
    }
    std::array<std::uint32_t, posters> last{};
    std::uint64_t handled = 0;  // written by the object's thread
    bool isOrdered = true;
};

template <class Traits>
class ActorStressTest : public testing::Test {};
using Overflows =
    testing::Types<Narrow<Overflow::reject>, Narrow<Overflow::block>, Narrow<Overflow::dropOldest>>;
TYPED_TEST_SUITE(ActorStressTest, Overflows);

TYPED_TEST(ActorStressTest, EveryAcceptedMessageIsHandledDroppedOrDiscarded) {
    const test::Watchdog watchdog([](std::FILE*) {});
    for (std::size_t round = 0; round < scaled(400); ++round) {
        const auto object = std::make_unique<Checker<TypeParam>>();
        {
            Crew crew;
            for (std::uint32_t poster = 0; poster < posters; ++poster) {
                crew.add([&object, poster] {
                    std::uint32_t number = 0;
                    // Posts until the object is stopped.
                    while (object->post(Order{poster, ++number, std::string(40, 'x')}) !=
                           SendResult::closed) {
                    }
                });
            }
            crew.add([&object, round] {
                EXPECT_TRUE(object->start());
                while (object->sizeApprox() == 0) {
                    std::this_thread::yield();
                }
                if (round % 2 == 0) {
                    object->stop();
                } else {
                    EXPECT_TRUE(
                        object->stopAfterDrain(std::chrono::steady_clock::time_point::max()));
                }
                EXPECT_TRUE(object->join());
            });
        }
        const auto total = object->statistics().total();
        ASSERT_TRUE(object->isOrdered);
        ASSERT_EQ(total.delivered, object->handled);
        ASSERT_EQ(total.published, total.delivered + total.dropped + total.discarded);
        if (round % 2 == 1) {
            ASSERT_EQ(total.discarded, 0U);
        }
    }
}

/// Waits like Park. A test can run code between the end of a wait and the next step.
class Interrupted : public Park {
public:
    template <class Ready>
    void wait(Ready&& ready) {
        Park::wait(ready);
        if (isInterrupting.exchange(false)) {
            isHere = true;
            while (!isReleased) {
                std::this_thread::yield();
            }
        }
    }
    inline static std::atomic<bool> isInterrupting{false};
    inline static std::atomic<bool> isHere{false};
    inline static std::atomic<bool> isReleased{false};
};
struct InterruptedTraits : ActorTraits {
    using Wait = Interrupted;
};
class Joined : public ActiveObject<Joined, Messages<int>, InterruptedTraits> {
public:
    void handle(const int& /*value*/) {}
};

// The joining thread has found the object idle, and goes on while another thread starts it.
TEST(ActorStressLifeTest, AJoinThatMeetsAStartEnds) {
    const test::Watchdog watchdog([](std::FILE*) {});
    for (std::size_t round = 0; round < scaled(1000); ++round) {
        Joined object;
        Interrupted::isHere = Interrupted::isReleased = false;
        Interrupted::isInterrupting = true;
        std::thread joiner([&] { (void)object.join(); });
        while (!Interrupted::isHere) {
            std::this_thread::yield();
        }
        std::thread starter([&] { (void)object.start(); });
        for (std::size_t i = 0; i < round % 200; ++i) {
            std::this_thread::yield();
        }
        Interrupted::isReleased = true;
        starter.join();
        object.stop();
        joiner.join();
        EXPECT_TRUE(object.join());
    }
}

struct FewTimers : ActorTraits {
    static constexpr std::size_t maxTimers = 8;
};

/// Counts the messages of timers. Each message owns memory.
class Timed : public ActiveObject<Timed, Messages<std::string>, FewTimers> {
public:
    void handle(const std::string& text) { handled += text.size() == 40 ? 1 : 0; }
    std::uint64_t handled = 0;  // written by the object's thread
};

TEST(ActorStressTimerTest, EachTimerFiresOnceOrIsCancelled) {
    const test::Watchdog watchdog([](std::FILE*) {});
    for (std::size_t round = 0; round < scaled(200); ++round) {
        Timed object;
        std::atomic<std::uint64_t> expected{0};
        ASSERT_TRUE(object.start());
        {
            Crew crew;
            for (std::size_t thread = 0; thread < posters; ++thread) {
                crew.add([&] {
                    std::uint64_t fired = 0;
                    for (int i = 0; i < 50; ++i) {
                        const Timer timer =
                            object.postAfter(std::chrono::nanoseconds(i), std::string(40, 'x'));
                        fired += timer && (i % 2 == 0 || !object.cancel(timer)) ? 1 : 0;
                    }
                    expected.fetch_add(fired, std::memory_order_relaxed);  // read after the join
                });
            }
        }
        while (object.firedTimers() < expected.load(std::memory_order_relaxed)) {
            std::this_thread::yield();
        }
        object.stop();
        ASSERT_TRUE(object.join());
        ASSERT_EQ(object.handled, expected.load(std::memory_order_relaxed));
    }
}

}  // namespace
}  // namespace sluice
