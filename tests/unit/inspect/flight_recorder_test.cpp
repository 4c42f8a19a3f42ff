#include <sluice/bus.hpp>
#include <sluice/inspect/flight_recorder.hpp>

#include "support/testing.hpp"

#include <algorithm>
#include <thread>

#if SLUICE_HAS_POSIX
#include <support/temporary_folder.hpp>

#include <sys/stat.h>
#endif

namespace {

using namespace sluice;
using namespace std::chrono_literals;

struct Scan {
    int number;
};
struct Stop {};

struct TracedTraits : FullBusTraits {
    using Trace = FlightTrace;
    static constexpr std::size_t depth = 8;
    static constexpr std::array<Overflow, priorityCount> overflow{
        Overflow::dropOldest, Overflow::reject, Overflow::reject};
};
using TracedBus = Bus<Messages<Scan, Stop>, TracedTraits>;

std::size_t countOf(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

/// Three publications, one of them an overtaking stop; a refusal, a drop and a discarded message.
void play(TracedBus& bus) {
    const auto scans = bus.subscribe<Scan>([](const Scan&) {});
    const auto stops = bus.subscribe<Stop>([](const Stop&) {});
    (void)bus.publish(Scan{1});
    (void)bus.publish(Scan{2});
    (void)bus.publish(Stop{}, Priority::high);
    bus.process();
    for (int i = 0; i < 7; ++i) {
        (void)bus.publish(Scan{i});  // room for six
    }
    bus.process();
    for (int i = 0; i < 5; ++i) {
        (void)bus.publish(Scan{i}, Priority::low);  // room for four
    }
    bus.stop();
    bus.process();
}

TEST(FlightRecorder, RecordsEachStepOfAMessage) {
    FlightRecorder recorder;
    TracedBus bus;
    EXPECT_EQ(countOf(recorder.perfetto(), "Scan"), 0U);
    (void)bus.publish(Scan{0});  // not recorded
    bus.process();
    recorder.start(bus, "control");
    play(bus);
    const std::string trace = recorder.perfetto();
    EXPECT_EQ(countOf(trace, "publish Scan"), 2U + 6U + 5U);
    EXPECT_EQ(countOf(trace, "publish Stop"), 1U);
    EXPECT_EQ(countOf(trace, "refused Scan"), 1U);
    EXPECT_EQ(countOf(trace, "dropped Scan"), 5U);
    EXPECT_EQ(countOf(trace, "Scan"), 2U + 6U + 5U + 1U + 5U + 8U);
    EXPECT_EQ(countOf(recorder.perfetto(0ns), "Scan"), 0U);
}

struct OneProducerTraits : FullBusTraits {
    using Trace = FlightTrace;
    static constexpr Producers producers = Producers::one;
    static constexpr bool expiry = true;
};

TEST(FlightRecorder, RecordsEachKindOfPublication) {
    FlightRecorder recorder;
    Bus<Messages<Scan, Stop>, OneProducerTraits> bus;
    recorder.start(bus, "control");
    const std::vector<Scan> scans(3);
    EXPECT_EQ(bus.publishAll(scans.begin(), scans.end()), 3U);
    EXPECT_EQ(bus.emplace<Scan>(4), SendResult::ok);
    auto loan = sluice::loan<Scan>(bus);
    ASSERT_TRUE(static_cast<bool>(loan));
    loan->number = 5;
    loan.publish();
    const ExpiringOptions<> past{{}, std::chrono::steady_clock::now() - 1s};
    EXPECT_EQ(bus.publish(Stop{}, past), SendResult::ok);
    bus.processWith([](const auto&) {});
    const std::string trace = recorder.perfetto();
    EXPECT_EQ(countOf(trace, "publish Scan"), 5U);
    EXPECT_EQ(countOf(trace, "dropped Stop"), 1U);
    EXPECT_EQ(countOf(trace, "Scan"), 10U);
}

TEST(FlightRecorder, ThreadsBeginAndEndDuringADump) {
    using detail::TraceRings;
    auto& rings = *new TraceRings(4);
    TraceRings::Slot& first = rings.enroll(nullptr);
    TraceRings::Slot& second = rings.enroll(nullptr);
    first.ring.add(1, 1);
    second.ring.add(2, 2);
    std::vector<std::uint64_t> ticks;
    rings.forEach([&](const detail::TraceThread&, const std::vector<detail::TraceEvent>& events) {
        std::for_each(events.begin(), events.end(),
                      [&](auto& each) { ticks.push_back(each.tick); });
        TraceRings::dismiss(second);
        rings.enroll(nullptr).ring.add(3, 3);  // of the next thread in this ring
    });
    EXPECT_EQ(ticks, std::vector<std::uint64_t>{1}) << "not those of another thread";
    TraceRings::dismiss(first);
    TraceRings::dismiss(second);
    rings.abandon();
}

TEST(FlightRecorder, TheLastEventsOfEachThreadRemain) {
    FlightRecorder recorder(8);
    TracedBus bus;
    recorder.start(bus, "control");
    std::thread([&] {
        for (int i = 0; i < 100; ++i) {
            (void)bus.publish(Scan{i});
            bus.process();
        }
    }).join();
    // Seven events: the slot of the eighth may be half overwritten. The end of a slice has no name.
    EXPECT_EQ(countOf(recorder.perfetto(), "Scan"), 4U);
    std::thread([&] {  // reuses the ring, without the events of the first thread
        (void)bus.publish(Stop{});
        bus.process();
    })
        .join();
    EXPECT_EQ(countOf(recorder.perfetto(), "Scan"), 0U);
    EXPECT_EQ(countOf(recorder.perfetto(), "Stop"), 2U);
}

// Views would point into a plugin, which may be unloaded after stop().
static_assert(std::is_same_v<decltype(detail::TraceSource::types), std::vector<std::string>>);

TEST(FlightRecorder, StopAndEndLeaveTheBusWhole) {
    TracedBus bus;
    std::string trace;
    {
        FlightRecorder recorder;
        recorder.start(bus, "control");
        (void)bus.publish(Scan{1});
        FlightRecorder::stop(bus);
        trace = recorder.perfetto();
    }
    EXPECT_EQ(bus.process(), 1U);
    EXPECT_EQ(countOf(trace, "Scan"), 1U);
}

#if SLUICE_HAS_POSIX
TEST(FlightRecorder, WritesOnlyNewFilesForTheirOwner) {
    const test::TemporaryFolder folder;
    const std::string path = folder / "trace";
    FlightRecorder recorder;
    EXPECT_TRUE(recorder.write(path));
    struct stat about {};
    ASSERT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0600U);
    EXPECT_FALSE(recorder.write(path));
    EXPECT_FALSE(recorder.write("/dev/full"));
}
#endif

/// Each message keeps its events whole while they are overwritten and copied.
TEST(FlightRecorder, CopiesWhileThreadsRecord) {
    FlightRecorder recorder(64);
    auto bus = std::make_unique<TracedBus>();
    recorder.start(*bus, "control");
    std::atomic<bool> isOver{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
        threads.emplace_back([&] {
            while (!isOver) {
                (void)bus->publish(Scan{1});
                (void)bus->publish(Stop{}, Priority::high);
            }
        });
    }
    threads.emplace_back([&] { bus->run(); });
    for (int filled = 0; filled < 50;) {
        const std::size_t count = countOf(recorder.perfetto(), "Scan");
        EXPECT_LE(count, 3U * 64U);
        filled += count > 32 ? 1 : 0;
    }
    isOver = true;
    bus->close();
    for (std::thread& each : threads) {
        each.join();
    }
}

#if defined(SLUICE_RECORD_PYTHON)
TEST(FlightRecorder, TheOfficialClassesReadTheTrace) {
    const test::TemporaryFolder folder;
    FlightRecorder recorder;
    TracedBus bus;
    recorder.start(bus, "control");
    std::thread([&] { play(bus); }).join();
    ASSERT_TRUE(recorder.write(folder / "trace"));
    EXPECT_EQ(
        std::system((SLUICE_RECORD_PYTHON " " SLUICE_TRACE_SCRIPT " " + folder / "trace").c_str()),
        0);
}
#endif

}  // namespace
