#include "support/crew.hpp"
#include "support/record_queue_tools.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/detail/lanes/record_queue.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

// record_queue_random_test.cpp compares limits, policies and contents with a model.

namespace sluice::test {
namespace {

using log::thread_statistics;
using log::detail::endOfTime;
using log::detail::RecordQueueOptions;
using log::detail::RecordQueueStatistics;
using log::detail::Stamp;

using RecordQueue = LabelQueue<>;
using Numbers = std::vector<std::uint32_t>;

RecordQueueOptions limits(std::size_t messages, std::size_t bytes = 1 << 16) {
    RecordQueueOptions options;
    options.laneMessages = messages;
    options.laneBytes = bytes;
    return options;
}

TEST(RecordQueue, EmitsWhatWasPostedWithHeadAndPayload) {
    RecordQueue queue;
    ASSERT_EQ(postText(queue, {7, 1}, "hello"), SendResult::ok);
    ASSERT_EQ(postText(queue, {7, 2}, ""), SendResult::ok);
    const auto all = emitAll(queue);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].label, (Label{7, 1}));
    EXPECT_EQ(all[0].payload, "hello");
    EXPECT_EQ(all[1].payload, "");
    EXPECT_LE(all[0].stamp, all[1].stamp);
    EXPECT_TRUE(emitAll(queue).empty());
}

// The ring has a megabyte; what no record has touched takes no memory.
TEST(RecordQueue, AThreadThatLogsLittleUsesLittleOfItsRing) {
    RecordQueue queue(limits(8192, 1 << 20));
    const std::byte* lowest = nullptr;
    const std::byte* highest = nullptr;
    for (std::uint32_t i = 0; i < 20000; ++i) {
        ASSERT_EQ(postBytes(queue, {0, i}, 100, blocking), SendResult::ok);
        queue.poll();
        ASSERT_EQ(queue.emitBefore(endOfTime, 10,
                                   [&](const RecordQueue::Record& record) {
                                       EXPECT_EQ(record.head.number, i);
                                       lowest = i == 0 ? record.payload
                                                       : std::min(lowest, record.payload);
                                       highest = std::max(highest, record.payload);
                                   }),
                  1U);
    }
    EXPECT_LT(highest - lowest, 1 << 16);
    EXPECT_EQ(queue.statistics().bytes, 0U);
}

TEST(RecordQueue, ALaneWithRecordsDoesNotBeginAgain) {
    RecordQueue queue(limits(8192, 1 << 16));
    for (std::uint32_t i = 0; i < 50; ++i) {  // several steps of a lane
        ASSERT_EQ(postBytes(queue, {0, i}, 1000, blocking), SendResult::ok);
    }
    const auto all = emitAll(queue);
    ASSERT_EQ(all.size(), 50U);
    for (std::uint32_t i = 0; i < 50; ++i) {
        EXPECT_EQ(all[i].label.number, i);
    }
}

TEST(RecordQueue, HeadAndPayloadLieAtMultiplesOfEight) {
    struct Odd {
        char letters[5];
    };
    log::detail::RecordQueue<Odd> queue;
    for (std::size_t size = 0; size < 20; ++size) {
        ASSERT_EQ(queue.post(Odd{}, size, blocking, [](std::byte*) noexcept {}), SendResult::ok);
    }
    queue.poll();
    std::size_t size = 0;
    queue.emitBefore(endOfTime, 100, [&size](const log::detail::Record<Odd>& record) {
        EXPECT_EQ(record.size, size++);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(record.payload) % 8, 0U);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&record.head) % 8, 0U);
    });
    EXPECT_EQ(size, 20U);
}

TEST(RecordQueue, EmitsNothingThatWasNotLookedAt) {
    RecordQueue queue;
    queue.poll();
    ASSERT_EQ(postText(queue, {0, 1}, "late"), SendResult::ok);
    EXPECT_EQ(queue.emitBefore(endOfTime, 10, [](const RecordQueue::Record&) {}), 0U);
    EXPECT_EQ(emitAll(queue).size(), 1U);
}

