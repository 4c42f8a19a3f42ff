#include "support/record_queue_tools.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/detail/lanes/record_queue.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

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

TEST(RecordQueue, EmitsWhatWasPostedWithHeadPayloadAndThread) {
    RecordQueue queue;
    ASSERT_EQ(postText(queue, {7, 1}, "hello"), SendResult::ok);
    ASSERT_EQ(postText(queue, {7, 2}, ""), SendResult::ok);
    const auto all = harvest(queue);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].label, (Label{7, 1}));
    EXPECT_EQ(all[0].payload, "hello");
    EXPECT_EQ(all[1].payload, "");
    EXPECT_LE(all[0].stamp, all[1].stamp);
    EXPECT_EQ(all[0].threadId, log::detail::thisThread().threadId);
    EXPECT_TRUE(harvest(queue).empty());
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
    const auto all = harvest(queue);
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
    EXPECT_EQ(harvest(queue).size(), 1U);
}

TEST(RecordQueue, EmitsBelowALimitOnly) {
    RecordQueue queue;
    ASSERT_EQ(postText(queue, {0, 1}, "before"), SendResult::ok);
    const Stamp moment = queue.now();
    ASSERT_EQ(postText(queue, {0, 2}, "after"), SendResult::ok);
    EXPECT_EQ(numbersOf(harvest(queue, moment)), Numbers{1});
    EXPECT_EQ(numbersOf(harvest(queue)), Numbers{2});
}

TEST(RecordQueue, EmitsAtMostSoMany) {
    RecordQueue queue;
    for (std::uint32_t i = 0; i < 10; ++i) {
        ASSERT_EQ(postText(queue, {0, i}, "text"), SendResult::ok);
    }
    queue.poll();
    std::size_t emitted = 0;
    const auto count = [&emitted](const RecordQueue::Record&) { ++emitted; };
    EXPECT_EQ(queue.emitBefore(endOfTime, 0, count), 0U);
    EXPECT_EQ(queue.emitBefore(endOfTime, 4, count), 4U);
    EXPECT_EQ(queue.emitBefore(endOfTime, 100, count), 6U);
    EXPECT_EQ(emitted, 10U);
}

// What emit() was given stays as it is until the call returns, so that runs can be gathered.
TEST(RecordQueue, RecordsStayValidUntilTheCallReturns) {
    for (const auto policy : {blocking, dropping}) {
        RecordQueue queue(limits(16));
        for (std::uint32_t i = 0; i < 40; ++i) {
            if (i % 10 == 0) {
                harvest(queue);
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

TEST(RecordQueue, MergesTheLanesOfThreadsByTime) {
    RecordQueue queue;
    // One record after another, on three threads in turn: time order is the order of the numbers.
    for (std::uint32_t i = 0; i < 30; ++i) {
        std::thread([&queue, i] {
            ASSERT_EQ(postText(queue, {i % 3, i}, "text"), SendResult::ok);
        }).join();
    }
    const auto all = harvest(queue, endOfTime, 7);
    ASSERT_EQ(all.size(), 30U);
    for (std::uint32_t i = 0; i < 30; ++i) {
        EXPECT_EQ(all[i].label.number, i);
    }
}

TEST(RecordQueue, KeepsRecordsInOnePieceRoundTheRing) {
    RecordQueue queue(limits(1000, 1000));
    for (std::uint32_t i = 0; i < 2000; ++i) {
        const std::string text(i % 97, static_cast<char>('a' + i % 26));
        ASSERT_EQ(postText(queue, {0, i}, text), SendResult::ok);
        if (i % 3 == 2) {
            const auto all = harvest(queue);
            ASSERT_EQ(all.size(), 3U);
            for (const Emitted& emitted : all) {
                const std::uint32_t n = emitted.label.number;
                EXPECT_EQ(emitted.payload, std::string(n % 97, static_cast<char>('a' + n % 26)));
            }
        }
    }
}

TEST(RecordQueue, TakesRecordsOfAnySize) {
    RecordQueue queue(limits(8, 512));
    const std::string large(100'000, 'x');
    const std::string largest(1'000'000, 'y');
    ASSERT_EQ(postText(queue, {0, 0}, "small"), SendResult::ok);
    ASSERT_EQ(postText(queue, {0, 1}, large), SendResult::ok);
    ASSERT_EQ(postText(queue, {0, 2}, "small"), SendResult::ok);
    // One record with a block of its own at a time.
    EXPECT_EQ(postText(queue, {0, 3}, largest, rejecting), SendResult::full);
    auto all = harvest(queue);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[1].payload, large);
    ASSERT_EQ(postText(queue, {0, 4}, largest), SendResult::ok);
    all = harvest(queue);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].payload, largest);
    EXPECT_EQ(queue.statistics().rejected, 1U);
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
    harvest(queue);
    std::vector<thread_statistics> lanes;
    sum = queue.statistics([&lanes](const thread_statistics& lane) { lanes.push_back(lane); });
    EXPECT_EQ(sum.emitted, 4U);
    EXPECT_EQ(sum.messages, 0U);
    EXPECT_EQ(sum.bytes, 0U);
    EXPECT_EQ(sum.high_water_messages, 4U);
    EXPECT_EQ(sum.order_violations, 0U);
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
    EXPECT_EQ(numbersOf(harvest(queue)), Numbers{3});
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
    EXPECT_EQ(numbersOf(harvest(queue)), (Numbers{2, 1}));
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
    EXPECT_EQ(numbersOf(harvest(queue)), Numbers{1});
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
    harvest(queue);
    EXPECT_FALSE(queue.waitForWork(Clock::now() + 1ms));
    queue.wake();
    EXPECT_TRUE(queue.waitForWork(Clock::now() + 10min));
    EXPECT_FALSE(queue.waitForWork(Clock::now() + 1ms));
}

TEST(RecordQueue, APostWakesTheBackEnd) {
    RecordQueue queue;
    const Watchdog watchdog(stateOf(queue));
    harvest(queue);
    std::thread producer([&queue] {
        for (std::uint32_t i = 0; i < 200; ++i) {
            std::this_thread::sleep_for(std::chrono::microseconds(100 * (i % 4)));
            ASSERT_EQ(postText(queue, {0, i}, "text"), SendResult::ok);
        }
    });
    for (std::size_t count = 0; count < 200;) {
        static_cast<void>(queue.waitForWork(StdPlatform::Clock::time_point::max()));
        count += harvest(queue).size();
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
    harvest(queue);
    EXPECT_EQ(sleep(queue), 0U);
    queue.expectNoWake();
    EXPECT_EQ(sleep(queue), 1U);
}

}  // namespace
}  // namespace sluice::test
