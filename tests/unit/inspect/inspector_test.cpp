#include "support/crew.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"
#include "unit/bus/bus_doubles.hpp"

#include <sluice/actor/active_object.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/actor/thread_pool.hpp>
#include <sluice/actor/watchdog.hpp>
#include <sluice/event/event_queue.hpp>
#include <sluice/inspect/findings.hpp>
#include <sluice/inspect/inspector.hpp>
#include <sluice/inspect/threads.hpp>
#include <sluice/memory/block_pool.hpp>
#include <sluice/memory/buffer_pool.hpp>
#include <sluice/queue/blocking_queue.hpp>
#include <sluice/queue/mpmc_ring.hpp>
#include <sluice/queue/mpsc_lanes.hpp>
#include <sluice/queue/mpsc_ring.hpp>
#include <sluice/queue/overwrite_ring.hpp>
#include <sluice/queue/segment_queue.hpp>
#include <sluice/queue/spsc_ring.hpp>

#include "support/testing.hpp"
#include <thread>

namespace sluice {
namespace {

using namespace test;
using namespace std::chrono_literals;

/// The readings of an object that alone is watched.
template <class Object>
ObjectReadings readingsOf(const Object& object) {
    Inspector inspector;
    const auto watch = inspector.watch("it", object);
    return inspector.snapshot().objects.at(0);
}

template <char Letter, class T>
struct Key {};

TEST(TypeNameTest, ABracketInANameEndsNoName) {
    EXPECT_EQ((detail::typeName<Key<'>', int>>()), "Key<'>', int>");
    EXPECT_EQ((detail::typeName<Key<']', int>>()), "Key<']', int>");
}

TEST(InspectorTest, ReadsABus) {
    TestBus<24> bus;
    for (int i = 0; i < 7; ++i) {
        (void)bus.publish(Sample{}, Priority::low);
    }
    (void)bus.publish(Alarm{}, Priority::high);
    (void)bus.processWith(overload([](const Alarm&) {}, [](const auto&) {}), 3);
    const ObjectReadings readings = readingsOf(bus);
    const auto statistics = bus.statistics();
    EXPECT_EQ(readings.sum("sluice_bus_queued", "low"), 4U);
    EXPECT_EQ(readings.sum("sluice_bus_published", "low"), 2U);
    EXPECT_EQ(readings.sum("sluice_bus_rejected", "low", "full"), 1U);
    EXPECT_EQ(readings.sum("sluice_bus_delivered"), 3U);
    EXPECT_EQ(readings.sum("sluice_bus_room", "low"), bus.roomOf(Priority::low));
    EXPECT_EQ(readings.sum("sluice_bus_timed", "high"), statistics.times[2].count);
    EXPECT_EQ(readings.sum("sluice_bus_high_water"), statistics.highWater);
    EXPECT_EQ(readings.readings.front().type, "Sample");
}

struct Bare : BareBusTraits {
    static constexpr std::size_t depth = 16;
};
TEST(InspectorTest, ABusWithoutStatisticsIsAQueue) {
    Bus<Messages<Sample>, Bare> bus;
    (void)bus.publish(Sample{});
    const ObjectReadings readings = readingsOf(bus);
    EXPECT_EQ(readings.sum("sluice_queue_length"), 1U);
    EXPECT_EQ(readings.sum("sluice_queue_room"), bus.capacity());
}

namespace one {
struct Same {};
}  // namespace one
namespace two {
struct Same {};
}  // namespace two
TEST(InspectorTest, TypesOfTheSameNameAreToldApart) {
    using List = Messages<one::Same, Sample, two::Same>;
    const auto names = detail::namesOf(static_cast<const List*>(nullptr));
    EXPECT_NE(names[0], names[2]);
    EXPECT_EQ(names[1], "Sample");
}

template <class Queue>
class InspectedQueueTest : public testing::Test {};
using Queues = testing::Types<SpscRing<int, 8>, MpscRing<int, 8>, MpmcRing<int, 8>,
                              OverwriteRing<int, 8>, BlockingQueue<MpmcRing<int, 8>>>;
TYPED_TEST_SUITE(InspectedQueueTest, Queues);

TYPED_TEST(InspectedQueueTest, HasItsLengthAndRoom) {
    TypeParam queue;
    (void)queue.tryPush(1);
    (void)queue.tryPush(2);
    const ObjectReadings readings = readingsOf(queue);
    EXPECT_EQ(readings.sum("sluice_queue_length"), 2U);
    EXPECT_EQ(readings.sum("sluice_queue_room"), queue.capacity());
    EXPECT_EQ(readings.readings.size(),
              (std::is_same_v<TypeParam, OverwriteRing<int, 8>>) ? 3U : 2U);
}

TEST(InspectorTest, ReadsLanesAndQueuesOfSegments) {
    MpscLanes<int> lanes(8);
    SegmentQueue<int> segments;
    (void)segments.tryPush(1);
    EXPECT_EQ(readingsOf(lanes).sum("sluice_queue_length"), 0U);
    EXPECT_EQ(readingsOf(segments).sum("sluice_queue_length"), 1U);
}

TEST(InspectorTest, ReadsAnEventQueue) {
    EventQueue<int, void()> queue;
    queue.enqueue(1);
    queue.enqueue(2);
    (void)queue.processOne();
    const ObjectReadings readings = readingsOf(queue);
    EXPECT_EQ(readings.sum("sluice_events_enqueued"), 2U);
    EXPECT_EQ(readings.sum("sluice_events_processed"), 1U);
    EXPECT_EQ(readings.sum("sluice_events_queued"), 1U);
}

TEST(InspectorTest, ReadsPools) {
    BlockPoolOptions options;
    options.blockSize = 8;
    options.capacity = 4;
    options.isExact = true;
    BlockPool pool(options);
    void* const block = pool.tryAllocate();
    EXPECT_EQ(readingsOf(pool).sum("sluice_pool_used"), 1U);
    EXPECT_EQ(readingsOf(pool).sum("sluice_pool_blocks"), 4U);
    pool.deallocate(block);
}

struct Work {};
struct Timed : ActorTraits {
    static constexpr std::size_t maxTimers = 1;
};
class Active : public ActiveObject<Active, Messages<Work>, Timed> {
public:
    void handle(const Work& /*work*/) {}
};
class Pooled : public PooledObject<Pooled, Messages<Work>> {
public:
    void handle(const Work& /*work*/) {}
};

TEST(InspectorTest, ReadsObjectsAndTheirExecutor) {
    Running<Active> active;
    ThreadPool pool(1);
    Running<Pooled> pooled(pool);
    EXPECT_EQ(readingsOf(pool).sum("sluice_executor_objects"), 1U);
    const Timer timer = active.postAfter(0ms, Work{});
    EXPECT_TRUE(static_cast<bool>(timer));
    awaitThat([&] { return active.firedTimers() == 1; });
    (void)active.post(Work{});
    (void)pooled.post(Work{});
    const auto late = std::chrono::steady_clock::now() + 1min;
    EXPECT_TRUE(active.stopAfterDrain(late));
    EXPECT_TRUE(pooled.stopAfterDrain(late));
    EXPECT_EQ(readingsOf(active).sum("sluice_object_handled"), 2U);
    EXPECT_EQ(readingsOf(active).sum("sluice_object_timers"), 1U);
    EXPECT_EQ(readingsOf(active).sum("sluice_bus_delivered"), 1U);
    EXPECT_EQ(readingsOf(pooled).sum("sluice_object_handled"), 1U);
    EXPECT_EQ(readingsOf(pooled).sum("sluice_object_room"), pooled.capacity());
}

struct Bridge {
    struct Statistics {
        template <class F>
        void forEach(F&& f) const {
            f("sent", std::uint64_t{3});
        }
    };
    static Statistics statistics() { return {}; }
};

TEST(InspectorTest, ReadsBridgesAndFunctions) {
    const ObjectReadings bridge = readingsOf(Bridge{});
    EXPECT_EQ(bridge.readings.at(0).type, "sent");
    Inspector inspector;
    const auto watch =
        inspector.watch("stove", [](ObjectReadings& out) { out.gauge("heat", "Heat.", 42); });
    EXPECT_EQ(inspector.snapshot().objects.at(0).sum("heat"), 42U);
}

#if defined(__cpp_exceptions)
TEST(InspectorTest, AFunctionThatThrowsIsCounted) {
    Inspector inspector;
    bool isHot = true;
    const auto watch = inspector.watch("stove", [&](ObjectReadings& out) {
        out.gauge("heat", "Heat.", 42);
        if (isHot) {
            throw std::runtime_error("too hot");
        }
    });
    const Snapshot first = inspector.snapshot();
    EXPECT_EQ(first.objects.at(0).sum("sluice_object_read_failures"), 1U);
    Snapshot second = inspector.snapshot();
    second.time = first.time + 1s;
    const std::vector<Finding> found = findings(first, second);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].text, "1.0 readings/s throw: its numbers are not whole");
    isHot = false;
    const Snapshot third = inspector.snapshot();
    EXPECT_EQ(third.objects.at(0).sum("sluice_object_read_failures"), 2U);
    EXPECT_EQ(third.objects.at(0).sum("heat"), 42U);
}
#endif

