#include "log_order.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/detail/lanes/record_queue.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <pthread.h>
#include <string>
#include <vector>

// Threads are interrupted at random, also between announcing, stamping and publishing, by handlers
// that spin or log.

namespace sluice::test {
namespace {

using log::detail::RecordQueueTraits;
using log::detail::StampClock;

struct BracketedTraits : RecordQueueTraits {
    using Clock = BracketedClock<StampClock>;
};
using RecordQueue = LabelQueue<BracketedTraits>;

/// The objects that the handler works with. One test runs at a time.
struct Scene {
    RecordQueue* queue;
    OrderOracle* oracle;
    std::uint32_t threads;
    std::uint32_t perThread;
};
Scene* scene = nullptr;
std::atomic<std::uint64_t> handled{0};
std::atomic<std::uint64_t> refused{0};

// Of the thread that is interrupted; touched before, so that no handler is the first to use them.
thread_local std::uint32_t ownNumber = 0;
thread_local std::uint32_t nextInHandler = 0;
thread_local Dice handlersDice(1);

void onSignal(int) {
    const int savedErrno = errno;
    const Bracket interruptedStamp = lastStamp;
    handled.fetch_add(1, std::memory_order_relaxed);
    if (handlersDice() % 4 == 0) {
        for (std::uint32_t pauses = handlersDice() % 2000; pauses != 0; --pauses) {
            cpuPause();
        }
    } else if (nextInHandler != scene->perThread) {
        const Label label{scene->threads + ownNumber, nextInHandler++};
        scene->oracle->begin(label);
        const SendResult posted = postBytes(*scene->queue, label, handlersDice() % 40,
                                            handlersDice() % 2 == 0 ? blocking : dropping);
        scene->oracle->end(label, posted == SendResult::ok);
        if (posted != SendResult::ok) {
            refused.fetch_add(1, std::memory_order_relaxed);
        }
    }
    lastStamp = interruptedStamp;
    errno = savedErrno;
}

class HandledSignal {
public:
    explicit HandledSignal(int number) : number_(number) {
        struct sigaction action {};
        action.sa_handler = onSignal;
        action.sa_flags = SA_RESTART;
        ::sigaction(number, &action, &before_);
    }
    ~HandledSignal() { ::sigaction(number_, &before_, nullptr); }
    HandledSignal(const HandledSignal&) = delete;
    HandledSignal& operator=(const HandledSignal&) = delete;

private:
    int number_;
    struct sigaction before_ {};
};

/// Runs the threads under a hail of signals, and judges.
void expectOrderUnderSignals(const OrderRun& run) {
    RecordQueue queue(run.options);
    OrderOracle oracle(2 * run.threads, run.perThread);
    const Watchdog watchdog(stateOf(queue));
    Scene here{&queue, &oracle, run.threads, run.perThread};
    scene = &here;
    handled = 0;
    refused = 0;
    const HandledSignal handler(SIGUSR1);

    std::vector<std::atomic<bool>> isOut(run.threads);
    std::vector<pthread_t> threads(run.threads);
    std::atomic<std::uint32_t> ready{0};
    std::atomic<bool> go{false};
    std::thread backEnd([&] { emitUntilDrained(queue, oracle, 16); });
    Crew crew;
    for (std::uint32_t t = 0; t < run.threads; ++t) {
        crew.add([&, t] {
            ownNumber = t;
            handlersDice = Dice(1000 + t);
            threads[t] = ::pthread_self();
            ASSERT_EQ(queue.post({t, 0}, 0, blocking, [](std::byte*) noexcept {}), SendResult::ok);
            ready.fetch_add(1);
            awaitThat([&] { return go.load(); });
            for (std::uint32_t i = 1; i < run.perThread; ++i) {
                oracle.begin({t, i});
                const SendResult posted = postBytes(queue, {t, i}, i % 50, run.policy);
                oracle.end({t, i}, posted == SendResult::ok);
            }
            isOut[t].store(true);
            awaitThat([&] { return !go.load(); });  // nobody sends a signal to a thread that ended
        });
    }
    crew.start();
    awaitThat([&] { return ready.load() == run.threads; });
    go.store(true);
    Dice dice(7);
    for (std::uint32_t left = run.threads; left != 0;) {
        left = 0;
        for (std::uint32_t t = 0; t < run.threads; ++t) {
            if (!isOut[t].load()) {
                ++left;
                ::pthread_kill(threads[t], SIGUSR1);
            }
        }
        for (std::uint32_t pauses = dice() % 500; pauses != 0; --pauses) {
            cpuPause();
        }
    }
    go.store(false);
    crew.join();
    queue.close();
    backEnd.join();
    scene = nullptr;

    EXPECT_GT(handled.load(), 0U);
    EXPECT_EQ(oracle.violationsByCall(), 0U);
    EXPECT_EQ(oracle.violationsByStamp(), 0U);
    const auto sum = queue.statistics();
    EXPECT_EQ(sum.logged, oracle.accepted() + run.threads);
    EXPECT_EQ(sum.emitted + sum.dropped, sum.logged);
    EXPECT_GE(sum.rejected, refused.load());
    EXPECT_EQ(sum.order_violations, 0U);
}

OrderRun withLimits(std::size_t messages) {
    OrderRun run;
    run.threads = 6;
    run.perThread = static_cast<std::uint32_t>(scaled(40000));
    run.options.laneMessages = messages;
    return run;
}

TEST(LogSignals, OrderHoldsWithRoom) {
    expectOrderUnderSignals(withLimits(8192));
}

TEST(LogSignals, OrderHoldsUnderBackPressure) {
    expectOrderUnderSignals(withLimits(3));
}

TEST(LogSignals, OrderHoldsWhileOverrunning) {
    OrderRun run = withLimits(3);
    run.policy = dropping;
    expectOrderUnderSignals(run);
}

}  // namespace
}  // namespace sluice::test
