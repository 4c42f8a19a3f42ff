#pragma once

#include "support/crew.hpp"
#include "support/dice.hpp"
#include "support/jitter_platform.hpp"
#include "support/queue_shapes.hpp"
#include "support/scale.hpp"
#include "support/stamp.hpp"
#include "support/watchdog.hpp"

#include "support/testing.hpp"
#include <cinttypes>
#include <thread>

// The common part of the stress tests of the queues: producers push numbered messages until the
// queue is closed at an arbitrary moment, and a consumer keeps books.

namespace sluice::test {

inline constexpr std::size_t maxProducers = 4;

/// How far each thread of a test has come, for the watchdog. Nothing synchronises through it.
struct Progress {
    std::array<std::atomic<std::uint64_t>, maxProducers> accepted{};
    std::atomic<std::uint64_t> delivered{0};
    std::atomic<std::uint64_t> round{0};

    void print(std::FILE* out) const {
        std::fprintf(out, "round %" PRIu64 ", accepted", round.load(std::memory_order_relaxed));
        for (const auto& count : accepted) {
            std::fprintf(out, " %" PRIu64, count.load(std::memory_order_relaxed));
        }
        std::fprintf(out, ", delivered %" PRIu64 "\n", delivered.load(std::memory_order_relaxed));
    }
};

/// A watchdog over a test of many rounds; it also prints the state of the queue of the running
/// round, if it is told which.
template <class Queue>
class RoundWatch {
public:
    explicit RoundWatch(const Progress& progress)
        : watchdog_([this, &progress](std::FILE* out) {
              progress.print(out);
              if (const Queue* queue = queue_.load(std::memory_order_acquire)) {
                  std::fprintf(out, "size %zu of %zu, closed %d, drained %d\n", queue->sizeApprox(),
                               queue->capacity(), queue->isClosed(), queue->isDrained());
              }
          }) {}

    void watch(const Queue* queue) noexcept { queue_.store(queue, std::memory_order_release); }

private:
    std::atomic<const Queue*> queue_{nullptr};
    Watchdog watchdog_;
};

/// Pushes numbered messages until the queue is closed; returns how many were accepted.
template <class Producer>
std::uint64_t pushUntilClosed(Producer& producer, std::size_t self, Progress& progress) {
    for (std::uint64_t next = 0;;) {
        switch (producer.tryPush(Stamp::of(self, next))) {
        case SendResult::ok:
            progress.accepted.at(self).store(++next, std::memory_order_relaxed);
            break;
        case SendResult::full:
            std::this_thread::yield();
            break;
        case SendResult::closed:
            return next;
        }
    }
}

/// Takes messages out in changing ways until the queue says that it is drained.
template <class Queue>
void consumeUntilDrained(Queue& queue, Ledger& ledger, Progress& progress, std::uint32_t seed) {
    Dice dice(seed);
    const auto enter = [&](Stamp& stamp) { ledger.enter(stamp); };
    while (!queue.isDrained()) {
        const std::uint32_t way = dice() % 8;
        const std::uint64_t before = ledger.received();
        if (way < 2) {
            if (const auto popped = queue.tryPop()) {
                ledger.enter(*popped);
            }
        } else {
            queue.consume(enter, way < 4 ? way : unlimited);
        }
        if (ledger.received() == before) {
            std::this_thread::yield();
        }
        progress.delivered.store(ledger.received(), std::memory_order_relaxed);
    }
}

/// One round: each accepted message is delivered once, at whatever moment the queue is closed.
template <class Queue>
void closeWhileProducing(std::size_t producers, std::uint64_t closeAfter, std::uint32_t seed,
                         Progress& progress, RoundWatch<Queue>& watch) {
    const auto queue = std::make_unique<Queue>();
    watch.watch(queue.get());
    Ledger ledger(producers);
    std::vector<std::uint64_t> accepted(producers, 0);
    {
        Crew crew;
        for (std::size_t self = 0; self < producers; ++self) {
            crew.add([&, self, producer = queue->producer()]() mutable {
                accepted[self] = pushUntilClosed(producer, self, progress);
            });
        }
        crew.add([&] {
            awaitThat(
                [&] { return progress.delivered.load(std::memory_order_relaxed) >= closeAfter; });
            queue->close();
        });
        crew.start();
        consumeUntilDrained(*queue, ledger, progress, seed);
    }
    ledger.expectExactly(accepted);
    EXPECT_FALSE(queue->tryPop().has_value()) << "after it said that it was drained";
    watch.watch(nullptr);
}

/// Many short rounds, closed anywhere within the first laps, and one long one.
template <class Shape, std::size_t Capacity, class Traits>
void stress(std::size_t producers, std::uint64_t messages) {
    using Queue = TestQueue<Shape, Stamp, Capacity, Traits>;
    Progress progress;
    RoundWatch<Queue> watch(progress);
    Dice dice(static_cast<std::uint32_t>(17 + producers));
    const std::uint64_t shortRounds = messages / 512 + 1;
    for (std::uint64_t round = 0; round <= shortRounds; ++round) {
        progress.round.store(round, std::memory_order_relaxed);
        progress.delivered.store(0, std::memory_order_relaxed);
        const std::uint64_t closeAfter = round < shortRounds ? dice() % 96 : messages;
        closeWhileProducing(producers, closeAfter, dice(), progress, watch);
        ASSERT_FALSE(testing::Test::HasFailure()) << "in round " << round;
    }
}

/// All small and large capacities, as shipped and with jitter.
template <class Shape>
void stressAtAllCapacities(std::size_t producers) {
    using Plain = TestTraits<>;
    using Jitter = TestTraits<JitterPlatform>;
    stress<Shape, 1, Plain>(producers, scaled(10000));
    stress<Shape, 5, Plain>(producers, scaled(20000));
    stress<Shape, 1024, Plain>(producers, scaled(100000));
    stress<Shape, 1, Jitter>(producers, scaled(5000));
    stress<Shape, 3, Jitter>(producers, scaled(10000));
    stress<Shape, 64, Jitter>(producers, scaled(20000));
}

}  // namespace sluice::test