TEST(InspectorTest, ReadingsOwnTheirTexts) {
    std::string text(40, 'p');  // of a plugin, which is unloaded
    Inspector inspector;
    const auto watch = inspector.watch("it", [&text](ObjectReadings& out) {
        out.counter(text, text, 1, {}, std::string(40, 'p'));
    });
    const Snapshot snapshot = inspector.snapshot();
    text.assign(40, 'x');
    EXPECT_EQ(snapshot.objects.at(0).sum(std::string(40, 'p'), std::string(40, 'p')), 1U);
}

TEST(InspectorTest, ANameThatIsTakenGetsANumber) {
    const SpscRing<int, 8> queue{};
    Inspector inspector;
    const auto first = inspector.watch("q", queue);
    auto second = inspector.watch("q", queue);
    EXPECT_EQ(inspector.snapshot().objects.at(1).name, "q 2");
    second.end();
    second.end();
    EXPECT_EQ(inspector.snapshot().objects.size(), 1U);
    second = inspector.watch("q", queue);
    EXPECT_EQ(inspector.snapshot().objects.at(1).id, 3U);
}

TEST(InspectorTest, TwoInspectorsShareNothingAndAWatchMayOutliveItsOwn) {
    const SpscRing<int, 8> queue{};
    auto one = std::make_unique<Inspector>();
    const Inspector other;
    const auto watch = one->watch("q", queue);
    EXPECT_EQ(other.snapshot().objects.size(), 0U);
    one.reset();
}

