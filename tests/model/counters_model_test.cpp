#include "support/model/expectations.hpp"
#include "support/sanitizers.hpp"

#include <sluice/base/per_thread_counters.hpp>
#include <sluice/bus/detail/bus_counts.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

// The counters of all threads and the books of the bus as shipped, under the model checker. The
// threads are real ones: their counters are thread-local, and given back when they end.

namespace sluice::model {
namespace {

using Counters = PerThreadCounters<ModelPlatform, 2>;
using Counts = detail::BusCounts<ModelPlatform, 1>;
using detail::PublishOutcome;

constexpr auto acquire = std::memory_order_acquire;
constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto release = std::memory_order_release;

/// A reader that finds the second count also finds the first one, which came before it.
void laterCountCarriesTheEarlierOne() {
    SingleWriterCounter<ModelPlatform> first;
    SingleWriterCounter<ModelPlatform> second;
    parallel(
        [&] {
            const std::uint64_t later = second.get();
            check(first.get() >= later, "the first count comes before the second");
        },
        [&] { first.add(1); },
        [&] {
            if (first.get() == 1) {
                second.add(1);
            }
        });
}

/// No message seems to be delivered that was not published.
void deliveredIsAtMostPublished() {
    Counts counts;
    Atomic<int> isPublished{0};
    parallel(
        [&] {
            const auto found = counts.get().counts[0][0];
            check(found.delivered <= found.published, "delivered without being published");
        },
        [&] {
            counts.count(0, Priority::low, detail::PublishOutcome::published, 1);
            isPublished.store(1, release);
        },
        [&] {
            if (isPublished.load(acquire) == 1) {
                counts.count(0, Priority::low, detail::ConsumeOutcome::delivered);
            }
        });
}

/// The counters outlive their owner while a thread has some; the last user frees them.
void threadEndsAfterTheOwner() {
    auto* const counters = new Counters;
    Atomic<int> isCounted{0};
    parallel(
        [&] {
            while (isCounted.load(acquire) == 0) {
                ModelPlatform::pause();
            }
            check(counters->sum(0) == 1, "it is counted");
            delete counters;
        },
        [&] {
            counters->add(0, 1);
            isCounted.store(1, release);
        });
}

/// A thread that finds nobody inside may destroy what the others have used, if it knows of their
/// counts. `beInside` is told to call its argument while it is inside.
template <class BeInside>
void nobodyInsideMeansThatAllHaveLeft(BeInside beInside) {
    Counters counters;
    Cell<int> used;
    used.construct(0);
    Atomic<int> isDone{0};
    parallel(
        [&] {
            while (isDone.load(acquire) == 0) {
                ModelPlatform::pause();
            }
            while (counters.isAnotherInside()) {
                ModelPlatform::pause();
            }
            used.get() = 2;
        },
        [&] {
            beInside(
                counters, [&] { isDone.store(1, release); },
                [&] { check(used.get() != 2, "destroyed while it was inside"); });
            (void)isDone.load(relaxed);  // the thread goes on for a while
        });
}

void beInsideOnce(Counters& counters) {
    Counters::Inside inside;
    counters.add(0, 1, inside);
}

/// By a count.
void insideByACount() {
    nobodyInsideMeansThatAllHaveLeft([](Counters& counters, auto tell, auto use) {
        Counters::Inside inside;
        counters.add(0, 1, inside);
        tell();
        use();
    });
}

/// A thread stays, and is inside once more meanwhile.
void insideByStaying() {
    nobodyInsideMeansThatAllHaveLeft([](Counters& counters, auto tell, auto use) {
        const Counters::Staying staying(counters);
        beInsideOnce(counters);
        tell();
        use();
    });
}

/// A thread that is inside by a count begins to stay.
void insideByACountAndThenByStaying() {
    nobodyInsideMeansThatAllHaveLeft([](Counters& counters, auto tell, auto use) {
        Counters::Inside inside;
        counters.add(0, 1, inside);
        tell();
        const Counters::Staying staying(counters);
        beInsideOnce(counters);
        use();
    });
}

/// A thread that ends hands its counters on.
void countersAreHandedOn() {
    Counters counters;
    const auto add = [&] { counters.add(0, 1), counters.add(0, 1); };
    parallel(add, add);
    check(counters.sum(0) == 4, "no count is lost");
    check(counters.mostThreads() <= 2, "one set for each thread at most");
}

Options ownThreads() {
    Options result = options(budgetByEffort({1, 1}, {2, 1}));
    result.ownThreads = true;
    return result;
}

TEST(CountersModelTest, ALaterCountCarriesTheEarlierOne) {
    EXPECT_TRUE(holds(laterCountCarriesTheEarlierOne));
    EXPECT_TRUE(holds(deliveredIsAtMostPublished, ownThreads()));
}

TEST(CountersModelTest, NobodyInsideMeansThatAllHaveLeft) {
    EXPECT_TRUE(holds(insideByACount, ownThreads()));
    EXPECT_TRUE(holds(insideByStaying, ownThreads()));
    EXPECT_TRUE(holds(insideByACountAndThenByStaying, ownThreads()));
}

TEST(CountersModelTest, NoCountIsLostWhenThreadsEnd) {
    EXPECT_TRUE(holds(countersAreHandedOn, ownThreads()));
    EXPECT_TRUE(holds(threadEndsAfterTheOwner, ownThreads()));
}

// Not under sanitizers: they end the process for the faults that mutants are meant to have.
#if !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN
TEST(CountersModelTest, EveryOrderIsNeeded) {
    const Options options = ownThreads();
    EXPECT_TRUE(
        survive({}, surveyOrders("per_thread_counters.hpp", options,
                                 {threadEndsAfterTheOwner, countersAreHandedOn, insideByACount,
                                  insideByStaying, insideByACountAndThenByStaying})));
    EXPECT_TRUE(survive(
        {}, surveyOrders("counter.hpp", {}, {laterCountCarriesTheEarlierOne})));
    EXPECT_TRUE(survive(
        {}, surveyOrders("counter.hpp", options, {deliveredIsAtMostPublished})));
}
#endif

}  // namespace
}  // namespace sluice::model
