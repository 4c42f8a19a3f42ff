#include "unit/queue/queue_doubles.hpp"
#include "unit/queue/scripted_wait.hpp"

#include <sluice/queue/blocking_queue.hpp>
#include <sluice/queue/overwrite_ring.hpp>

#include "support/testing.hpp"
#include <numeric>

namespace sluice {
namespace {

using namespace test;

template <bool Many, class Base = QueueTraits>
struct Traits : Base {
    static constexpr bool manyProducers = Many;
};

template <class Ring>
std::vector<int> take(Ring& ring, std::size_t max = unlimited) {
    std::vector<int> values;
    const auto count = ring.consume([&](int& value) { values.push_back(value); }, max);
    EXPECT_EQ(count, values.size());
    return values;
}

/// A ring for one or for many producers.
template <class Many>
class OverwriteRingTest : public testing::Test {
protected:
    template <class T, std::size_t Capacity, class Base = QueueTraits>
    using Ring = OverwriteRing<T, Capacity, Traits<Many::value, Base>>;
};
using Forms = testing::Types<std::false_type, std::true_type>;
TYPED_TEST_SUITE(OverwriteRingTest, Forms);

/// Compares a ring with a queue whose oldest message is removed, over several wraps of the
/// positions.
template <std::size_t Capacity, class Ring>
void behaveAsADeque(Ring& ring) {
    std::deque<int> expected;
    std::uint8_t dropped = 0;
    ASSERT_EQ(ring.capacity(), Capacity);
    for (int i = 0; i < 700; ++i) {
        ASSERT_EQ(ring.tryPush(i), SendResult::ok);
        expected.push_back(i);
        if (expected.size() > Capacity) {
            expected.pop_front();
            ++dropped;
        }
        ASSERT_EQ(ring.sizeApprox(), expected.size());
        ASSERT_EQ(ring.dropped(), dropped % 128) << "modulo half the range of the positions";
        if (i % 7 == 3) {
            ASSERT_EQ(ring.tryPop(), expected.front());
            expected.pop_front();
        }
        if (i % 100 == 99) {
            ASSERT_EQ(take(ring), std::vector<int>(expected.begin(), expected.end()));
            ASSERT_EQ(ring.tryPop(), std::nullopt);
            expected.clear();
        }
    }
}

TYPED_TEST(OverwriteRingTest, KeepsTheNewestAndCountsTheOthers) {
    typename TestFixture::template Ring<int, 1, ByteTraits> one;
    behaveAsADeque<1>(one);
    typename TestFixture::template Ring<int, 5, ByteTraits> five;
    behaveAsADeque<5>(five);
    typename TestFixture::template Ring<int, 8, ByteTraits> eight;
    behaveAsADeque<8>(eight);
    typename TestFixture::template Ring<int, dynamicCapacity, ByteTraits> dynamic(3);
    behaveAsADeque<3>(dynamic);
    typename TestFixture::template Ring<int, 31, ByteTraits> largest;
    behaveAsADeque<31>(largest);
}

TYPED_TEST(OverwriteRingTest, KeepsTheNewestIfNoThreadConsumesForALap) {
    for (int pushes = 120; pushes <= 140; ++pushes) {
        typename TestFixture::template Ring<int, 8, ByteTraits> ring;
        for (int i = 0; i < pushes; ++i) {
            ASSERT_EQ(ring.tryPush(i), SendResult::ok);
        }
        ring.close();
        std::vector<int> values(8);
        std::iota(values.begin(), values.end(), pushes - 8);
        EXPECT_EQ(take(ring), values);
        EXPECT_TRUE(ring.isDrained());
    }
}

TYPED_TEST(OverwriteRingTest, DestroysEachMessageOnce) {
    {
        typename TestFixture::template Ring<Tracked, 2> ring;
        for (int i = 0; i < 5; ++i) {
            ASSERT_EQ(ring.tryEmplace(i), SendResult::ok);
            ASSERT_EQ(Tracked::alive, std::min(i + 1, 2)) << "the dropped ones are gone";
        }
        ring.consume([](Tracked& message) { EXPECT_EQ(message.value, 3); }, 1);
        EXPECT_EQ(Tracked::alive, 1);
    }
    EXPECT_EQ(Tracked::alive, 0);
}

TYPED_TEST(OverwriteRingTest, OnlyAClosedRingRefusesAndItLeavesTheArgument) {
    typename TestFixture::template Ring<std::shared_ptr<std::string>, 1> ring;
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(ring.tryPush(std::make_unique<std::string>("kept")), SendResult::ok);
    }
    ring.close();
    auto refused = std::make_unique<std::string>("refused");
    EXPECT_EQ(ring.tryPush(std::move(refused)), SendResult::closed);
    EXPECT_NE(refused, nullptr);
    EXPECT_FALSE(ring.isDrained());
    EXPECT_EQ(**ring.tryPop(), "kept");
    EXPECT_TRUE(ring.isDrained());
    EXPECT_EQ(ring.tryPush(std::move(refused)), SendResult::closed);
    EXPECT_TRUE(ring.isDrained()) << "a refused push changes nothing";
    EXPECT_EQ(ring.dropped(), 2U);
}

/// Calls a function while it is moved, as if the moving thread were preempted there.
struct Slow {
    Slow(int number, std::function<void()> function) : value(number), inMove(std::move(function)) {}
    Slow(Slow&& other) noexcept : value(other.value), inMove(std::move(other.inMove)) {
        if (inMove) {
            std::exchange(inMove, nullptr)();
        }
    }
    int value;
    std::function<void()> inMove;
};

TYPED_TEST(OverwriteRingTest, PushesPassAConsumerThatIsStoppedInAMove) {
    typename TestFixture::template Ring<Slow, 2> ring;
    const auto pushSeven = [&] {
        for (int i = 1; i <= 7; ++i) {
            ASSERT_EQ(ring.tryEmplace(i, nullptr), SendResult::ok);
        }
    };
    ASSERT_EQ(ring.tryEmplace(0, pushSeven), SendResult::ok);
    std::vector<int> values;
    const auto note = [&](Slow& message) { values.push_back(message.value); };
    EXPECT_EQ(ring.consume(note), 2U);
    EXPECT_EQ(values, (std::vector<int>{0, 7})) << "the occupied slot counts as one message";
    EXPECT_EQ(ring.dropped(), 6U);
    ring.close();
    EXPECT_TRUE(ring.isDrained());
}

#if defined(__cpp_exceptions)
TYPED_TEST(OverwriteRingTest, ConstructorThatThrowsAddsNothing) {
    typename TestFixture::template Ring<Building, 2> ring;
    ASSERT_EQ(ring.tryEmplace(1), SendResult::ok);
    const auto fail = [] { throw std::runtime_error("no value"); };
    EXPECT_THROW((void)ring.tryEmplace(2, fail), std::runtime_error);
    EXPECT_EQ(ring.sizeApprox(), 1U);
    EXPECT_EQ(ring.tryPop()->value, 1);
    for (int i = 0; i < 9; ++i) {
        EXPECT_THROW((void)ring.tryEmplace(3, fail), std::runtime_error);
    }
    ASSERT_EQ(ring.tryEmplace(4), SendResult::ok);
    EXPECT_EQ(ring.tryPop()->value, 4);
    EXPECT_EQ(ring.tryPop().has_value(), false);
    EXPECT_EQ(ring.dropped(), 0U);
    ring.close();
    EXPECT_TRUE(ring.isDrained());
}

TYPED_TEST(OverwriteRingTest, HandlerThatThrowsConsumesItsMessage) {
    typename TestFixture::template Ring<int, 2> ring;
    ASSERT_EQ(ring.tryPush(1), SendResult::ok);
    ASSERT_EQ(ring.tryPush(2), SendResult::ok);
    EXPECT_THROW(ring.consume([](int&) { throw std::runtime_error("no"); }), std::runtime_error);
    EXPECT_EQ(take(ring), std::vector<int>{2});
    EXPECT_EQ(ring.sizeApprox(), 0U);
}

TEST(OverwriteRingSetUpTest, RefusesCapacityZeroAndAnEighthOfThePositions) {
    EXPECT_THROW((OverwriteRing<int, dynamicCapacity>(0)), std::exception);
    using Dynamic = OverwriteRing<int, dynamicCapacity, Traits<true, ByteTraits>>;
    EXPECT_EQ(Dynamic(31).capacity(), 31U);
    EXPECT_THROW(Dynamic(32), std::exception);
}
#endif

TYPED_TEST(OverwriteRingTest, WaitsInABlockingQueue) {
    BlockingQueue<typename TestFixture::template Ring<int, 2>> queue;
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(queue.push(i), SendResult::ok) << "never waits";
    }
    EXPECT_EQ(queue.pop(), 3);
    EXPECT_EQ(queue.popFor(std::chrono::hours(1)), 4);
    queue.close();
    EXPECT_EQ(queue.pop(), std::nullopt);
    EXPECT_TRUE(queue.drainFor(std::chrono::seconds(0)));
}