template <class Object>
using ResultOfWatch = decltype(std::declval<Inspector&>().watch("", std::declval<Object>()));
template <class Object, class = void>
constexpr bool canWatch = false;
template <class Object>
constexpr bool canWatch<Object, std::void_t<ResultOfWatch<Object>>> = true;
static_assert(canWatch<const SpscRing<int, 8>&> && canWatch<SpscRing<int, 8>&>);
static_assert(!canWatch<SpscRing<int, 8>>, "an object that goes away at once");
static_assert(!std::is_copy_constructible_v<Inspector::Watch>, "end() removes the object");

/// Notices when it is read after its watch has ended.
class Going {
public:
    explicit Going(std::atomic<std::uint64_t>& lateReads) : lateReads_(lateReads) {}
    [[nodiscard]] std::size_t sizeApprox() const {
        reads_.fetch_add(1);
        std::this_thread::yield();
        lateReads_.fetch_add(hasGone_.load() ? 1 : 0);
        return 0;
    }
    [[nodiscard]] static std::size_t capacity() { return 8; }
    void go() { hasGone_.store(true); }
    [[nodiscard]] std::uint64_t reads() const { return reads_.load(); }

private:
    std::atomic<std::uint64_t>& lateReads_;
    mutable std::atomic<std::uint64_t> reads_{0};
    std::atomic<bool> hasGone_{false};
};

// Two threads take snapshots while objects come and go.
TEST(InspectorTest, AnObjectIsNotReadAfterTheEndOfItsWatch) {
    std::atomic<std::uint64_t> lateReads{0};
    std::vector<std::unique_ptr<Going>> gone;
    std::atomic<bool> isOver{false};
    Inspector inspector;
    std::atomic<std::size_t> ended{0};
    const test::Watchdog patience(
        [&](std::FILE* out) { std::fprintf(out, "%zu watches ended\n", ended.load()); });
    Crew crew;
    for (int reader = 0; reader < 2; ++reader) {
        crew.add([&] {
            while (!isOver.load()) {
                (void)inspector.snapshot();
            }
        });
    }
    crew.start();
    for (std::size_t i = 0; i < scaled(2000); ++i) {
        Going& object = *gone.emplace_back(std::make_unique<Going>(lateReads));
        {
            const auto watch = inspector.watch("it", object);
            awaitThat([&] { return object.reads() != 0; });
        }
        object.go();
        ended.fetch_add(1);
    }
    isOver.store(true);
    crew.join();
    EXPECT_EQ(lateReads.load(), 0U);
}

// ---- Findings

