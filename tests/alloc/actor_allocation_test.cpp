#include "support/allocation_count.hpp"
#include "support/watchdog.hpp"

#include <sluice/actor/active_object.hpp>
#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/request.hpp>
#include <sluice/actor/running.hpp>

#include "support/testing.hpp"
#include <thread>

namespace sluice::test {
namespace {

struct Sample {
    std::array<std::uint64_t, 8> words;
};

class Sink : public ActiveObject<Sink, Messages<Sample, int>> {
public:
    void handle(const Sample&) { handled.fetch_add(1, std::memory_order_release); }
    void handle(const int&) { handled.fetch_add(1, std::memory_order_release); }
    std::atomic<unsigned> handled{0};
};

TEST(ActorAllocationTest, PostingHandlingAndStoppingAllocateNothing) {
    const Watchdog watchdog([](std::FILE*) {});
    Sink sink;
    ASSERT_TRUE(sink.start({"sink"}));
    // The object's thread counts with memory of its own after its first message.
    ASSERT_EQ(sink.post(1), SendResult::ok);
    while (sink.handled.load(std::memory_order_acquire) == 0) {
        std::this_thread::yield();
    }

    const AllocationCount count;
    unsigned accepted = 1;
    for (int i = 0; i < 1000; ++i) {
        accepted += sink.post(Sample{}) == SendResult::ok ? 1U : 0U;
        accepted += sink.tryPost(i, {Priority::high}) == SendResult::ok ? 1U : 0U;
    }
    while (sink.handled.load(std::memory_order_acquire) != accepted) {
        std::this_thread::yield();
    }
    sink.stop();
    EXPECT_TRUE(sink.join());
    EXPECT_EQ(count.allocations(), 0U);
    EXPECT_GT(accepted, 1U);
}

class Squares : public ActiveObject<Squares, Messages<Request<int, int>>> {
public:
    void handle(const Request<int, int>& request) {
        request.reply(request.question * request.question);
    }
};

TEST(ActorAllocationTest, RequestAllocatesOnce) {
    const Watchdog watchdog([](std::FILE*) {});
    Squares squares;
    ASSERT_TRUE(squares.start());
    ASSERT_TRUE(squares.request<int>(1, std::chrono::hours(1)).get().hasValue());
    const AllocationCount count;
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(squares.request<int>(i, std::chrono::hours(1)).get().value(), i * i);
    }
    EXPECT_EQ(count.allocations(), 100U);
    squares.stop();
    EXPECT_TRUE(squares.join());
}

struct WithTimers : ActorTraits {
    static constexpr std::size_t maxTimers = 10;
};
class Ticker : public ActiveObject<Ticker, Messages<int>, WithTimers> {
public:
    void handle(const int&) {
        (void)cancel(postAfter(std::chrono::hours(1), 1));
        handled.fetch_add(1, std::memory_order_release);
    }
    std::atomic<unsigned> handled{0};
};

TEST(ActorAllocationTest, TimersAllocateNothing) {
    const Watchdog watchdog([](std::FILE*) {});
    Ticker ticker;
    ASSERT_TRUE(ticker.start());
    const AllocationCount count;
    const Timer often = ticker.postEvery(std::chrono::microseconds(1), 1);
    while (ticker.handled.load(std::memory_order_acquire) < 100) {
        if (!ticker.postAfter(std::chrono::nanoseconds(1), 2)) {
            std::this_thread::yield();
        }
    }
    EXPECT_TRUE(ticker.cancel(often));
    ticker.stop();
    EXPECT_TRUE(ticker.join());
    EXPECT_EQ(count.allocations(), 0U);
}

struct Narrow : PooledTraits {
    static constexpr std::uint32_t depth = 2;
    static constexpr bool awaitedPosts = true;
};
class Full : public PooledObject<Full, Messages<int>, Narrow> {
public:
    void handle(const int&) {}
};

TEST(ActorAllocationTest, WaitingForRoomAllocatesNothing) {
    ManualExecutor executor;
    Running<Full> object(executor);
    while (object.post(1) == SendResult::ok) {
    }
    const AllocationCount count;
    EXPECT_EQ(object.postFor(std::chrono::hours(1), 1), SendResult::ok);
    EXPECT_EQ(count.allocations(), 0U);
}

}  // namespace
}  // namespace sluice::test
