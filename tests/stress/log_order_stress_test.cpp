#include "log_order.hpp"
#include "support/jitter_platform.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/detail/lanes/record_queue.hpp>

#include "support/testing.hpp"

// The order of the log, judged without its own stamps. See OrderOracle.

namespace sluice::test {
namespace {

using log::detail::RecordQueueTraits;
using log::detail::Stamp;
using log::detail::StampClock;

/// Threads lose the processor in the middle of everything, also between announcing, stamping and
/// publishing.
struct InterruptedClock : StampClock {
    template <class Word>
    static Stamp announceThenNow(Word& word, std::uint64_t value) noexcept {
        jitter();
        const Stamp stamp = StampClock::announceThenNow(word, value);
        interrupt();
        return stamp;
    }
    static Stamp nowThenLoad() noexcept {
        const Stamp stamp = StampClock::nowThenLoad();
        jitter();
        return stamp;
    }

    /// A thread that has its stamp stops for a while, now and then.
    static void interrupt() noexcept {
        thread_local Dice dice(
            static_cast<std::uint32_t>(std::hash<std::thread::id>{}(std::this_thread::get_id())));
        if (dice() % 64 == 0) {
            for (std::uint32_t yields = dice() % 4; yields != 0; --yields) {
                std::this_thread::yield();
            }
        }
    }
};

struct BracketedTraits : RecordQueueTraits {
    using Clock = BracketedClock<StampClock>;
};

struct ShakenTraits : RecordQueueTraits {
    using Platform = JitterPlatform;
    using Clock = BracketedClock<InterruptedClock>;
};

/// The system's clock, as where the processor's counter is not to be had.
struct SystemStampClock {
    template <class Word>
    static Stamp announceThenNow(Word& word, std::uint64_t value) noexcept {
        word.exchange(value, std::memory_order_seq_cst);
        const Stamp stamp = now();
        InterruptedClock::interrupt();
        return stamp;
    }
    static Stamp now() noexcept {
        return static_cast<Stamp>(Bracket::time()) / coarseness * coarseness;
    }
    static Stamp nowThenLoad() noexcept {
        const Stamp stamp = now();
        PortableFence::heavy();
        return stamp;
    }
    static void waitUntilPast(Stamp stamp) noexcept {
        while (now() <= stamp) {
        }
    }
    /// Ticks of 2 us: many records have equal stamps.
    static constexpr Stamp coarseness = 2000;
};

struct CoarseTraits : RecordQueueTraits {
    using Clock = SystemStampClock;
};

template <class Traits>
class LogOrder : public testing::Test {};

struct TraitsNames {
    template <class Traits>
    static std::string GetName(int) {
        return std::is_same_v<Traits, RecordQueueTraits> ? "Plain"
               : std::is_same_v<Traits, BracketedTraits> ? "Bracketed"
               : std::is_same_v<Traits, ShakenTraits>    ? "Shaken"
                                                         : "CoarseClock";
    }
};
using AllTraits = testing::Types<RecordQueueTraits, BracketedTraits, ShakenTraits, CoarseTraits>;
TYPED_TEST_SUITE(LogOrder, AllTraits, TraitsNames);

template <class Traits>
void expectOrder(const OrderRun& run) {
    LabelQueue<Traits> queue(run.options);
    OrderOracle oracle(run.threads, run.perThread);
    const Watchdog watchdog(stateOf(queue));
    runOrdered(queue, run, oracle);
    EXPECT_EQ(oracle.violationsByCall(), 0U);
    EXPECT_EQ(oracle.violationsByStamp(), 0U);
    EXPECT_EQ(oracle.disorderWithinThreads(), 0U);
    const auto sum = queue.statistics();
    EXPECT_EQ(sum.logged, oracle.accepted());
    EXPECT_EQ(oracle.emittedCount() + sum.dropped, sum.logged);
    EXPECT_EQ(sum.logged + sum.rejected, std::uint64_t{run.threads} * run.perThread);
}

OrderRun withLimits(std::size_t messages, std::size_t bytes = 1 << 16) {
    OrderRun run;
    run.perThread = static_cast<std::uint32_t>(scaled(6000));
    run.options.laneMessages = messages;
    run.options.laneBytes = bytes;
    return run;
}

TYPED_TEST(LogOrder, ManyThreadsWithRoom) {
    expectOrder<TypeParam>(withLimits(8192));
}

TYPED_TEST(LogOrder, BackPressure) {
    expectOrder<TypeParam>(withLimits(3));
    expectOrder<TypeParam>(withLimits(1));
    expectOrder<TypeParam>(withLimits(100, 256));
}

TYPED_TEST(LogOrder, Overrun) {
    OrderRun run = withLimits(4);
    run.policy = dropping;
    expectOrder<TypeParam>(run);
}

TYPED_TEST(LogOrder, Discard) {
    OrderRun run = withLimits(4);
    run.policy = rejecting;
    expectOrder<TypeParam>(run);
}

// ---- Queues that are wrong on purpose: the oracle must notice each.

/// Stamps without announcing: the back end cannot know of a record between its stamp and its
/// publication.
struct SilentClock : StampClock {
    template <class Word>
    static Stamp announceThenNow(Word&, std::uint64_t) noexcept {
        lastStamp.before = Bracket::time();
        const Stamp stamp = StampClock::now();
        lastStamp.after = Bracket::time();
        InterruptedClock::interrupt();
        return stamp;
    }
};

/// A back end without a watermark: it emits all records that it sees, smallest stamp first.
struct EagerClock : StampClock {
    template <class Word>
    static Stamp announceThenNow(Word& word, std::uint64_t value) noexcept {
        const Stamp stamp = StampClock::announceThenNow(word, value);
        InterruptedClock::interrupt();
        return stamp;
    }
    static Stamp nowThenLoad() noexcept { return log::detail::endOfTime; }
};

template <class FaultyClock>
struct FaultyTraits : RecordQueueTraits {
    using Platform = JitterPlatform;
    using Clock = FaultyClock;
};

struct Verdict {
    std::size_t byCall;
    std::size_t byStamp;
};

/// Repeats the run until the oracle has found something, at most 1000 times.
template <class FaultyClock>
Verdict judge(const OrderRun& run) {
    Verdict verdict{0, 0};
    for (int i = 0; i < 1000 && verdict.byCall + verdict.byStamp == 0; ++i) {
        LabelQueue<FaultyTraits<FaultyClock>> queue(run.options);
        OrderOracle oracle(run.threads, run.perThread);
        const Watchdog watchdog(stateOf(queue));
        runOrdered(queue, run, oracle);
        verdict = {oracle.violationsByCall(), oracle.violationsByStamp()};
    }
    return verdict;
}

TEST(LogOrderOracle, FailsWithoutTheAnnouncement) {
    EXPECT_GT(judge<SilentClock>(withLimits(8192)).byStamp, 0U);
}

TEST(LogOrderOracle, FailsWithoutTheWatermark) {
    EXPECT_GT(judge<EagerClock>(withLimits(8192)).byCall, 0U);
}

}  // namespace
}  // namespace sluice::test
