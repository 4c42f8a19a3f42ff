#pragma once

#include "support/crew.hpp"
#include "support/dice.hpp"
#include "support/record_queue_tools.hpp"

#include <sluice/base/platform.hpp>
#include <sluice/log/detail/lanes/record_queue.hpp>

#include "support/testing.hpp"
#include <thread>

namespace sluice::test {

/// Two readings of a clock that knows nothing of stamps, with a moment in between.
struct Bracket {
    using Time = std::int64_t;

    Time before = 0;
    Time after = 0;

    static Time time() {
        return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
    }
};

/// Round the last stamp that this thread took, if its clock tells.
inline thread_local Bracket lastStamp;

/// A stamp clock whose every stamp is bracketed.
template <class Base>
struct BracketedClock : Base {
    template <class Word>
    static log::detail::Stamp announceThenNow(Word& word, std::uint64_t value) noexcept {
        Bracket stamp;
        stamp.before = Bracket::time();
        const log::detail::Stamp key = Base::announceThenNow(word, value);
        stamp.after = Bracket::time();
        lastStamp = stamp;
        return key;
    }
};

/// Judges the order in which records were emitted by brackets, and by nothing else:
///
/// - round the calls: if one call was over before another began, its record must come first;
/// - round the moments of the stamps: if one was taken before the other, its record must come
///   first, whether the calls overlapped or not.
class OrderOracle {
public:
    OrderOracle(std::uint32_t threads, std::uint32_t perThread) {
        calls_.resize(threads, std::vector<Call>(perThread));
    }

    /// By the posting thread, each for its own records.
    void begin(const Label& label) { at(label).call.before = Bracket::time(); }
    void end(const Label& label, bool accepted) {
        Call& call = at(label);
        call.call.after = Bracket::time();
        call.stamp = lastStamp;
        call.accepted = accepted;
    }

    /// By the back end.
    void emitted(const Label& label) { order_.push_back(label); }

    [[nodiscard]] std::size_t emittedCount() const { return order_.size(); }

    /// Records whose call was over before that of one in front of them began.
    [[nodiscard]] std::size_t violationsByCall() const { return violations(&Call::call); }
    /// Records that were stamped before one in front of them.
    [[nodiscard]] std::size_t violationsByStamp() const { return violations(&Call::stamp); }

    /// Records that were not emitted in the order of their thread's calls, or twice.
    [[nodiscard]] std::size_t disorderWithinThreads() const {
        std::size_t count = 0;
        std::vector<std::uint32_t> next(calls_.size(), 0);
        for (const Label& label : order_) {
            count += label.number < next[label.thread] ? 1 : 0;
            next[label.thread] = label.number + 1;
        }
        return count;
    }

    [[nodiscard]] std::size_t accepted() const {
        std::size_t count = 0;
        for (const auto& calls : calls_) {
            count += static_cast<std::size_t>(std::count_if(
                calls.begin(), calls.end(), [](const Call& call) { return call.accepted; }));
        }
        return count;
    }

private:
    struct Call {
        Bracket call;
        Bracket stamp;
        bool accepted = false;
    };

    Call& at(const Label& label) { return calls_[label.thread][label.number]; }

    /// All pairs are judged: a record that was over before one in front of it began was over before
    /// the one among them that began last.
    [[nodiscard]] std::size_t violations(Bracket Call::*bracket) const {
        std::size_t count = 0;
        Bracket::Time latestBegin = 0;
        for (const Label& label : order_) {
            const Bracket& own = calls_[label.thread][label.number].*bracket;
            count += own.after < latestBegin ? 1 : 0;
            latestBegin = std::max(latestBegin, own.before);
        }
        return count;
    }

    std::vector<std::vector<Call>> calls_;
    std::vector<Label> order_;
};

/// Emits until the queue is closed and drained; judges nothing.
template <class RecordQueue>
void emitUntilDrained(RecordQueue& queue, OrderOracle& oracle, std::size_t max = 64) {
    const auto emit = [&oracle](const typename RecordQueue::Record& record) {
        oracle.emitted(record.head);
    };
    while (!queue.isDrained()) {
        queue.waitForWork(StdPlatform::Clock::now() + std::chrono::milliseconds(100));
        queue.poll();
        while (queue.emitBefore(log::detail::endOfTime, max, emit) == max) {
        }
    }
}

struct OrderRun {
    std::uint32_t threads = 12;
    std::uint32_t perThread = 3000;
    log::detail::RecordQueueOptions options;
    Overflow policy = blocking;
};

/// Many threads post, one emits.
template <class RecordQueue>
void runOrdered(RecordQueue& queue, const OrderRun& run, OrderOracle& oracle) {
    std::thread backEnd([&] { emitUntilDrained(queue, oracle); });
    Crew crew;
    for (std::uint32_t t = 0; t < run.threads; ++t) {
        crew.add([&, t] {
            Dice dice(t + 1);
            for (std::uint32_t i = 0; i < run.perThread; ++i) {
                const Label label{t, i};
                oracle.begin(label);
                const auto posted = postBytes(queue, label, dice() % 60, run.policy);
                oracle.end(label, posted == SendResult::ok);
                for (std::uint32_t pauses = dice() % 64; pauses > 32; --pauses) {
                    cpuPause();
                }
            }
        });
    }
    crew.join();
    queue.close();
    backEnd.join();
}

}  // namespace sluice::test
