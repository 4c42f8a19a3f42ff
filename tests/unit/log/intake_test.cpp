#include "support/intake_tools.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/detail/lanes/intake.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace sluice::test {
namespace {

using log::thread_statistics;
using log::detail::endOfTime;
using log::detail::IntakeOptions;
using log::detail::IntakeStatistics;
using log::detail::Key;
using log::detail::PostResult;

using Intake = LabelIntake<>;
using Numbers = std::vector<std::uint32_t>;

IntakeOptions limits(std::size_t messages, std::size_t bytes = 1 << 16) {
    IntakeOptions options;
    options.laneMessages = messages;
    options.laneBytes = bytes;
    return options;
}

TEST(Intake, EmitsWhatWasPostedWithHeadPayloadAndThread) {
    Intake intake;
    ASSERT_EQ(postText(intake, {7, 1}, "hello"), PostResult::ok);
    ASSERT_EQ(postText(intake, {7, 2}, ""), PostResult::ok);
    const auto all = harvest(intake);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].label, (Label{7, 1}));
    EXPECT_EQ(all[0].payload, "hello");
    EXPECT_EQ(all[1].payload, "");
    EXPECT_LE(all[0].key, all[1].key);
    EXPECT_EQ(all[0].threadId, log::detail::thisThread().threadId);
    EXPECT_TRUE(harvest(intake).empty());
}

// The ring has a megabyte; what no record has touched takes no memory.
TEST(Intake, AThreadThatLogsLittleUsesLittleOfItsRing) {
    Intake intake(limits(8192, 1 << 20));
    const std::byte* lowest = nullptr;
    const std::byte* highest = nullptr;
    for (std::uint32_t i = 0; i < 20000; ++i) {
        ASSERT_EQ(postBytes(intake, {0, i}, 100, blocking), PostResult::ok);
        intake.look();
        ASSERT_EQ(intake.emitBefore(endOfTime, 10,
                                    [&](const Intake::Record& record) {
                                        EXPECT_EQ(record.head.number, i);
                                        lowest = i == 0 ? record.payload
                                                        : std::min(lowest, record.payload);
                                        highest = std::max(highest, record.payload);
                                    }),
                  1U);
    }
    EXPECT_LT(highest - lowest, 1 << 16);
    EXPECT_EQ(intake.statistics().bytes, 0U);
}

TEST(Intake, ALaneWithRecordsDoesNotBeginAgain) {
    Intake intake(limits(8192, 1 << 16));
    for (std::uint32_t i = 0; i < 50; ++i) {  // several steps of a lane
        ASSERT_EQ(postBytes(intake, {0, i}, 1000, blocking), PostResult::ok);
    }
    const auto all = harvest(intake);
    ASSERT_EQ(all.size(), 50U);
    for (std::uint32_t i = 0; i < 50; ++i) {
        EXPECT_EQ(all[i].label.number, i);
    }
}

TEST(Intake, HeadAndPayloadLieAtMultiplesOfEight) {
    struct Odd {
        char letters[5];
    };
    log::detail::Intake<Odd> intake;
    for (std::size_t size = 0; size < 20; ++size) {
        ASSERT_EQ(intake.post(Odd{}, size, blocking, [](std::byte*) noexcept {}), PostResult::ok);
    }
    intake.look();
    std::size_t size = 0;
    intake.emitBefore(endOfTime, 100, [&size](const log::detail::Record<Odd>& record) {
        EXPECT_EQ(record.size, size++);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(record.payload) % 8, 0U);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&record.head) % 8, 0U);
    });
    EXPECT_EQ(size, 20U);
}

TEST(Intake, EmitsNothingThatWasNotLookedAt) {
    Intake intake;
    intake.look();
    ASSERT_EQ(postText(intake, {0, 1}, "late"), PostResult::ok);
    EXPECT_FALSE(intake.hasBefore(endOfTime));
    EXPECT_EQ(intake.emitBefore(endOfTime, 10, [](const Intake::Record&) {}), 0U);
    EXPECT_EQ(harvest(intake).size(), 1U);
}

