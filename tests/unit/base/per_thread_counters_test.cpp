#include "support/interrupting_platform.hpp"

#include <sluice/base/per_thread_counters.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <thread>

namespace sluice {
namespace {

using Counters = PerThreadCounters<StdPlatform, 3>;

TEST(PerThreadCountersTest, SumsWhatAllThreadsHaveCounted) {
    Counters counters;
    counters.add(0, 1);
    counters.add(2, 5);
    std::thread([&] {
        counters.add(0, 10);
        counters.add(0, 100);
    }).join();
    EXPECT_EQ(counters.sum(0), 111U);
    EXPECT_EQ(counters.sum(1), 0U);
    EXPECT_EQ(counters.sum(2), 5U);
}

/// Whether another thread sees one inside.
bool isSeenInside(const Counters& counters) {
    bool isSeen = false;
    std::thread([&] { isSeen = counters.isAnotherInside(); }).join();
    return isSeen;
}

TEST(PerThreadCountersTest, KnowsWhetherAThreadIsInside) {
    Counters counters;
    EXPECT_FALSE(isSeenInside(counters));
    {
        Counters::Inside inside;
        EXPECT_FALSE(isSeenInside(counters)) << "it has counted nothing";
        counters.add(0, 1, inside);
        EXPECT_TRUE(isSeenInside(counters));
        std::thread([&] {
            Counters::Inside another;
            counters.add(0, 1, another);
        }).join();
        EXPECT_TRUE(isSeenInside(counters)) << "the other one has left";
    }
    EXPECT_FALSE(isSeenInside(counters));
    EXPECT_EQ(counters.sum(0), 2U);
}

TEST(PerThreadCountersTest, ThreadThatStaysIsInside) {
    Counters counters;
    {
        const Counters::Staying staying(counters);
        EXPECT_TRUE(isSeenInside(counters)) << "it need not count";
        EXPECT_FALSE(counters.isAnotherInside()) << "a thread does not wait for itself";
        {
            Counters::Inside nested;
            counters.add(0, 1, nested);
        }
        EXPECT_TRUE(isSeenInside(counters));
        { const Counters::Staying nested(counters); }
        EXPECT_TRUE(isSeenInside(counters));
    }
    EXPECT_FALSE(isSeenInside(counters));
}

TEST(PerThreadCountersTest, ThreadsThatComeLaterGoOnWithTheCountersOfThoseThatHaveEnded) {
    Counters counters;
    for (int i = 0; i < 100; ++i) {
        std::thread([&] { counters.add(1, 1); }).join();
    }
    EXPECT_EQ(counters.sum(1), 100U);
    EXPECT_EQ(counters.mostThreads(), 1U);
}

/// Counts in the destructor of a thread-local variable, which may be after the counters have been
/// given back.
struct LateCounter {
    Counters* counters = nullptr;
    ~LateCounter() {
        if (counters != nullptr) {
            counters->add(0, 1);
        }
    }
};

TEST(PerThreadCountersTest, ThreadMayCountWhileItEnds) {
    Counters counters;
    std::thread([&] {
        thread_local LateCounter late;  // made first, so destroyed last
        late.counters = &counters;
        counters.add(0, 1);
    }).join();
    EXPECT_EQ(counters.sum(0), 2U);
}

TEST(PerThreadCountersTest, ObjectsAreKeptApart) {
    Counters first;
    Counters second;
    for (int i = 0; i < 10; ++i) {
        first.add(0, 1);
        second.add(0, 2);
    }
    EXPECT_EQ(first.sum(0), 10U);
    EXPECT_EQ(second.sum(0), 20U);
}

TEST(PerThreadCountersTest, AttachedThreadHasCounters) {
    Counters counters;
    EXPECT_EQ(counters.mostThreads(), 0U);
    EXPECT_TRUE(counters.attach());
    EXPECT_TRUE(counters.attach());
    EXPECT_EQ(counters.mostThreads(), 1U);
    counters.add(0, 3);
    EXPECT_EQ(counters.sum(0), 3U);
    EXPECT_EQ(counters.mostThreads(), 1U);
}

#if !defined(NDEBUG) && defined(GTEST_HAS_DEATH_TEST)
TEST(PerThreadCountersDeathTest, SignalHandlerThatCountsIsNoticed) {
    using Interrupted = PerThreadCounters<test::InterruptingPlatform, 1>;
    const auto make = [] {
        auto counters = std::make_unique<Interrupted>();
        EXPECT_TRUE(counters->attach());
        return counters;
    };
    const auto add = [](Interrupted& counters) { counters.add(0, 1); };
    EXPECT_DEATH(test::interruptEverywhere(make, add, add, [](Interrupted&) {}),
                 "a signal handler counts");
}
#endif

}  // namespace
}  // namespace sluice
