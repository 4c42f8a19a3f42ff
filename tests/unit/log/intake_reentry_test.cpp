#include "support/crew.hpp"
#include "support/intake_tools.hpp"
#include "support/interrupting_platform.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/detail/lanes/intake.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// Posts in the middle of posts of the same thread: signal handlers and callbacks.

namespace sluice::test {
namespace {

using log::detail::endOfTime;
using log::detail::IntakeOptions;
using log::detail::IntakeTraits;
using log::detail::Key;
using log::detail::PostResult;
using log::detail::SignalSafeScope;
using log::detail::StampClock;

using Numbers = std::vector<std::uint32_t>;

/// Calls a function between announcing and stamping, and between stamping and publishing.
struct HookedClock : StampClock {
    inline static std::function<void()> hook;

    template <class Word>
    static Key announceThenNow(Word& word, std::uint64_t value) noexcept {
        word.exchange(value, std::memory_order_seq_cst);
        run();
        const Key key = StampClock::now();
        run();
        return key;
    }

private:
    static void run() {
        if (const auto now = std::exchange(hook, nullptr)) {
            now();
            hook = now;
        }
    }
};

struct HookedTraits : IntakeTraits {
    using Clock = HookedClock;
};
using HookedIntake = LabelIntake<HookedTraits>;

struct HookScope {
    explicit HookScope(std::function<void()> hook) { HookedClock::hook = std::move(hook); }
    ~HookScope() { HookedClock::hook = nullptr; }
    HookScope(const HookScope&) = delete;
    HookScope& operator=(const HookScope&) = delete;
};

IntakeOptions limits(std::size_t messages) {
    IntakeOptions options;
    options.laneMessages = messages;
    return options;
}

struct InterruptingTraits : IntakeTraits {
    using Platform = InterruptingPlatform;
};
using InterruptedIntake = LabelIntake<InterruptingTraits>;

// In front of each access of a post to shared memory: the handler's post is delivered, and so is
// the interrupted one.
TEST(IntakeReentry, APostMayInterruptAPostAnywhere) {
    for (const auto policy : {blocking, overrunning, discarding}) {
        const auto makeScene = [] {
            auto intake = std::make_unique<InterruptedIntake>(limits(4));
            (void)postText(*intake, {0, 0}, "first");
            return intake;
        };
        const auto post = [policy](InterruptedIntake& intake) {
            EXPECT_EQ(postText(intake, {0, 1}, "interrupted", policy), PostResult::ok);
        };
        const auto interrupt = [policy](InterruptedIntake& intake) {
            EXPECT_EQ(postText(intake, {0, 2}, "handler's", policy), PostResult::ok);
        };
        const auto check = [](InterruptedIntake& intake) {
            const auto all = harvest(intake);
            ASSERT_EQ(all.size(), 3U);
            EXPECT_EQ(all[0].payload, "first");
            EXPECT_EQ(all[1].label.number + all[2].label.number, 3U);
            for (const Emitted& emitted : all) {
                EXPECT_EQ(emitted.threadId, log::detail::thisThread().threadId);
            }
            EXPECT_EQ(intake.statistics().order_violations, 0U);
        };
        EXPECT_GE(interruptEverywhere(makeScene, post, interrupt, check), 8U);
    }
}

// The same while the interrupted post makes room.
TEST(IntakeReentry, APostMayInterruptAnEviction) {
    const auto makeScene = [] {
        auto intake = std::make_unique<InterruptedIntake>(limits(2));
        (void)postText(*intake, {0, 0}, "evicted");
        (void)postText(*intake, {0, 1}, "kept");
        return intake;
    };
    const auto post = [](InterruptedIntake& intake) {
        EXPECT_EQ(postText(intake, {0, 2}, "interrupted", overrunning), PostResult::ok);
    };
    const auto interrupt = [](InterruptedIntake& intake) {
        (void)postText(intake, {0, 3}, "handler's", overrunning);
    };
    const auto check = [](InterruptedIntake& intake) {
        const auto all = harvest(intake);
        const auto sum = intake.statistics();
        EXPECT_EQ(sum.logged + sum.discarded, 4U);
        EXPECT_EQ(sum.emitted + sum.overrun, sum.logged);
        EXPECT_EQ(all.size(), sum.emitted);
        EXPECT_GE(all.size(), 2U);
    };
    EXPECT_GE(interruptEverywhere(makeScene, post, interrupt, check), 10U);
}

// The back end's own thread is interrupted: it neither waits for itself nor breaks what it does.
TEST(IntakeReentry, APostMayInterruptTheBackEnd) {
    for (const auto policy : {blocking, overrunning, discarding}) {
        const auto makeScene = [policy] {
            auto intake = std::make_unique<InterruptedIntake>(limits(2));
            intake->look();  // from now on this thread is known as the back end's
            (void)postText(*intake, {0, 0}, "text", policy);
            (void)postText(*intake, {0, 1}, "text", policy);
            return intake;
        };
        const auto work = [](InterruptedIntake& intake) { harvest(intake); };
        const auto interrupt = [policy](InterruptedIntake& intake) {
            (void)postText(intake, {0, 2}, "handler's", policy);
        };
        const auto check = [](InterruptedIntake& intake) {
            harvest(intake);
            const auto sum = intake.statistics();
            EXPECT_EQ(sum.logged + sum.discarded, 3U);
            EXPECT_EQ(sum.emitted + sum.overrun, sum.logged);
            EXPECT_EQ(sum.messages, 0U);
        };
        EXPECT_GE(interruptEverywhere(makeScene, work, interrupt, check), 15U);
    }
}

// Between the announcement and the stamp, and between the stamp and the publication.
TEST(IntakeReentry, InsideTheAnnouncedWindow) {
    HookedIntake intake(limits(1));
    std::uint32_t inHandler = 10;
    {
        const HookScope hook([&] {
            EXPECT_EQ(postText(intake, {0, inHandler++}, "handler's"), PostResult::ok);
            // Whoever looks now holds back what is stamped later, and says so.
            EXPECT_TRUE(harvest(intake).empty());
        });
        ASSERT_EQ(postText(intake, {0, 1}, "interrupted"), PostResult::ok);
    }
    EXPECT_EQ(numbersOf(harvest(intake)), (Numbers{10, 1, 11}));
    EXPECT_EQ(intake.statistics().stalls, 1U);
}

// It could wait for ever: the interrupted record is announced, so nothing is emitted.
TEST(IntakeReentry, AHandlerNeverWaits) {
    HookedIntake intake;
    std::uint64_t discarded = 0;
    {
        const HookScope hook([&] {
            for (int i = 0; i < 2000; ++i) {
                for (const auto policy : {blocking, overrunning}) {
                    discarded += postText(intake, {0, 2}, "text", policy) == PostResult::discarded;
                }
            }
        });
        ASSERT_EQ(postText(intake, {0, 1}, "interrupted"), PostResult::ok);
    }
    EXPECT_GT(discarded, 0U);
    const auto sum = intake.statistics();
    EXPECT_EQ(sum.discarded, discarded);
    EXPECT_EQ(sum.logged + discarded, 8001U);
    EXPECT_EQ(harvest(intake).size(), sum.logged);
}

TEST(IntakeReentry, ACallbackMayPost) {
    LabelIntake<> intake;
    const auto write = [&intake](std::byte*) noexcept {
        EXPECT_EQ(postText(intake, {0, 2}, "inner"), PostResult::ok);
    };
    ASSERT_EQ(intake.post({0, 1}, 0, blocking, write), PostResult::ok);
    intake.look();
    Numbers numbers;
    intake.emitBefore(endOfTime, 10, [&](const LabelIntake<>::Record& record) {
        numbers.push_back(record.head.number);
        if (record.head.number == 1) {
            EXPECT_EQ(postText(intake, {0, 3}, "from a sink"), PostResult::ok);
        }
    });
    EXPECT_EQ(numbers, (Numbers{2, 1}));
    EXPECT_EQ(numbersOf(harvest(intake)), Numbers{3});
}

// The shared lane is in use by this very thread when it is wanted again.
TEST(IntakeReentry, ACallbackOfACallbackIsCounted) {
    LabelIntake<> intake;
    const auto innermost = [](std::byte*) noexcept { ADD_FAILURE() << "there is no room for it"; };
    const auto inner = [&](std::byte*) noexcept {
        EXPECT_EQ(intake.post({0, 3}, 0, blocking, innermost), PostResult::discarded);
    };
    const auto outer = [&](std::byte*) noexcept {
        EXPECT_EQ(intake.post({0, 2}, 0, blocking, inner), PostResult::ok);
    };
    ASSERT_EQ(intake.post({0, 1}, 0, blocking, outer), PostResult::ok);
    EXPECT_EQ(numbersOf(harvest(intake)), (Numbers{2, 1}));
    EXPECT_EQ(intake.statistics().discarded, 1U);
}

TEST(IntakeReentry, AQuietThreadNeitherAllocatesNorWaits) {
    LabelIntake<> intake(limits(1));
    {
        const SignalSafeScope quiet;
        ASSERT_EQ(postText(intake, {0, 1}, "without a lane"), PostResult::ok);
        EXPECT_EQ(postText(intake, {0, 2}, std::string(1 << 20, 'x')), PostResult::discarded);
    }
    EXPECT_EQ(intake.laneCount(), 0U);
    const auto all = harvest(intake);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].payload, "without a lane");
    EXPECT_EQ(all[0].threadId, log::detail::thisThread().threadId);

    ASSERT_EQ(postText(intake, {0, 3}, "with one"), PostResult::ok);
    EXPECT_EQ(intake.laneCount(), 1U);
    {
        const SignalSafeScope quiet;
        EXPECT_EQ(postText(intake, {0, 4}, "no room"), PostResult::discarded);
    }
    EXPECT_EQ(intake.statistics().discarded, 2U);
}

}  // namespace
}  // namespace sluice::test