/// Two snapshots, a second apart.
class FindingsTest : public testing::Test {
protected:
    FindingsTest() {
        before_.time = std::chrono::steady_clock::time_point(1h);
        now_.time = before_.time + 1s;
        before_.objects.push_back({1, "it", {}});
        now_.objects.push_back({1, "it", {}});
    }
    ObjectReadings& before() { return before_.objects[0]; }
    ObjectReadings& now() { return now_.objects[0]; }
    [[nodiscard]] std::vector<std::string> texts() const {
        std::vector<std::string> texts;
        for (const Finding& each : findings(before_, now_)) {
            texts.push_back((each.isFault ? "! " : "? ") + each.object + ": " + each.text);
        }
        return texts;
    }
    using Texts = std::vector<std::string>;

    Snapshot before_;
    Snapshot now_;
};

TEST_F(FindingsTest, ARefusedPriorityNamesItsCause) {
    before().counter("sluice_bus_rejected", "", 100, "Scan", "low", "full");
    now().counter("sluice_bus_rejected", "", 350, "Scan", "low", "full");
    now().counter("sluice_bus_queued", "", 120, {}, "low");
    now().counter("sluice_bus_room", "", 120, {}, "low");
    now().counter("sluice_bus_timed", "", 200, {}, "low");
    now().counter("sluice_bus_queue_time_seconds", "", 800'000'000, {}, "low");
    now().counter("sluice_object_handled", "", 200);
    now().counter("sluice_object_handler_seconds", "", 960'000'000);
    EXPECT_EQ(texts(),
              Texts{"! it: low is refused: 250 messages/s found no room, 120 of 120 "
                    "places are taken now, messages wait 4.0 ms on average: its handlers take "
                    "96 % of its thread's time, 4.8 ms for a message"});
}

TEST_F(FindingsTest, ABusyHandlerIsAWarning) {
    now().counter("sluice_object_handled", "", 10);
    now().counter("sluice_object_handler_seconds", "", 900'000'000);
    EXPECT_EQ(texts(), Texts{"? it: its handlers take 90 % of its thread's time, 90 ms for a "
                             "message"});
    before().counter("sluice_object_handled", "", 10);  // the one that ends has begun before
    EXPECT_EQ(texts(), Texts{"? it: its handlers take 90 % of its thread's time"});
}

TEST_F(FindingsTest, FullQueuesAndLosses) {
    now().counter("sluice_queue_length", "", 64);
    now().counter("sluice_queue_room", "", 64);
    now().counter("sluice_queue_dropped", "", 3);
    now().counter("sluice_log_dropped", "", 2);
    now().counter("sluice_watchdog_late", "", 1, "motor");
    EXPECT_EQ(texts(),
              (Texts{"? it: full: 64 of 64 messages wait", "! it: 3.0 old messages/s are dropped",
                     "! it: 2.0 old records/s are dropped",
                     "! it: a handler of 'motor' has not returned in time"}));
}

TEST_F(FindingsTest, WhatHappenedBeforeIsNoFinding) {
    before().counter("sluice_queue_dropped", "", 3);
    now().counter("sluice_queue_dropped", "", 3);
    EXPECT_EQ(texts(), Texts{});
    now_.time = before_.time;
    before().readings.clear();
    EXPECT_EQ(texts(), Texts{}) << "no time has passed";
}

TEST_F(FindingsTest, AThreadWithoutAPause) {
    now().counter("sluice_thread_cpu_seconds", "", 5'950'000'000, "laser 7");
    EXPECT_EQ(texts(), Texts{}) << "the time before the watch does not count";
    before().counter("sluice_thread_cpu_seconds", "", 5'000'000'000, "old name 7");
    EXPECT_EQ(texts(), Texts{}) << "nor the time under an earlier name";
    before().counter("sluice_thread_cpu_seconds", "", 5'000'000'000, "laser 7");
    EXPECT_EQ(texts(), Texts{"? it: thread laser 7 takes 95 % of a processor"});
}

#if defined(__linux__)
TEST(InspectorTest, ReadsTheThreadsOfTheProgram) {
    const ObjectReadings before = readingsOf(readThreads);
    EXPECT_GE(before.sum("sluice_thread_state", {}, "R"), 1U) << "the caller runs";
    const char* const cpu = "sluice_thread_cpu_seconds";
    awaitThat([&] { return readingsOf(readThreads).sum(cpu) > before.sum(cpu); });
}
#endif

// A later object of the same name begins with zero.
TEST_F(FindingsTest, ObjectsAreComparedByTheirWatch) {
    before().counter("sluice_queue_dropped", "", 30);
    now().counter("sluice_queue_dropped", "", 2);
    now().id = 2;
    EXPECT_EQ(texts(), Texts{"! it: 2.0 old messages/s are dropped"});
}

}  // namespace
}  // namespace sluice
