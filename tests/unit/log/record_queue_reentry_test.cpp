#include "support/crew.hpp"
#include "support/interrupting_platform.hpp"
#include "support/record_queue_tools.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/detail/lanes/record_queue.hpp>

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
using log::detail::RecordQueueOptions;
using log::detail::RecordQueueTraits;
using log::detail::SignalSafeScope;
using log::detail::Stamp;
using log::detail::StampClock;

using Numbers = std::vector<std::uint32_t>;

/// Calls a function between announcing and stamping, and between stamping and publishing.
struct HookedClock : StampClock {
    inline static std::function<void()> hook;

    template <class Word>
    static Stamp announceThenNow(Word& word, std::uint64_t value) noexcept {
        word.exchange(value, std::memory_order_seq_cst);
        run();
        const Stamp stamp = StampClock::now();
        run();
        return stamp;
    }

private:
    static void run() {
        if (const auto now = std::exchange(hook, nullptr)) {
            now();
            hook = now;
        }
    }
};

struct HookedTraits : RecordQueueTraits {
    using Clock = HookedClock;
};
using HookedQueue = LabelQueue<HookedTraits>;

struct HookScope {
    explicit HookScope(std::function<void()> hook) { HookedClock::hook = std::move(hook); }
    ~HookScope() { HookedClock::hook = nullptr; }
    HookScope(const HookScope&) = delete;
    HookScope& operator=(const HookScope&) = delete;
};

RecordQueueOptions limits(std::size_t messages) {
    RecordQueueOptions options;
    options.laneMessages = messages;
    return options;
}

struct InterruptingTraits : RecordQueueTraits {
    using Platform = InterruptingPlatform;
};
using InterruptedQueue = LabelQueue<InterruptingTraits>;

// In front of each access of a post to shared memory: the handler's post is delivered, and so is
// the interrupted one.
TEST(RecordQueueReentry, APostMayInterruptAPostAnywhere) {
    for (const auto policy : {blocking, dropping, rejecting}) {
        const auto makeScene = [] {
            auto queue = std::make_unique<InterruptedQueue>(limits(4));
            (void)postText(*queue, {0, 0}, "first");
            return queue;
        };
        const auto post = [policy](InterruptedQueue& queue) {
            EXPECT_EQ(postText(queue, {0, 1}, "interrupted", policy), SendResult::ok);
        };
        const auto interrupt = [policy](InterruptedQueue& queue) {
            EXPECT_EQ(postText(queue, {0, 2}, "handler's", policy), SendResult::ok);
        };
        const auto check = [](InterruptedQueue& queue) {
            const auto all = harvest(queue);
            ASSERT_EQ(all.size(), 3U);
            EXPECT_EQ(all[0].payload, "first");
            EXPECT_EQ(all[1].label.number + all[2].label.number, 3U);
            for (const Emitted& emitted : all) {
                EXPECT_EQ(emitted.threadId, log::detail::thisThread().threadId);
            }
            EXPECT_EQ(queue.statistics().order_violations, 0U);
        };
        EXPECT_GE(interruptEverywhere(makeScene, post, interrupt, check), 8U);
    }
}

// The same while the interrupted post makes room.
TEST(RecordQueueReentry, APostMayInterruptAnEviction) {
    const auto makeScene = [] {
        auto queue = std::make_unique<InterruptedQueue>(limits(2));
        (void)postText(*queue, {0, 0}, "evicted");
        (void)postText(*queue, {0, 1}, "kept");
        return queue;
    };
    const auto post = [](InterruptedQueue& queue) {
        EXPECT_EQ(postText(queue, {0, 2}, "interrupted", dropping), SendResult::ok);
    };
    const auto interrupt = [](InterruptedQueue& queue) {
        (void)postText(queue, {0, 3}, "handler's", dropping);
    };
    const auto check = [](InterruptedQueue& queue) {
        const auto all = harvest(queue);
        const auto sum = queue.statistics();
        EXPECT_EQ(sum.logged + sum.rejected, 4U);
        EXPECT_EQ(sum.emitted + sum.dropped, sum.logged);
        EXPECT_EQ(all.size(), sum.emitted);
        EXPECT_GE(all.size(), 2U);
    };
    EXPECT_GE(interruptEverywhere(makeScene, post, interrupt, check), 10U);
}