TEST(OverwriteRingOneProducerTest, PushTakesNoReadModifyWriteUnlessItDrops) {
    OverwriteRing<int, 4, Traits<false, TracingTraits>> ring;
    WriteTrace::readModifyWrites = 0;
    for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(ring.tryPush(i), SendResult::ok);
    }
    EXPECT_EQ(WriteTrace::readModifyWrites, 0);
    (void)take(ring);
    WriteTrace::readModifyWrites = 0;
    for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(ring.tryPush(i), SendResult::ok);
    }
    EXPECT_EQ(WriteTrace::readModifyWrites, 0) << "also through used slots";
    ASSERT_EQ(ring.tryPush(4), SendResult::ok);
    EXPECT_GT(WriteTrace::readModifyWrites, 0);
}

/// Calls a function behind the publication of a message, as if the producer were preempted there.
struct PublishingPlatform : StdPlatform {
    inline static std::function<void()> onPublish;
    template <class T>
    struct Atomic : std::atomic<T> {
        using std::atomic<T>::atomic;
        bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                     std::memory_order failure) noexcept {
            const bool isDone =
                std::atomic<T>::compare_exchange_strong(expected, desired, success, failure);
            if (isDone && onPublish) {
                std::exchange(onPublish, nullptr)();
            }
            return isDone;
        }
    };
};
struct PublishingTraits : OverwriteRingTraits {
    using Platform = PublishingPlatform;
};

