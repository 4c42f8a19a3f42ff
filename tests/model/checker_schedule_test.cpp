#include "support/model/expectations.hpp"
#include "support/sanitizers.hpp"

#include <sluice/base/assert.hpp>

#include "support/testing.hpp"

// The checker itself: which schedules it walks, and how it notices that threads cannot go on.

namespace sluice::model {
namespace {

Options withBudget(Budget budget) {
    Options options;
    options.budget = budget;
    return options;
}

/// Which orders of n steps of A and n of B were seen.
std::set<std::string> interleavings(int steps, const Options& options) {
    std::set<std::string> orders;
    EXPECT_TRUE(holds(
        [&] {
            std::string order;
            Atomic<int> x{0};
            const auto thread = [&](char name) {
                for (int i = 0; i < steps; ++i) {
                    (void)x.fetch_add(1, relaxed);
                    order += name;
                }
            };
            parallel([&] { thread('A'); }, [&] { thread('B'); });
            orders.insert(order);
        },
        options));
    return orders;
}

TEST(CheckerScheduleTest, WalksEveryScheduleWithinTheBudget) {
    // A run of A's and a run of B's; each preemption adds a run, and every order of n + n steps
    // takes at most 2 n - 2 of them.
    EXPECT_EQ(interleavings(3, withBudget({0, 0})).size(), 2U);
    EXPECT_EQ(interleavings(3, withBudget({1, 0})).size(), 6U);
    EXPECT_EQ(interleavings(3, withBudget({4, 0})).size(), 20U);
}

TEST(CheckerScheduleTest, FindsADeadlock) {
    EXPECT_TRUE(failsWith("nobody can go on: T0 polls in vain; T1 polls in vain;", [] {
        Atomic<int> a{0};
        Atomic<int> b{0};
        const auto lock = [](Atomic<int>& mutex) {
            while (mutex.exchange(1, acquire) != 0) {
                ModelPlatform::pause();
            }
        };
        const auto unlock = [](Atomic<int>& mutex) { mutex.store(0, release); };
        parallel([&] { lock(a), lock(b), unlock(b), unlock(a); },
                 [&] { lock(b), lock(a), unlock(a), unlock(b); });
    }));
}

TEST(CheckerScheduleTest, ReportsTheScheduleThatFails) {
    const auto scenario = [] {
        Atomic<int> x{0};
        Plain<int> data;
        parallel([&] { data.set(1), x.store(7, relaxed); },
                 [&] {
                     if (x.load(acquire) == 7) {
                         (void)data.get();
                     }
                 });
    };
    const Result result = explore({}, scenario);
    EXPECT_EQ(result.verdict, Verdict::fails);
    EXPECT_EQ(result.failure,
              "data race: T1 reads c0, and nothing orders that after an access of T0");
    EXPECT_NE(result.report.find("store       a0       <- 7 relaxed"), std::string::npos);
    EXPECT_NE(result.report.find("checker_schedule_test.cpp"), std::string::npos);
    EXPECT_EQ(explore({}, scenario).report, result.report) << "the walk is the same each time";
}

#if !defined(NDEBUG)
TEST(CheckerScheduleTest, AFailedAssertionEndsTheExecution) {
    EXPECT_TRUE(failsWith("assertion: do it otherwise", [] {
        Atomic<int> x{0};
        parallel([&] { x.store(1, relaxed); },
                 [&] { SLUICE_ASSERT(x.load(relaxed) == 0, "do it otherwise"); });
    }));
}
#endif

// Not under sanitizers: they end the process first.
#if !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN
TEST(CheckerScheduleTest, AnInvalidPointerEndsTheExecution) {
    EXPECT_TRUE(failsWith("invalid pointer", [] {
        Atomic<int> isNull{0};
        int value = 0;
        const auto follow = [&] {
            int* volatile pointer = isNull.load(relaxed) == 1 ? nullptr : &value;
            value = *pointer;
        };
        parallel([&] { isNull.store(1, relaxed); }, follow);
    }));
}
#endif

#if defined(__cpp_exceptions)
struct YieldsDuringUnwinding {
    Atomic<int>& x;
    ~YieldsDuringUnwinding() { (void)x.fetch_add(1, relaxed); }
};

TEST(CheckerScheduleTest, ExceptionsOfSeveralThreadsMayBeInFlight) {
    EXPECT_TRUE(holds([] {
        Atomic<int> x{0};
        int sum = 0;
        const auto throwAndCatch = [&](int what) {
            try {
                const YieldsDuringUnwinding guard{x};
                throw what;
            } catch (int caught) {
                (void)x.fetch_add(1, relaxed);
                check(caught == what, "each thread catches its own");
                sum += caught;
            }
        };
        parallel([&] { throwAndCatch(1); }, [&] { throwAndCatch(2); });
        check(sum == 3, "both were caught");
    }));
}
#endif

}  // namespace
}  // namespace sluice::model
