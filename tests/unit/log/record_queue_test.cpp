#include "support/crew.hpp"
#include "support/record_queue_tools.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/detail/lanes/record_queue.hpp>

#include "support/testing.hpp"
#include <thread>

// record_queue_random_test.cpp compares limits, policies and contents with a model.

namespace sluice::test {
namespace {

using log::thread_statistics;
using log::detail::endOfTime;
using log::detail::RecordQueueOptions;
using log::detail::Stamp;

using RecordQueue = LabelQueue<>;
using Numbers = std::vector<std::uint32_t>;

RecordQueueOptions limits(std::size_t messages, std::size_t bytes = 1 << 16) {
    RecordQueueOptions options;
    options.laneMessages = messages;
    options.laneBytes = bytes;
    return options;
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

}  // namespace
}  // namespace sluice::test