// What emit() was given stays as it is until the call returns, so that runs can be gathered.
TEST(RecordQueue, RecordsStayValidUntilTheCallReturns) {
    for (const auto policy : {blocking, dropping}) {
        RecordQueue queue(limits(16));
        for (std::uint32_t i = 0; i < 40; ++i) {
            if (i % 10 == 0) {
                emitAll(queue);
            }
            ASSERT_EQ(postText(queue, {0, i}, std::to_string(i), policy), SendResult::ok);
        }
        queue.poll();
        std::vector<std::pair<const char*, std::string>> seen;
        queue.emitBefore(endOfTime, 100, [&seen](const RecordQueue::Record& record) {
            const auto* const text = reinterpret_cast<const char*>(record.payload);
            seen.emplace_back(text, std::string(text, record.size));
            for (const auto& [place, was] : seen) {
                ASSERT_EQ(std::string(place, was.size()), was);
            }
        });
        EXPECT_EQ(seen.size(), 10U);
    }
}

TEST(RecordQueue, DropsWhatIsLeftWhenItEnds) {
    for (const auto policy : {blocking, dropping}) {
        RecordQueue queue(limits(8, 512));
        ASSERT_EQ(postText(queue, {0, 0}, std::string(10'000, 'x'), policy), SendResult::ok);
        ASSERT_EQ(postText(queue, {0, 1}, "small", policy), SendResult::ok);
        if (policy == dropping) {
            (void)postText(queue, {0, 1}, std::string(10'000, 'x'), policy);
            ASSERT_EQ(postText(queue, {0, 1}, std::string(10'000, 'x'), policy), SendResult::ok);
        }
        queue.poll();
    }
}

TEST(RecordQueue, CountsWhatItCarries) {
    RecordQueue queue(limits(4));
    for (std::uint32_t i = 0; i < 6; ++i) {
        (void)postText(queue, {0, i}, "text", rejecting);
    }
    RecordQueueStatistics sum = queue.statistics();
    EXPECT_EQ(sum.logged, 4U);
    EXPECT_EQ(sum.rejected, 2U);
    EXPECT_EQ(sum.messages, 4U);
    EXPECT_EQ(sum.lanes, 1U);
    EXPECT_GT(sum.bytes, 0U);
    emitAll(queue);
    std::vector<thread_statistics> lanes;
    sum = queue.statistics([&lanes](const thread_statistics& lane) { lanes.push_back(lane); });
    EXPECT_EQ(sum.emitted, 4U);
    EXPECT_EQ(sum.messages, 0U);
    EXPECT_EQ(sum.bytes, 0U);
    EXPECT_EQ(sum.high_water_messages, 4U);
    ASSERT_EQ(lanes.size(), 1U);
    EXPECT_EQ(lanes[0].logged, 4U);
    EXPECT_EQ(lanes[0].rejected, 2U);
    EXPECT_EQ(lanes[0].high_water_messages, 4U);
    EXPECT_EQ(lanes[0].high_water_bytes, sum.high_water_bytes);
    EXPECT_EQ(lanes[0].thread_id, log::detail::thisThread().threadId);
}

TEST(RecordQueue, CountersOfDroppedRecordsCanBeReset) {
    RecordQueue queue(limits(1));
    const auto post = [&queue](auto policy) { (void)postText(queue, {0, 0}, "text", policy); };
    post(rejecting);
    post(rejecting);
    post(rejecting);
    post(dropping);
    EXPECT_EQ(queue.rejected(), 2U);
    EXPECT_EQ(queue.dropped(), 1U);
    queue.resetRejected();
    EXPECT_EQ(queue.rejected(), 0U);
    EXPECT_EQ(queue.dropped(), 1U);
    post(rejecting);
    post(dropping);
    queue.resetDropped();
    EXPECT_EQ(queue.rejected(), 1U);
    EXPECT_EQ(queue.dropped(), 0U);
    EXPECT_EQ(queue.statistics().rejected, 3U);
    EXPECT_EQ(queue.statistics().dropped, 2U);
}

TEST(RecordQueue, ACallbackMayPost) {
    RecordQueue queue;
    const auto write = [&queue](std::byte*) noexcept {
        EXPECT_EQ(postText(queue, {0, 2}, "inner"), SendResult::ok);
    };
    ASSERT_EQ(queue.post({0, 1}, 0, blocking, write), SendResult::ok);
    queue.poll();
    Numbers numbers;
    queue.emitBefore(endOfTime, 10, [&](const RecordQueue::Record& record) {
        numbers.push_back(record.head.number);
        if (record.head.number == 1) {
            EXPECT_EQ(postText(queue, {0, 3}, "from a sink"), SendResult::ok);
        }
    });
    EXPECT_EQ(numbers, (Numbers{2, 1}));
    EXPECT_EQ(numbersOf(emitAll(queue)), Numbers{3});
}

// The calling thread holds the shared lane when it needs it again.
TEST(RecordQueue, ACallbackOfACallbackIsRejected) {
    RecordQueue queue;
    const auto innermost = [](std::byte*) noexcept { ADD_FAILURE() << "there is no room for it"; };
    const auto inner = [&](std::byte*) noexcept {
        EXPECT_EQ(queue.post({0, 3}, 0, blocking, innermost), SendResult::full);
    };
    const auto outer = [&](std::byte*) noexcept {
        EXPECT_EQ(queue.post({0, 2}, 0, blocking, inner), SendResult::ok);
    };
    ASSERT_EQ(queue.post({0, 1}, 0, blocking, outer), SendResult::ok);
    EXPECT_EQ(numbersOf(emitAll(queue)), (Numbers{2, 1}));
    EXPECT_EQ(queue.statistics().rejected, 1U);
}

TEST(RecordQueue, RefusesPostsAfterClose) {
    RecordQueue queue;
    ASSERT_EQ(postText(queue, {0, 1}, "before"), SendResult::ok);
    EXPECT_FALSE(queue.isDrained());
    queue.close();
    for (const auto policy : {blocking, dropping, rejecting}) {
        EXPECT_EQ(postText(queue, {0, 2}, "after", policy), SendResult::closed);
        EXPECT_EQ(postText(queue, {0, 2}, std::string(2 << 20, 'x'), policy), SendResult::closed);
    }
    std::thread([&queue] {
        EXPECT_EQ(postText(queue, {0, 3}, "on another thread"), SendResult::closed);
    }).join();
    EXPECT_EQ(numbersOf(emitAll(queue)), Numbers{1});
    queue.poll();
    EXPECT_TRUE(queue.isDrained());
}

TEST(RecordQueue, IsDrainedOnlyWhenTheLastRecordIsOut) {
    RecordQueue queue;
    ASSERT_EQ(postText(queue, {0, 1}, "text"), SendResult::ok);
    queue.close();
    EXPECT_FALSE(queue.isDrained());
    queue.poll();
    EXPECT_FALSE(queue.isDrained());
    queue.emitBefore(endOfTime, 10, [](const RecordQueue::Record&) {});
    EXPECT_TRUE(queue.isDrained());
}

TEST(RecordQueue, WaitForWorkEndsWithWorkAndWithTime) {
    using namespace std::chrono_literals;
    RecordQueue queue;
    const Watchdog watchdog(stateOf(queue));
    using Clock = StdPlatform::Clock;
    EXPECT_TRUE(queue.waitForWork(Clock::now() + 10min));  // the lanes that nobody has looked at
    queue.poll();
    EXPECT_FALSE(queue.waitForWork(Clock::now() + 1ms));
    ASSERT_EQ(postText(queue, {0, 1}, "text"), SendResult::ok);
    EXPECT_TRUE(queue.waitForWork(Clock::now() + 10min));
    queue.poll();
    EXPECT_TRUE(queue.waitForWork(Clock::now() + 10min)) << "a record has not been emitted";
    emitAll(queue);
    EXPECT_FALSE(queue.waitForWork(Clock::now() + 1ms));
    queue.wake();
    EXPECT_TRUE(queue.waitForWork(Clock::now() + 10min));
    EXPECT_FALSE(queue.waitForWork(Clock::now() + 1ms));
}

TEST(RecordQueue, APostWakesTheBackEnd) {
    RecordQueue queue;
    const Watchdog watchdog(stateOf(queue));
    emitAll(queue);
    std::thread producer([&queue] {
        for (std::uint32_t i = 0; i < 200; ++i) {
            std::this_thread::sleep_for(std::chrono::microseconds(100 * (i % 4)));
            ASSERT_EQ(postText(queue, {0, i}, "text"), SendResult::ok);
        }
    });
    for (std::size_t count = 0; count < 200;) {
        static_cast<void>(queue.waitForWork(StdPlatform::Clock::time_point::max()));
        count += emitAll(queue).size();
    }
    producer.join();
}

struct CountingFence : AsymmetricFence {
    static void heavy() noexcept {
        ++calls;
        AsymmetricFence::heavy();
    }

    inline static std::size_t calls = 0;  ///< by the only thread of the test
};

struct CountingTraits : log::detail::RecordQueueTraits {
    struct Platform : StdPlatform {
        using Fence = CountingFence;
    };
};

TEST(RecordQueue, ASleepAfterASleepInterruptsNoOtherProcessor) {
    using Clock = StdPlatform::Clock;
    const auto sleep = [](LabelQueue<CountingTraits>& queue) {
        const std::size_t before = CountingFence::calls;
        EXPECT_FALSE(queue.waitForWork(Clock::now() + std::chrono::milliseconds(1)));
        return CountingFence::calls - before;
    };
    LabelQueue<CountingTraits> queue;
    queue.poll();
    EXPECT_EQ(sleep(queue), 1U) << "posts have to learn that they must wake the back end";
    EXPECT_EQ(sleep(queue), 0U);
    ASSERT_EQ(postText(queue, {0, 1}, "text"), SendResult::ok);
    emitAll(queue);
    EXPECT_EQ(sleep(queue), 0U);
    queue.expectNoWake();
    EXPECT_EQ(sleep(queue), 1U);
}

// ---- no room

class RecordQueueLimits : public testing::TestWithParam<std::size_t> {};

TEST_P(RecordQueueLimits, BlockWaitsForRoom) {
    const auto limit = static_cast<std::uint32_t>(GetParam());
    constexpr std::uint32_t total = 300;
    RecordQueue queue(limits(limit));
    const Watchdog watchdog(stateOf(queue));
    std::atomic<std::uint32_t> posted{0};
    std::thread producer([&] {
        for (std::uint32_t i = 1; i <= total; ++i) {
            ASSERT_EQ(postText(queue, {0, i}, "text"), SendResult::ok);
            posted.store(i);
        }
    });
    awaitThat([&] { return posted.load() >= limit; });
    std::uint32_t emitted = 0;
    while (emitted < total) {
        for (const Emitted& record : emitAll(queue)) {
            EXPECT_EQ(record.label.number, ++emitted);
        }
        EXPECT_LE(posted.load(), emitted + limit);
    }
    producer.join();
    EXPECT_LE(queue.statistics().high_water_messages, limit);
    EXPECT_EQ(queue.statistics().rejected, 0U);
}

INSTANTIATE_TEST_SUITE_P(Limits, RecordQueueLimits, testing::Values(1, 2, 3, 4, 7, 64));

// The back end uses the records of a lane in place until it has heard of evictions. A thread that
// overruns just then loses the new record instead, and counts it.
TEST(RecordQueue, TheFirstOverrunThatNobodyExpectsMayMeetRecordsInUse) {
    RecordQueue queue(limits(2));
    ASSERT_EQ(postText(queue, {0, 1}, "text", blocking), SendResult::ok);
    ASSERT_EQ(postText(queue, {0, 2}, "text", blocking), SendResult::ok);
    std::atomic<bool> isInUse{false};
    std::atomic<bool> go{false};
    std::thread backEnd([&] {
        queue.poll();
        queue.emitBefore(endOfTime, 10, [&](const RecordQueue::Record&) {
            isInUse.store(true);
            awaitThat([&] { return go.load(); });
        });
    });
    awaitThat([&] { return isInUse.load(); });
    EXPECT_EQ(postText(queue, {0, 3}, "text", dropping), SendResult::full);
    go.store(true);
    backEnd.join();
    EXPECT_EQ(postText(queue, {0, 4}, "text", dropping), SendResult::ok);
    EXPECT_EQ(postText(queue, {0, 5}, "text", dropping), SendResult::ok);
    EXPECT_EQ(postText(queue, {0, 6}, "text", dropping), SendResult::ok);
    EXPECT_EQ(numbersOf(emitAll(queue)), (Numbers{5, 6}));
    const auto sum = queue.statistics();
    EXPECT_EQ(sum.rejected, 1U);
    EXPECT_EQ(sum.dropped, 1U);
}

TEST(RecordQueue, CloseWakesBlockedProducers) {
    RecordQueue queue(limits(2));
    const Watchdog watchdog(stateOf(queue));
    std::atomic<int> closed{0};
    std::atomic<int> full{0};
    Crew crew;
    for (std::uint32_t t = 0; t < 4; ++t) {
        crew.add([&, t] {
            for (std::uint32_t i = 0;; ++i) {
                if (i == 2) {
                    full.fetch_add(1);
                }
                if (postText(queue, {t, i}, "text") == SendResult::closed) {
                    EXPECT_EQ(i, 2U);
                    closed.fetch_add(1);
                    return;
                }
            }
        });
    }
    crew.start();
    awaitThat([&] { return full.load() == 4; });
    queue.close();
    crew.join();
    EXPECT_EQ(closed.load(), 4);
    EXPECT_EQ(emitAll(queue).size(), 8U);
}

}  // namespace
}  // namespace sluice::test