TEST(Intake, EmitsBelowALimitOnly) {
    Intake intake;
    ASSERT_EQ(postText(intake, {0, 1}, "before"), PostResult::ok);
    const Key moment = intake.now();
    ASSERT_EQ(postText(intake, {0, 2}, "after"), PostResult::ok);
    EXPECT_EQ(numbersOf(harvest(intake, moment)), Numbers{1});
    EXPECT_FALSE(intake.hasBefore(moment));
    EXPECT_TRUE(intake.hasBefore(endOfTime));
    EXPECT_EQ(numbersOf(harvest(intake)), Numbers{2});
}

TEST(Intake, EmitsAtMostSoMany) {
    Intake intake;
    for (std::uint32_t i = 0; i < 10; ++i) {
        ASSERT_EQ(postText(intake, {0, i}, "text"), PostResult::ok);
    }
    intake.look();
    std::size_t emitted = 0;
    const auto count = [&emitted](const Intake::Record&) { ++emitted; };
    EXPECT_EQ(intake.emitBefore(endOfTime, 0, count), 0U);
    EXPECT_EQ(intake.emitBefore(endOfTime, 4, count), 4U);
    EXPECT_EQ(intake.emitBefore(endOfTime, 100, count), 6U);
    EXPECT_EQ(emitted, 10U);
}

// What emit() was given stays as it is until the call returns, so that runs can be gathered.
TEST(Intake, RecordsStayValidUntilTheCallReturns) {
    for (const auto policy : {blocking, overrunning}) {
        Intake intake(limits(16));
        for (std::uint32_t i = 0; i < 40; ++i) {
            if (i % 10 == 0) {
                harvest(intake);
            }
            ASSERT_EQ(postText(intake, {0, i}, std::to_string(i), policy), PostResult::ok);
        }
        intake.look();
        std::vector<std::pair<const char*, std::string>> seen;
        intake.emitBefore(endOfTime, 100, [&seen](const Intake::Record& record) {
            const auto* const text = reinterpret_cast<const char*>(record.payload);
            seen.emplace_back(text, std::string(text, record.size));
            for (const auto& [place, was] : seen) {
                ASSERT_EQ(std::string(place, was.size()), was);
            }
        });
        EXPECT_EQ(seen.size(), 10U);
    }
}

TEST(Intake, MergesTheLanesOfThreadsByTime) {
    Intake intake;
    // One record after another, on three threads in turn: time order is the order of the numbers.
    for (std::uint32_t i = 0; i < 30; ++i) {
        std::thread([&intake, i] {
            ASSERT_EQ(postText(intake, {i % 3, i}, "text"), PostResult::ok);
        }).join();
    }
    const auto all = harvest(intake, endOfTime, 7);
    ASSERT_EQ(all.size(), 30U);
    for (std::uint32_t i = 0; i < 30; ++i) {
        EXPECT_EQ(all[i].label.number, i);
    }
}

TEST(Intake, KeepsRecordsInOnePieceRoundTheRing) {
    Intake intake(limits(1000, 1000));
    for (std::uint32_t i = 0; i < 2000; ++i) {
        const std::string text(i % 97, static_cast<char>('a' + i % 26));
        ASSERT_EQ(postText(intake, {0, i}, text), PostResult::ok);
        if (i % 3 == 2) {
            const auto all = harvest(intake);
            ASSERT_EQ(all.size(), 3U);
            for (const Emitted& emitted : all) {
                const std::uint32_t n = emitted.label.number;
                EXPECT_EQ(emitted.payload, std::string(n % 97, static_cast<char>('a' + n % 26)));
            }
        }
    }
}

TEST(Intake, TakesRecordsOfAnySize) {
    Intake intake(limits(8, 512));
    const std::string large(100'000, 'x');
    const std::string largest(1'000'000, 'y');
    ASSERT_EQ(postText(intake, {0, 0}, "small"), PostResult::ok);
    ASSERT_EQ(postText(intake, {0, 1}, large), PostResult::ok);
    ASSERT_EQ(postText(intake, {0, 2}, "small"), PostResult::ok);
    // One record with a block of its own at a time.
    EXPECT_EQ(postText(intake, {0, 3}, largest, discarding), PostResult::discarded);
    auto all = harvest(intake);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[1].payload, large);
    ASSERT_EQ(postText(intake, {0, 4}, largest), PostResult::ok);
    all = harvest(intake);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].payload, largest);
    EXPECT_EQ(intake.statistics().discarded, 1U);
}