TEST(OverwriteRingManyProducersTest, PushTouchesNothingBehindItsPublication) {
    auto ring = std::make_unique<OverwriteRing<int, 2, PublishingTraits>>();
    PublishingPlatform::onPublish = [&] {
        ring->close();
        EXPECT_EQ(take(*ring), std::vector<int>{7});
        EXPECT_TRUE(ring->isDrained());
        ring.reset();  // ASan reports a later use
    };
    EXPECT_EQ(ring->tryPush(7), SendResult::ok);
}

// A producer is stopped while it builds its message.
TEST(OverwriteRingManyProducersTest, PushesPassAProducerThatIsStoppedInAPush) {
    OverwriteRing<Building, 2> ring;
    ASSERT_EQ(ring.tryEmplace(0), SendResult::ok);
    const auto others = [&] {
        ASSERT_EQ(ring.tryEmplace(2), SendResult::ok);
        EXPECT_EQ(ring.dropped(), 1U) << "message 0";
        EXPECT_FALSE(ring.tryPop().has_value()) << "the push in progress is first";
        ASSERT_EQ(ring.tryEmplace(3), SendResult::ok);
        EXPECT_EQ(ring.tryPop()->value, 2);
        EXPECT_EQ(ring.tryPop()->value, 3);
        for (int i = 4; i <= 8; ++i) {
            ASSERT_EQ(ring.tryEmplace(i), SendResult::ok);
        }
        EXPECT_EQ(ring.tryPop()->value, 8);
    };
    ASSERT_EQ(ring.tryEmplace(1, others), SendResult::ok) << "accepted, and dropped";
    EXPECT_FALSE(ring.tryPop().has_value());
    EXPECT_EQ(ring.dropped(), 6U);
    for (int i = 9; i < 19; ++i) {
        ASSERT_EQ(ring.tryEmplace(i), SendResult::ok);
        ASSERT_EQ(ring.sizeApprox(), i == 9 ? 1U : 2U) << "no slot is left occupied";
    }
    EXPECT_EQ(ring.tryPop()->value, 17);
    EXPECT_EQ(ring.tryPop()->value, 18);
    ring.close();
    EXPECT_TRUE(ring.isDrained());
}

TEST(OverwriteRingManyProducersTest, PushWhoseMessageWasDroppedEndsTheDrain) {
    BlockingQueue<OverwriteRing<Building, 2>, ScriptedWait> queue;
    ScriptedWait* drain = nullptr;
    int notifications = 0;
    const auto others = [&] {
        for (int i = 1; i <= 8; ++i) {
            ASSERT_EQ(queue.tryEmplace(i), SendResult::ok);
        }
        EXPECT_FALSE(queue.drainFor(std::chrono::seconds(0)));
        drain = ScriptedWait::lastWaiter;
        while (queue.tryPop().has_value()) {
        }
        EXPECT_FALSE(queue.isDrained());
        notifications = drain->notifications;
    };
    ASSERT_EQ(queue.tryEmplace(0, others), SendResult::ok);
    EXPECT_TRUE(queue.isDrained());
    EXPECT_GT(drain->notifications, notifications);
}

#if !defined(NDEBUG)
TEST(OverwriteRingDeathTest, ReportsASecondProducer) {
    OverwriteRing<Building, 2, Traits<false>> ring;
    EXPECT_DEATH((void)ring.tryEmplace(1, [&] { (void)ring.tryEmplace(2); }), "second producer");
}
#endif

}  // namespace
}  // namespace sluice
