#include "harness/run/machine.hpp"

#include "harness/machine/affinity.hpp"
#include "harness/machine/clock.hpp"
#include "harness/run/barrier.hpp"
#include "harness/run/message.hpp"
#include "harness/run/send_schedule.hpp"
#include "harness/statistics/statistics.hpp"

#include <sluice/base/platform.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace sluice::bench {

namespace {

struct alignas(128) SharedWord {
    std::atomic<std::uint64_t> value{0};
};

// Runs both sides on their CPUs. Returns the measurement of the second side, or an error.
template <class First, class Second>
Round runPair(int firstCpu, int secondCpu, First&& first, Second&& second) {
    Round round;
    StartBarrier barrier(2);
    // Relaxed: join() orders the read.
    std::atomic<bool> pinned{true};
    const auto start = [&](int cpu) {
        if (!pinThisThread(cpu)) {
            pinned.store(false, std::memory_order_relaxed);
        }
        barrier.arriveAndWait();
    };
    std::thread a([&] {
        start(firstCpu);
        first();
    });
    std::thread b([&] {
        start(secondCpu);
        second(round);
    });
    a.join();
    b.join();
    if (!pinned.load(std::memory_order_relaxed)) {
        round.error = "a thread could not be pinned to its CPU";
    }
    return round;
}

constexpr std::uint64_t trips = 4000;
constexpr int pingPongBatches = 4;

// Each turn uses the next of many words, because the time depends on the place of a word in the
// cache. The order is mixed, so that no prefetcher guesses the next word.
constexpr std::uint64_t words = 64;
using Table = std::array<SharedWord, words>;

std::atomic<std::uint64_t>& wordOf(Table& table, std::uint64_t turn) {
    return table[turn * 37 % words].value;
}

// Takes every second turn: it waits for the word of its turn, and writes the word of the next turn.
// It waits without a pause, because the pause would be timed, too.
void passTurns(Table& table, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t turn = first; turn < end; turn += 2) {
        while (wordOf(table, turn).load(std::memory_order_acquire) != turn) {
        }
        wordOf(table, turn + 1).store(turn + 1, std::memory_order_release);
    }
}

constexpr std::uint64_t batchLines = 256;
constexpr std::uint64_t ringLines = 4096;
constexpr std::uint64_t streamedLines = 100 * batchLines * 4;

using Line = Message<64>;

struct Stream {
    std::vector<Line> lines = std::vector<Line>(ringLines);
    SharedWord written;
    SharedWord read;
};

void writeLines(Stream& stream) {
    for (std::uint64_t line = 0; line < streamedLines; ++line) {
        if (line % batchLines == 0) {
            stream.written.value.store(line, std::memory_order_release);
            while (line + batchLines - stream.read.value.load(std::memory_order_acquire) >
                   ringLines) {
                cpuPause();
            }
        }
        stream.lines[line % ringLines] = Line(0, line);
    }
    stream.written.value.store(streamedLines, std::memory_order_release);
}

void readLines(Stream& stream, Receipt& receipt) {
    while (receipt.count() < streamedLines) {
        const std::uint64_t end = receipt.count() + batchLines;
        while (stream.written.value.load(std::memory_order_acquire) < end) {
            cpuPause();
        }
        for (std::uint64_t line = receipt.count(); line < end; ++line) {
            receipt.take(stream.lines[line % ringLines]);
        }
        stream.read.value.store(end, std::memory_order_release);
    }
}

constexpr std::size_t moments = 50000;

// Fills in how late each moment was noticed. Both CPUs watch the same moments.
void watchMoments(const SendSchedule& schedule, std::vector<double>& lateBy) {
    Nanoseconds clock = now();
    for (std::size_t i = 0; i < moments; ++i) {
        const Nanoseconds moment = schedule.intended(i);
        while (clock < moment) {
            clock = now();
        }
        lateBy[i] = double(clock - moment);
    }
}

}  // namespace

Round lineOneWayRound(int cpuA, int cpuB) {
    const auto table = std::make_unique<Table>();
    const auto partner = [&] { passTurns(*table, 1, 2 * trips * pingPongBatches); };
    const auto timer = [&](Round& round) {
        for (std::uint64_t batch = 0; batch < pingPongBatches; ++batch) {
            const Nanoseconds start = now();
            passTurns(*table, 2 * trips * batch, 2 * trips * (batch + 1));
            const double pass = double(now() - start) / double(2 * trips);
            round.ns = batch == 0 ? pass : std::min(round.ns, pass);
        }
    };
    return runPair(cpuA, cpuB, partner, timer);
}

Round lineStreamedRound(int fromCpu, int toCpu) {
    const auto stream = std::make_unique<Stream>();
    const auto timer = [&](Round& round) {
        Receipt receipt;
        const Nanoseconds start = now();
        readLines(*stream, receipt);
        round.ns = double(now() - start) / double(streamedLines);
        if (receipt.disorder() != 0) {
            round.error = "the receiver of streamed lines read something else";
        }
    };
    return runPair(
        fromCpu, toCpu, [&] { writeLines(*stream); }, timer);
}

Round MachineWatch::line() {
    Round round = lineOneWayRound(cpuA_, cpuB_);
    lineNs_.push_back(round.ns);
    return round;
}

RoundConditions MachineWatch::sinceLastCall() {
    RoundConditions conditions;
    if (share_) {
        conditions.others = share_->others();
        conditions.stolen = share_->stolen();
    }
    if (isLineNeeded_) {
        const double last = line().ns;
        const auto [shortest, longest] = std::minmax_element(lineNs_.begin(), lineNs_.end());
        conditions.shortestLineNs = *shortest;
        conditions.longestLineNs = *longest;
        lineNs_ = {last};
    }
    share_.emplace();
    return conditions;
}

Round wakefulnessRound(int cpuA, int cpuB) {
    constexpr Nanoseconds leadTime = 1000000;
    const SendSchedule schedule{now() + leadTime, 1000, nullptr};
    std::vector<double> lateA(moments);
    std::vector<double> lateB(moments);
    Round round = runPair(
        cpuA, cpuB, [&] { watchMoments(schedule, lateA); },
        [&](Round&) { watchMoments(schedule, lateB); });
    for (std::size_t i = 0; i < moments; ++i) {
        lateA[i] = std::max(lateA[i], lateB[i]);
    }
    round.ns = median(lateA);
    round.samples = std::move(lateA);
    return round;
}

}  // namespace sluice::bench
