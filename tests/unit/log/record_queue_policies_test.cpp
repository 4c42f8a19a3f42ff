#include "support/crew.hpp"
#include "support/record_queue_tools.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/detail/lanes/record_queue.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace sluice::test {
namespace {

using log::detail::endOfTime;
using log::detail::RecordQueueOptions;

using RecordQueue = LabelQueue<>;
using Numbers = std::vector<std::uint32_t>;

RecordQueueOptions limits(std::size_t messages, std::size_t bytes = 1 << 16) {
    RecordQueueOptions options;
    options.laneMessages = messages;
    options.laneBytes = bytes;
    return options;
}

Numbers from(std::uint32_t first, std::uint32_t last) {
    Numbers numbers;
    for (std::uint32_t i = first; i <= last; ++i) {
        numbers.push_back(i);
    }
    return numbers;
}

// A record without payload takes frame and head.
constexpr std::size_t emptyRecord = 16 + sizeof(Label);

class SmallLimits : public testing::TestWithParam<std::size_t> {};

TEST_P(SmallLimits, DiscardKeepsExactlySoManyMessages) {
    const auto limit = static_cast<std::uint32_t>(GetParam());
    RecordQueue queue(limits(limit));
    for (std::uint32_t round = 0; round < 3; ++round) {
        for (std::uint32_t i = 1; i <= limit; ++i) {
            ASSERT_EQ(postText(queue, {0, i}, "text", rejecting), SendResult::ok);
        }
        ASSERT_EQ(postText(queue, {0, 0}, "text", rejecting), SendResult::full);
        EXPECT_EQ(numbersOf(harvest(queue)), from(1, limit));
    }
    EXPECT_EQ(queue.statistics().rejected, 3U);
}

TEST_P(SmallLimits, DiscardKeepsExactlySoManyBytes) {
    const auto limit = static_cast<std::uint32_t>(GetParam());
    RecordQueue queue(limits(1000, limit * (emptyRecord + 24) + 7));
    for (std::uint32_t round = 0; round < 50; ++round) {
        for (std::uint32_t i = 1; i <= limit; ++i) {
            ASSERT_EQ(postBytes(queue, {0, i}, 24, rejecting), SendResult::ok);
        }
        ASSERT_EQ(postBytes(queue, {0, 0}, 0, rejecting), SendResult::full);
        EXPECT_EQ(numbersOf(harvest(queue)), from(1, limit));
    }
}

TEST_P(SmallLimits, OverrunKeepsTheNewest) {
    const auto limit = static_cast<std::uint32_t>(GetParam());
    RecordQueue queue(limits(limit));
    for (std::uint32_t round = 0; round < 3; ++round) {
        for (std::uint32_t i = 1; i <= 3 * limit + 1; ++i) {
            ASSERT_EQ(postText(queue, {0, i}, std::to_string(i), dropping), SendResult::ok);
        }
        EXPECT_EQ(queue.statistics().dropped, (round + 1) * (2 * limit + 1));
        const auto all = harvest(queue);
        EXPECT_EQ(numbersOf(all), from(2 * limit + 2, 3 * limit + 1));
        for (const Emitted& emitted : all) {
            EXPECT_EQ(emitted.payload, std::to_string(emitted.label.number));
        }
    }
    const auto sum = queue.statistics();
    EXPECT_EQ(sum.logged, sum.emitted + sum.dropped);
    EXPECT_EQ(sum.rejected, 0U);
}

// A record that the back end holds while it is evicted is neither emitted nor counted twice.
TEST_P(SmallLimits, OverrunAfterALook) {
    const auto limit = static_cast<std::uint32_t>(GetParam());
    RecordQueue queue(limits(limit));
    for (std::uint32_t i = 1; i <= limit; ++i) {
        ASSERT_EQ(postText(queue, {0, i}, "text", dropping), SendResult::ok);
    }
    queue.poll();
    ASSERT_EQ(postText(queue, {0, limit + 1}, "text", dropping), SendResult::ok);
    std::uint32_t next = 2;
    const auto check = [&next](const RecordQueue::Record& record) {
        EXPECT_EQ(record.head.number, next++);
    };
    EXPECT_EQ(queue.emitBefore(endOfTime, 100, check), limit - 1);
    queue.poll();
    EXPECT_EQ(queue.emitBefore(endOfTime, 100, check), 1U);
    EXPECT_EQ(queue.statistics().dropped, 1U);
}

TEST_P(SmallLimits, BlockWaitsForRoom) {
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
        for (const Emitted& record : harvest(queue)) {
            EXPECT_EQ(record.label.number, ++emitted);
        }
        EXPECT_LE(posted.load(), emitted + limit);
    }
    producer.join();
    EXPECT_LE(queue.statistics().high_water_messages, limit);
    EXPECT_EQ(queue.statistics().rejected, 0U);
}