// The back end's own thread is interrupted: it neither waits for itself nor breaks what it does.
TEST(RecordQueueReentry, APostMayInterruptTheBackEnd) {
    for (const auto policy : {blocking, dropping, rejecting}) {
        const auto makeScene = [policy] {
            auto queue = std::make_unique<InterruptedQueue>(limits(2));
            queue->look();  // from now on this thread is known as the back end's
            (void)postText(*queue, {0, 0}, "text", policy);
            (void)postText(*queue, {0, 1}, "text", policy);
            return queue;
        };
        const auto work = [](InterruptedQueue& queue) { harvest(queue); };
        const auto interrupt = [policy](InterruptedQueue& queue) {
            (void)postText(queue, {0, 2}, "handler's", policy);
        };
        const auto check = [](InterruptedQueue& queue) {
            harvest(queue);
            const auto sum = queue.statistics();
            EXPECT_EQ(sum.logged + sum.rejected, 3U);
            EXPECT_EQ(sum.emitted + sum.dropped, sum.logged);
            EXPECT_EQ(sum.messages, 0U);
        };
        EXPECT_GE(interruptEverywhere(makeScene, work, interrupt, check), 15U);
    }
}

// Between the announcement and the stamp, and between the stamp and the publication.
TEST(RecordQueueReentry, InsideTheAnnouncedWindow) {
    HookedQueue queue(limits(1));
    std::uint32_t inHandler = 10;
    {
        const HookScope hook([&] {
            EXPECT_EQ(postText(queue, {0, inHandler++}, "handler's"), SendResult::ok);
            // A look at this moment holds back all later records, and says so.
            EXPECT_TRUE(harvest(queue).empty());
        });
        ASSERT_EQ(postText(queue, {0, 1}, "interrupted"), SendResult::ok);
    }
    EXPECT_EQ(numbersOf(harvest(queue)), (Numbers{10, 1, 11}));
    EXPECT_EQ(queue.statistics().stalls, 1U);
}

// It could wait for ever: the interrupted record is announced, so nothing is emitted.
TEST(RecordQueueReentry, AHandlerNeverWaits) {
    HookedQueue queue;
    std::uint64_t rejected = 0;
    {
        const HookScope hook([&] {
            for (int i = 0; i < 2000; ++i) {
                for (const auto policy : {blocking, dropping}) {
                    rejected += postText(queue, {0, 2}, "text", policy) == SendResult::full;
                }
            }
        });
        ASSERT_EQ(postText(queue, {0, 1}, "interrupted"), SendResult::ok);
    }
    EXPECT_GT(rejected, 0U);
    const auto sum = queue.statistics();
    EXPECT_EQ(sum.rejected, rejected);
    EXPECT_EQ(sum.logged + rejected, 8001U);
    EXPECT_EQ(harvest(queue).size(), sum.logged);
}

TEST(RecordQueueReentry, ACallbackMayPost) {
    LabelQueue<> queue;
    const auto write = [&queue](std::byte*) noexcept {
        EXPECT_EQ(postText(queue, {0, 2}, "inner"), SendResult::ok);
    };
    ASSERT_EQ(queue.post({0, 1}, 0, blocking, write), SendResult::ok);
    queue.look();
    Numbers numbers;
    queue.emitBefore(endOfTime, 10, [&](const LabelQueue<>::Record& record) {
        numbers.push_back(record.head.number);
        if (record.head.number == 1) {
            EXPECT_EQ(postText(queue, {0, 3}, "from a sink"), SendResult::ok);
        }
    });
    EXPECT_EQ(numbers, (Numbers{2, 1}));
    EXPECT_EQ(numbersOf(harvest(queue)), Numbers{3});
}

// The shared lane is in use by this very thread when it is wanted again.
TEST(RecordQueueReentry, ACallbackOfACallbackIsCounted) {
    LabelQueue<> queue;
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

TEST(RecordQueueReentry, ASignalSafeThreadNeitherAllocatesNorWaits) {
    LabelQueue<> queue(limits(1));
    {
        const SignalSafeScope quiet;
        ASSERT_EQ(postText(queue, {0, 1}, "without a lane"), SendResult::ok);
        EXPECT_EQ(postText(queue, {0, 2}, std::string(1 << 20, 'x')), SendResult::full);
    }
    EXPECT_EQ(queue.laneCount(), 0U);
    const auto all = harvest(queue);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].payload, "without a lane");
    EXPECT_EQ(all[0].threadId, log::detail::thisThread().threadId);

    ASSERT_EQ(postText(queue, {0, 3}, "with one"), SendResult::ok);
    EXPECT_EQ(queue.laneCount(), 1U);
    {
        const SignalSafeScope quiet;
        EXPECT_EQ(postText(queue, {0, 4}, "no room"), SendResult::full);
    }
    EXPECT_EQ(queue.statistics().rejected, 2U);
}

}  // namespace
}  // namespace sluice::test
