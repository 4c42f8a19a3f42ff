#include "support/crew.hpp"
#include "support/record_queue_tools.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/detail/lanes/record_queue.hpp>

#include "support/testing.hpp"
#include <thread>

// Threads start and end.

namespace sluice {

namespace test {
/// A label with two levels, which have lanes of their own.
struct LevelLabel : Label {
    bool isError = false;
};
constexpr bool takesSecondLane(const LevelLabel& label) noexcept {
    return label.isError;
}

namespace {

using log::detail::RecordQueueOptions;

using RecordQueue = LabelQueue<>;

TEST(RecordQueueThreads, ALaneIsFreedWhenItsThreadHasEndedAndItIsEmpty) {
    RecordQueue queue;
    for (std::uint32_t i = 0; i < 20; ++i) {
        std::thread([&queue, i] {
            ASSERT_EQ(postText(queue, {i, 0}, "text"), SendResult::ok);
        }).join();
        queue.poll();
    }
    EXPECT_EQ(queue.laneCount(), 20U);
    EXPECT_EQ(emitAll(queue).size(), 20U);
    queue.poll();
    EXPECT_EQ(queue.laneCount(), 0U);
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
    std::thread([&queue] {
        thread_local PostsAtTheEnd atTheEnd;
        atTheEnd.queue = &queue;
        ASSERT_EQ(postText(queue, {0, 1}, "first"), SendResult::ok);
    }).join();
    const auto all = emitAll(queue);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[1].payload, "from a destructor");
    EXPECT_EQ(all[2].payload.size(), 200'000U);
}

// A thread would wait for the lock of one lane while it holds that of another, and a second thread
// the other way round.
TEST(RecordQueueThreads, OneLockServesPostsWithoutALaneAtAllLevels) {
    using Queue = log::detail::RecordQueue<LevelLabel>;
    static constexpr auto none = [](std::byte*) noexcept {};
    struct PostsInAPost {
        Queue* queue = nullptr;
        bool isError = false;
        ~PostsInAPost() {
            const auto outer = [&](std::byte*) noexcept {
                EXPECT_EQ(queue->post({{0, 3}, !isError}, 0, blocking, none), SendResult::full);
            };
            EXPECT_EQ(queue->post({{0, 2}, isError}, 0, blocking, outer), SendResult::ok);
        }
    };
    for (const bool isError : {false, true}) {
        Queue queue;
        std::thread([&] {
            thread_local PostsInAPost atTheEnd;
            atTheEnd.queue = &queue;
            atTheEnd.isError = isError;
            EXPECT_EQ(queue.post({{0, 0}, false}, 0, blocking, none), SendResult::ok);
            EXPECT_EQ(queue.post({{0, 1}, true}, 0, blocking, none), SendResult::ok);
        }).join();
        EXPECT_EQ(numbersOf(emitAll(queue)), (std::vector<std::uint32_t>{0, 1, 2}));
        EXPECT_EQ(queue.statistics().rejected, 1U);
    }
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
        for (const Emitted& emitted : emitAll(queue)) {
            ++count;
            if (emitted.label.thread != 3) {
                EXPECT_EQ(emitted.label.number, next[emitted.label.thread]++);
            }
        }
    }
    crew.join();
}

// Many short-lived threads beside a back end at work.
TEST(RecordQueueThreads, ShortLivedThreadsLeaveNothingBehind) {
    const auto threads = static_cast<std::uint32_t>(scaled(20'000));
    RecordQueue queue;
    const Watchdog watchdog(stateOf(queue));
    std::size_t emitted = 0;
    std::thread backEnd([&] {
        while (!queue.isDrained()) {
            queue.waitForWork(StdPlatform::Clock::now() + std::chrono::milliseconds(50));
            emitted += emitAll(queue).size();
        }
    });
    for (std::uint32_t i = 0; i < threads; ++i) {
        std::thread([&queue, i] {
            ASSERT_EQ(postText(queue, {0, i}, "text"), SendResult::ok);
        }).join();
    }
    queue.close();
    backEnd.join();
    queue.poll();
    EXPECT_EQ(emitted, threads);
    EXPECT_EQ(queue.laneCount(), 0U);
}

}  // namespace
}  // namespace test
}  // namespace sluice