TEST(Intake, DropsWhatIsLeftWhenItEnds) {
    for (const auto policy : {blocking, overrunning}) {
        Intake intake(limits(8, 512));
        ASSERT_EQ(postText(intake, {0, 0}, std::string(10'000, 'x'), policy), PostResult::ok);
        ASSERT_EQ(postText(intake, {0, 1}, "small", policy), PostResult::ok);
        if (policy == overrunning) {
            (void)postText(intake, {0, 1}, std::string(10'000, 'x'), policy);
            ASSERT_EQ(postText(intake, {0, 1}, std::string(10'000, 'x'), policy), PostResult::ok);
        }
        intake.look();
    }
}

TEST(Intake, CountsWhatItCarries) {
    Intake intake(limits(4));
    for (std::uint32_t i = 0; i < 6; ++i) {
        (void)postText(intake, {0, i}, "text", discarding);
    }
    IntakeStatistics sum = intake.statistics();
    EXPECT_EQ(sum.logged, 4U);
    EXPECT_EQ(sum.discarded, 2U);
    EXPECT_EQ(sum.messages, 4U);
    EXPECT_EQ(sum.lanes, 1U);
    EXPECT_GT(sum.bytes, 0U);
    harvest(intake);
    std::vector<thread_statistics> lanes;
    sum = intake.statistics([&lanes](const thread_statistics& lane) { lanes.push_back(lane); });
    EXPECT_EQ(sum.emitted, 4U);
    EXPECT_EQ(sum.messages, 0U);
    EXPECT_EQ(sum.bytes, 0U);
    EXPECT_EQ(sum.high_water_messages, 4U);
    EXPECT_EQ(sum.order_violations, 0U);
    ASSERT_EQ(lanes.size(), 1U);
    EXPECT_EQ(lanes[0].logged, 4U);
    EXPECT_EQ(lanes[0].discarded, 2U);
    EXPECT_EQ(lanes[0].high_water_messages, 4U);
    EXPECT_EQ(lanes[0].high_water_bytes, sum.high_water_bytes);
    EXPECT_EQ(lanes[0].thread_id, log::detail::thisThread().threadId);
}

TEST(Intake, CountersOfDroppedRecordsCanBeReset) {
    Intake intake(limits(1));
    const auto post = [&intake](auto policy) { (void)postText(intake, {0, 0}, "text", policy); };
    post(discarding);
    post(discarding);
    post(discarding);
    post(overrunning);
    EXPECT_EQ(intake.discarded(), 2U);
    EXPECT_EQ(intake.overrun(), 1U);
    intake.resetDiscarded();
    EXPECT_EQ(intake.discarded(), 0U);
    EXPECT_EQ(intake.overrun(), 1U);
    post(discarding);
    post(overrunning);
    intake.resetOverrun();
    EXPECT_EQ(intake.discarded(), 1U);
    EXPECT_EQ(intake.overrun(), 0U);
    EXPECT_EQ(intake.statistics().discarded, 3U);
    EXPECT_EQ(intake.statistics().overrun, 2U);
}

TEST(Intake, RefusesPostsAfterClose) {
    Intake intake;
    ASSERT_EQ(postText(intake, {0, 1}, "before"), PostResult::ok);
    EXPECT_FALSE(intake.isDrained());
    intake.close();
    for (const auto policy : {blocking, overrunning, discarding}) {
        EXPECT_EQ(postText(intake, {0, 2}, "after", policy), PostResult::closed);
        EXPECT_EQ(postText(intake, {0, 2}, std::string(2 << 20, 'x'), policy), PostResult::closed);
    }
    std::thread([&intake] {
        EXPECT_EQ(postText(intake, {0, 3}, "on another thread"), PostResult::closed);
    }).join();
    EXPECT_EQ(numbersOf(harvest(intake)), Numbers{1});
    intake.look();
    EXPECT_TRUE(intake.isDrained());
}

TEST(Intake, IsDrainedOnlyWhenTheLastRecordIsOut) {
    Intake intake;
    ASSERT_EQ(postText(intake, {0, 1}, "text"), PostResult::ok);
    intake.close();
    EXPECT_FALSE(intake.isDrained());
    intake.look();
    EXPECT_FALSE(intake.isDrained());
    intake.emitBefore(endOfTime, 10, [](const Intake::Record&) {});
    EXPECT_TRUE(intake.isDrained());
}

TEST(Intake, WaitForWorkEndsWithWorkAndWithTime) {
    using namespace std::chrono_literals;
    Intake intake;
    const Watchdog watchdog(stateOf(intake));
    using Clock = StdPlatform::Clock;
    EXPECT_TRUE(intake.waitForWork(Clock::now() + 10min));  // the lanes that nobody has looked at
    intake.look();
    EXPECT_FALSE(intake.waitForWork(Clock::now() + 1ms));
    ASSERT_EQ(postText(intake, {0, 1}, "text"), PostResult::ok);
    EXPECT_TRUE(intake.waitForWork(Clock::now() + 10min));
    intake.look();
    EXPECT_TRUE(intake.waitForWork(Clock::now() + 10min)) << "a record has not been emitted";
    harvest(intake);
    EXPECT_FALSE(intake.waitForWork(Clock::now() + 1ms));
    intake.wake();
    EXPECT_TRUE(intake.waitForWork(Clock::now() + 10min));
    EXPECT_FALSE(intake.waitForWork(Clock::now() + 1ms));
}

TEST(Intake, APostWakesTheBackEnd) {
    Intake intake;
    const Watchdog watchdog(stateOf(intake));
    harvest(intake);
    std::thread producer([&intake] {
        for (std::uint32_t i = 0; i < 200; ++i) {
            std::this_thread::sleep_for(std::chrono::microseconds(100 * (i % 4)));
            ASSERT_EQ(postText(intake, {0, i}, "text"), PostResult::ok);
        }
    });
    for (std::size_t count = 0; count < 200;) {
        static_cast<void>(intake.waitForWork(StdPlatform::Clock::time_point::max()));
        count += harvest(intake).size();
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

struct CountingTraits : log::detail::IntakeTraits {
    struct Platform : StdPlatform {
        using Fence = CountingFence;
    };
};

TEST(Intake, ASleepAfterASleepInterruptsNoOtherProcessor) {
    using Clock = StdPlatform::Clock;
    const auto sleep = [](LabelIntake<CountingTraits>& intake) {
        const std::size_t before = CountingFence::calls;
        EXPECT_FALSE(intake.waitForWork(Clock::now() + std::chrono::milliseconds(1)));
        return CountingFence::calls - before;
    };
    LabelIntake<CountingTraits> intake;
    intake.look();
    EXPECT_EQ(sleep(intake), 1U) << "posts have to learn that they must wake the back end";
    EXPECT_EQ(sleep(intake), 0U);
    ASSERT_EQ(postText(intake, {0, 1}, "text"), PostResult::ok);
    harvest(intake);
    EXPECT_EQ(sleep(intake), 0U);
    intake.expectNoWake();
    EXPECT_EQ(sleep(intake), 1U);
}

#if defined(__cpp_exceptions)
TEST(Intake, RefusesLimitsThatCannotWork) {
    const auto refusal = [](const IntakeOptions& options) -> std::string {
        try {
            Intake intake(options);
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_EQ(refusal(limits(0)), "messages of a lane: 0, limit 1");
    EXPECT_EQ(refusal(limits((1UL << 30U) + 1)),
              "messages of a lane: 1073741825, limit 1073741824");
    EXPECT_EQ(refusal(limits(8, 31)), "bytes of a lane: 31, limit 32");
    EXPECT_EQ(refusal(limits(8, (1UL << 30U) + 1)),
              "bytes of a lane: 1073741825, limit 1073741824");
    IntakeOptions options;
    options.maxHold = std::chrono::nanoseconds(0);
    EXPECT_EQ(refusal(options), "maxHold of an intake in nanoseconds is too small: 0, limit 1");
    EXPECT_EQ(refusal(limits(1, 32)), "accepted");
}
#endif

}  // namespace
}  // namespace sluice::test
