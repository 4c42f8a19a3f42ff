#include "support/crew.hpp"
#include "support/interrupting_platform.hpp"
#include "support/record_queue_tools.hpp"
#include "support/sanitizers.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/detail/lanes/record_queue.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

// Threads come, go and die.

namespace sluice::test {
namespace {

using log::thread_statistics;
using log::detail::endOfTime;
using log::detail::LaneRegistry;
using log::detail::RecordQueueOptions;
using log::detail::RecordQueueTraits;
using log::detail::Stamp;
using log::detail::StampClock;

using RecordQueue = LabelQueue<>;
constexpr std::size_t mostSpare = LaneRegistry<RecordQueueTraits>::mostSpare;

TEST(RecordQueueThreads, ALaneIsHandedOnWhenItsThreadHasEndedAndItIsEmpty) {
    RecordQueue queue;
    for (std::uint32_t i = 0; i < 100; ++i) {
        std::thread([&queue, i] {
            ASSERT_EQ(postText(queue, {0, i}, "text"), SendResult::ok);
        }).join();
        EXPECT_EQ(queue.laneCount(), 1U);
        const auto all = harvest(queue);
        ASSERT_EQ(all.size(), 1U);
        EXPECT_EQ(all[0].label.number, i);
        queue.look();
    }
    const auto sum = queue.statistics();
    EXPECT_EQ(sum.logged, 100U);
    EXPECT_EQ(sum.emitted, 100U);
    EXPECT_EQ(sum.lanes, 0U);
}

TEST(RecordQueueThreads, ALaneWithRecordsIsKept) {
    RecordQueue queue;
    for (std::uint32_t i = 0; i < 20; ++i) {
        std::thread([&queue, i] {
            ASSERT_EQ(postText(queue, {i, 0}, "text"), SendResult::ok);
        }).join();
        queue.look();
    }
    EXPECT_EQ(queue.statistics().lanes, 20U);
    EXPECT_EQ(harvest(queue).size(), 20U);
    queue.look();
    EXPECT_EQ(queue.statistics().lanes, 0U);
    EXPECT_EQ(queue.laneCount(), mostSpare);
}

TEST(RecordQueueThreads, CountsOfThreadsThatHaveGoneStay) {
    RecordQueueOptions options;
    options.laneMessages = 2;
    RecordQueue queue(options);
    for (std::uint32_t i = 0; i < 3; ++i) {
        std::thread([&queue] {
            for (std::uint32_t n = 0; n < 4; ++n) {
                (void)postText(queue, {0, n}, "text", n == 3 ? dropping : rejecting);
            }
        }).join();
        harvest(queue);
        queue.look();
    }
    const auto sum = queue.statistics();
    EXPECT_EQ(sum.logged, 9U);
    EXPECT_EQ(sum.rejected, 3U);
    EXPECT_EQ(sum.dropped, 3U);
    EXPECT_EQ(sum.emitted, 6U);
}

// A lane that was handed on is like new, whatever its former owner did with it.
TEST(RecordQueueThreads, ALaneThatWasHandedOnIsLikeNew) {
    RecordQueueOptions options;
    options.laneMessages = 2;
    RecordQueue queue(options);
    for (std::uint32_t i = 0; i < 10; ++i) {
        std::thread([&queue, i] {
            const auto policy = i % 2 == 0 ? dropping : rejecting;
            for (std::uint32_t n = 0; n < 3; ++n) {
                (void)postText(queue, {i, n}, std::string(n, 'x'), policy);
            }
            std::vector<thread_statistics> lanes;
            (void)queue.statistics([&lanes](const thread_statistics& l) { lanes.push_back(l); });
            ASSERT_EQ(lanes.size(), 1U);
            EXPECT_EQ(lanes[0].logged, i % 2 == 0 ? 3U : 2U);
            EXPECT_EQ(lanes[0].dropped, i % 2 == 0 ? 1U : 0U);
            EXPECT_EQ(lanes[0].high_water_messages, 0U);
        }).join();
        EXPECT_EQ(harvest(queue).size(), 2U);
        queue.look();
        EXPECT_EQ(queue.laneCount(), 1U);
    }
}

TEST(RecordQueueThreads, NamesTheThreads) {
#if defined(__linux__)
    RecordQueue queue;
    std::thread([&queue] {
        ::pthread_setname_np(::pthread_self(), "a worker");
        ASSERT_EQ(postText(queue, {0, 0}, "text"), SendResult::ok);
    }).join();
    queue.look();
    queue.emitBefore(endOfTime, 1, [](const RecordQueue::Record& record) {
        EXPECT_STREQ(record.lane.threadName, "a worker");
        EXPECT_NE(record.lane.threadId, log::detail::thisThread().threadId);
    });
#endif
}

struct PostsAtTheEnd {
    RecordQueue* queue = nullptr;
    ~PostsAtTheEnd() {
        if (queue != nullptr) {
            EXPECT_EQ(postText(*queue, {0, 2}, "from a destructor"), SendResult::ok);
            EXPECT_EQ(postText(*queue, {0, 3}, std::string(200'000, 'x')), SendResult::ok);
        }
    }
};

// An object of the thread that was made before the thread's first post is destroyed after the lane
// was given back.
TEST(RecordQueueThreads, DestructorsOfThreadLocalObjectsMayPost) {
    RecordQueue queue;
    std::uint64_t id = 0;
    std::thread([&queue, &id] {
        thread_local PostsAtTheEnd atTheEnd;
        atTheEnd.queue = &queue;
        id = log::detail::thisThread().threadId;
        ASSERT_EQ(postText(queue, {0, 1}, "first"), SendResult::ok);
    }).join();
    const auto all = harvest(queue);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[1].payload, "from a destructor");
    EXPECT_EQ(all[1].threadId, id);
    EXPECT_EQ(all[2].payload.size(), 200'000U);
}

TEST(RecordQueueThreads, PostsWithoutALaneWaitForRoomToo) {
    RecordQueue queue;
    const Watchdog watchdog(stateOf(queue));
    constexpr std::uint32_t perThread = 2000;
    struct PostsMany {
        RecordQueue* queue = nullptr;
        std::uint32_t thread = 0;
        ~PostsMany() {
            for (std::uint32_t i = 0; queue != nullptr && i < perThread; ++i) {
                EXPECT_EQ(postText(*queue, {thread, i}, "text"), SendResult::ok);
            }
        }
    };
    Crew crew;
    for (std::uint32_t t = 0; t < 3; ++t) {
        crew.add([&queue, t] {
            thread_local PostsMany atTheEnd;
            atTheEnd.queue = &queue;
            atTheEnd.thread = t;
            ASSERT_EQ(postText(queue, {3, t}, "first"), SendResult::ok);
        });
    }
    crew.start();
    std::uint32_t next[3] = {};
    for (std::size_t count = 0; count != 3 * perThread + 3;) {
        for (const Emitted& emitted : harvest(queue)) {
            ++count;
            if (emitted.label.thread != 3) {
                EXPECT_EQ(emitted.label.number, next[emitted.label.thread]++);
            }
        }
    }
    crew.join();
}

TEST(RecordQueueThreads, SeveralQueuesAtOnceDoNotMix) {
    constexpr std::uint32_t queues = 5;
    constexpr std::uint32_t threads = 4;
    constexpr std::uint32_t perThread = 500;
    std::vector<std::unique_ptr<RecordQueue>> all;
    for (std::uint32_t i = 0; i < queues; ++i) {
        all.push_back(std::make_unique<RecordQueue>());
    }
    Crew crew;
    for (std::uint32_t t = 0; t < threads; ++t) {
        crew.add([&all, t] {
            for (std::uint32_t n = 0; n < perThread; ++n) {
                const std::uint32_t which = (n + t) % queues;
                ASSERT_EQ(postText(*all[which], {which, n}, "text"), SendResult::ok);
            }
        });
    }
    crew.join();
    for (std::uint32_t i = 0; i < queues; ++i) {
        const auto emitted = harvest(*all[i]);
        EXPECT_EQ(emitted.size(), threads * perThread / queues);
        for (const Emitted& record : emitted) {
            EXPECT_EQ(record.label.thread, i);
        }
    }
}

// Threads go on while one queue is closed and destroyed and the next one made.
TEST(RecordQueueThreads, QueuesComeAndGoWhileThreadsStay) {
    constexpr std::uint32_t threads = 4;
    const auto rounds = static_cast<std::uint32_t>(scaled(400));
    std::shared_ptr<RecordQueue> current = std::make_shared<RecordQueue>();
    std::atomic<bool> isOver{false};
    std::atomic<std::uint64_t> accepted{0};
    std::uint64_t emitted = 0;
    Crew crew;
    for (std::uint32_t t = 0; t < threads; ++t) {
        crew.add([&, t] {
            for (std::uint32_t n = 0; !isOver.load(); ++n) {
                const std::shared_ptr<RecordQueue> queue = std::atomic_load(&current);
                accepted += postText(*queue, {t, n}, "text") == SendResult::ok ? 1 : 0;
            }
        });
    }
    crew.start();
    for (std::uint32_t round = 0; round < rounds; ++round) {
        const std::shared_ptr<RecordQueue> old = std::atomic_load(&current);
        std::atomic_store(&current, std::make_shared<RecordQueue>());
        old->close();
        while (!old->isDrained()) {
            emitted += harvest(*old).size();
        }
    }
    isOver = true;
    current->close();  // some may be waiting for room
    crew.join();
    emitted += harvest(*current).size();
    EXPECT_EQ(emitted, accepted.load());
}

// Many short-lived threads beside a back end at work: lanes are handed on as fast as they are left.
TEST(RecordQueueThreads, ShortLivedThreadsLeaveNothingBehind) {
    const auto threads = static_cast<std::uint32_t>(scaled(20'000));
    RecordQueue queue;
    const Watchdog watchdog(stateOf(queue));
    std::size_t emitted = 0;
    std::thread backEnd([&] {
        while (!queue.isDrained()) {
            queue.waitForWork(StdPlatform::Clock::now() + std::chrono::milliseconds(50));
            emitted += harvest(queue).size();
        }
    });
    for (std::uint32_t i = 0; i < threads; ++i) {
        std::thread([&queue, i] {
            ASSERT_EQ(postText(queue, {0, i}, "text"), SendResult::ok);
        }).join();
    }
    queue.close();
    backEnd.join();
    queue.look();
    EXPECT_EQ(emitted, threads);
    EXPECT_EQ(queue.statistics().lanes, 0U);
    EXPECT_LE(queue.laneCount(), mostSpare);
}

// Not under an emulator, which keeps books of its own about threads.
#if defined(__linux__) && !SLUICE_TEST_TSAN && !SLUICE_TEST_ASAN && !defined(SLUICE_TEST_EMULATED)

/// Ends the calling thread without any destructor; the sanitizers' own could not stand it.
[[noreturn]] void vanish() {
    ::syscall(SYS_exit, 0);
    __builtin_unreachable();
}

void* postAndVanish(void* queue) {
    EXPECT_EQ(postText(*static_cast<RecordQueue*>(queue), {0, 1}, "last words"), SendResult::ok);
    vanish();
}

TEST(RecordQueueThreads, AThreadThatVanishedIsFoundWhenAnotherOneComes) {
    RecordQueue queue;
    pthread_t thread{};
    ASSERT_EQ(::pthread_create(&thread, nullptr, postAndVanish, &queue), 0);
    ASSERT_EQ(::pthread_join(thread, nullptr), 0);
    EXPECT_EQ(harvest(queue).size(), 1U);
    EXPECT_EQ(queue.statistics().lanes, 1U);
    ASSERT_EQ(postText(queue, {0, 2}, "text"), SendResult::ok);
    EXPECT_EQ(harvest(queue).size(), 1U);
    queue.look();
    EXPECT_EQ(queue.statistics().lanes, 1U);
    EXPECT_EQ(queue.statistics().dead_threads, 1U);
    EXPECT_EQ(queue.statistics().lost, 0U);
}

/// A thread vanishes while it is announced.
struct VanishingClock : StampClock {
    inline static thread_local bool vanishes = false;

    template <class Word>
    static Stamp announceThenNow(Word& word, std::uint64_t value) noexcept {
        const Stamp stamp = StampClock::announceThenNow(word, value);
        if (vanishes) {
            vanish();
        }
        return stamp;
    }
};
struct VanishingTraits : RecordQueueTraits {
    using Clock = VanishingClock;
};
using VanishingQueue = LabelQueue<VanishingTraits>;

struct LookedAt {
    VanishingQueue queue;
    std::atomic<bool> hasPosted{false};
    std::atomic<bool> isKnown{false};
};

void* vanishInAPost(void* scene) {
    auto& self = *static_cast<LookedAt*>(scene);
    EXPECT_EQ(postText(self.queue, {0, 1}, "delivered"), SendResult::ok);
    self.hasPosted = true;
    awaitThat([&self] { return self.isKnown.load(); });
    VanishingClock::vanishes = true;
    (void)postText(self.queue, {0, 2}, "half made");
    return nullptr;
}

TEST(RecordQueueThreads, AThreadThatVanishedInAPostDoesNotHoldTheOutputForEver) {
    LookedAt scene;
    VanishingQueue& queue = scene.queue;
    const Watchdog watchdog(stateOf(queue));
    pthread_t thread{};
    ASSERT_EQ(::pthread_create(&thread, nullptr, vanishInAPost, &scene), 0);
    awaitThat([&scene] { return scene.hasPosted.load(); });
    ASSERT_EQ(postText(queue, {0, 0}, "text"), SendResult::ok);
    queue.look();
    scene.isKnown = true;
    ASSERT_EQ(::pthread_join(thread, nullptr), 0);
    ASSERT_EQ(postText(queue, {0, 3}, "after it"), SendResult::ok);
    std::vector<std::uint32_t> numbers;
    while (numbers.size() != 3) {
        queue.waitForWork(StdPlatform::Clock::now() + std::chrono::seconds(10));
        for (const std::uint32_t number : numbersOf(harvest(queue))) {
            numbers.push_back(number);
        }
    }
    EXPECT_EQ(numbers, (std::vector<std::uint32_t>{1, 0, 3}));
    queue.look();
    const auto sum = queue.statistics();
    EXPECT_EQ(sum.dead_threads, 1U);
    EXPECT_EQ(sum.lost, 1U);
    EXPECT_EQ(sum.lanes, 1U);
    EXPECT_GE(sum.stalls, 1U);
    EXPECT_GE(sum.longest_stall, std::chrono::milliseconds(50));
    // Its lane is whole again.
    std::thread([&queue] {
        for (std::uint32_t i = 0; i < 100; ++i) {
            ASSERT_EQ(postText(queue, {0, i}, "text"), SendResult::ok);
        }
    }).join();
    EXPECT_EQ(harvest(queue).size(), 100U);
}

struct InterruptingTraits : RecordQueueTraits {
    using Platform = InterruptingPlatform;
};
using InterruptedQueue = LabelQueue<InterruptingTraits>;

struct Victim {
    InterruptedQueue queue;
    std::size_t access = 0;
    bool hasSurvived = false;
};

void* vanishAtAnAccess(void* victim) {
    auto& self = *static_cast<Victim*>(victim);
    EXPECT_EQ(postText(self.queue, {0, 1}, "delivered"), SendResult::ok);
    const Interruption interruption(self.access, [] { vanish(); });
    (void)postText(self.queue, {0, 2}, "perhaps");
    self.hasSurvived = true;
    return nullptr;
}

// In front of each access of a post to shared memory, whoever is left goes on, and the lane serves
// its next owner.
TEST(RecordQueueThreads, AThreadMayVanishAnywhereInAPost) {
    bool hasSurvived = false;
    for (std::size_t access = 0; !hasSurvived; ++access) {
        Victim victim;
        victim.access = access;
        InterruptedQueue& queue = victim.queue;
        const Watchdog watchdog(stateOf(queue));
        pthread_t thread{};
        ASSERT_EQ(::pthread_create(&thread, nullptr, vanishAtAnAccess, &victim), 0);
        ASSERT_EQ(::pthread_join(thread, nullptr), 0);
        hasSurvived = victim.hasSurvived;
        ASSERT_EQ(postText(queue, {0, 3}, "after it"), SendResult::ok);
        std::vector<std::uint32_t> numbers;
        while (numbers.empty() || numbers.back() != 3) {
            for (const std::uint32_t number : numbersOf(harvest(queue))) {
                numbers.push_back(number);
            }
        }
        EXPECT_EQ(numbers.front(), 1U);
        EXPECT_LE(numbers.size(), 3U);
        queue.look();
        queue.look();
        EXPECT_EQ(queue.statistics().lanes, 1U) << "at access " << access;
        std::thread([&queue] {
            for (std::uint32_t i = 0; i < 10; ++i) {
                ASSERT_EQ(postText(queue, {0, i}, std::to_string(i)), SendResult::ok);
            }
        }).join();
        const auto all = harvest(queue);
        ASSERT_EQ(all.size(), 10U);
        for (std::uint32_t i = 0; i < 10; ++i) {
            EXPECT_EQ(all[i].payload, std::to_string(i));
        }
    }
}

#endif

}  // namespace
}  // namespace sluice::test