INSTANTIATE_TEST_SUITE_P(Limits, SmallLimits, testing::Values(1, 2, 3, 4, 7, 64));

TEST(RecordQueuePolicies, BytesAreEvictedAsNeeded) {
    RecordQueue queue(limits(1000, 10 * emptyRecord));
    for (std::uint32_t i = 1; i <= 10; ++i) {
        ASSERT_EQ(postBytes(queue, {0, i}, 0, dropping), SendResult::ok);
    }
    ASSERT_EQ(postBytes(queue, {0, 11}, 2 * emptyRecord, dropping), SendResult::ok);
    EXPECT_EQ(queue.statistics().dropped, 3U);
    EXPECT_EQ(numbersOf(harvest(queue)), from(4, 11));
}

TEST(RecordQueuePolicies, OverrunOfLargeRecords) {
    RecordQueue queue(limits(4, 1024));
    for (std::uint32_t i = 1; i <= 3; ++i) {
        ASSERT_EQ(postBytes(queue, {0, 10 * i}, 10, dropping), SendResult::ok);
        ASSERT_EQ(postBytes(queue, {0, 10 * i + 1}, 5000, dropping), SendResult::ok);
    }
    // Each large one evicts the one before it, and all older records.
    const auto all = harvest(queue);
    EXPECT_EQ(numbersOf(all), (Numbers{30, 31}));
    EXPECT_EQ(all[1].payload, std::string(5000, static_cast<char>(31)));
    EXPECT_EQ(queue.statistics().dropped, 4U);
}

// A thread that posts to one logger that blocks and to one that overruns.
TEST(RecordQueuePolicies, PoliciesMixInOneLane) {
    RecordQueue queue(limits(4));
    ASSERT_EQ(postText(queue, {0, 1}, "text", blocking), SendResult::ok);
    ASSERT_EQ(postText(queue, {0, 2}, "text", dropping), SendResult::ok);
    ASSERT_EQ(postText(queue, {0, 3}, "text", rejecting), SendResult::ok);
    ASSERT_EQ(postText(queue, {0, 4}, "text", blocking), SendResult::ok);
    ASSERT_EQ(postText(queue, {0, 5}, "text", rejecting), SendResult::full);
    ASSERT_EQ(postText(queue, {0, 6}, "text", dropping), SendResult::ok);
    EXPECT_EQ(numbersOf(harvest(queue)), (Numbers{2, 3, 4, 6}));
}

// The back end uses the records of a lane in place until it has heard of evictions. A thread that
// overruns just then loses the new record instead, and counts it.
TEST(RecordQueuePolicies, TheFirstOverrunThatNobodyExpectsMayMeetRecordsInUse) {
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
    EXPECT_EQ(numbersOf(harvest(queue)), (Numbers{5, 6}));
    const auto sum = queue.statistics();
    EXPECT_EQ(sum.rejected, 1U);
    EXPECT_EQ(sum.dropped, 1U);
}

TEST(RecordQueuePolicies, CloseWakesBlockedProducers) {
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
    EXPECT_EQ(harvest(queue).size(), 8U);
}

}  // namespace
}  // namespace sluice::test
