#include "support/model/expectations.hpp"

#include "support/testing.hpp"

// The checker itself: which values loads may return, and what counts as a data race. The names of
// the programs are those of the literature on memory models.

namespace sluice::model {
namespace {

constexpr auto seqCst = std::memory_order_seq_cst;
using Fence = ModelPlatform::Fence;
using Outcomes = std::set<std::vector<int>>;

Options deep() {
    Options options;
    options.budget = {4, 4};
    return options;
}

/// All results of a program; each run reports one.
template <class Program>
Outcomes outcomesOf(Program program) {
    Outcomes outcomes;
    EXPECT_TRUE(holds([&] { outcomes.insert(program()); }, deep()));
    return outcomes;
}

/// SB: each thread stores to its own variable, then loads the other's.
template <class Between1, class Between2>
Outcomes storeBuffering(std::memory_order store, std::memory_order load, Between1 between1,
                        Between2 between2) {
    return outcomesOf([&] {
        Atomic<int> x{0};
        Atomic<int> y{0};
        int a = 0;
        int b = 0;
        parallel([&] { x.store(1, store), between1(), a = y.load(load); },
                 [&] { y.store(1, store), between2(), b = x.load(load); });
        return std::vector<int>{a, b};
    });
}

const Outcomes all2{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
const Outcomes notBothOld{{0, 1}, {1, 0}, {1, 1}};

TEST(CheckerMemoryTest, StoresAreBufferedWithoutAFence) {
    EXPECT_EQ(storeBuffering(
                  relaxed, relaxed, [] {}, [] {}),
              all2);
    EXPECT_EQ(storeBuffering(
                  release, acquire, [] {}, [] {}),
              all2);
    EXPECT_EQ(storeBuffering(
                  seqCst, seqCst, [] {}, [] {}),
              notBothOld);
}

TEST(CheckerMemoryTest, FencesPairExceptLightWithLight) {
    const auto light = [] { Fence::light(); };
    const auto heavy = [] { Fence::heavy(); };
    EXPECT_EQ(storeBuffering(relaxed, relaxed, light, heavy), notBothOld);
    EXPECT_EQ(storeBuffering(relaxed, relaxed, heavy, heavy), notBothOld);
    EXPECT_EQ(storeBuffering(relaxed, relaxed, light, light), all2);
    EXPECT_EQ(storeBuffering(relaxed, relaxed, heavy, [] {}), all2);
}

Outcomes messagePassing(std::memory_order store, std::memory_order load) {
    return outcomesOf([&] {
        Atomic<int> data{0};
        Atomic<int> flag{0};
        int sawFlag = 0;
        int sawData = 0;
        parallel([&] { data.store(1, relaxed), flag.store(1, store); },
                 [&] { sawFlag = flag.load(load), sawData = data.load(relaxed); });
        return std::vector<int>{sawFlag, sawData};
    });
}

TEST(CheckerMemoryTest, OnlyReleaseWithAcquirePassesMessages) {
    EXPECT_EQ(messagePassing(relaxed, acquire), all2);
    EXPECT_EQ(messagePassing(release, relaxed), all2);
    EXPECT_EQ(messagePassing(release, acquire), (Outcomes{{0, 0}, {0, 1}, {1, 1}}));
}

TEST(CheckerMemoryTest, LoadsOfOneVariableNeverGoBack) {
    const Outcomes outcomes = outcomesOf([] {
        Atomic<int> x{0};
        int a = 0;
        int b = 0;
        parallel([&] { x.store(1, relaxed), x.store(2, relaxed); },
                 [&] { a = x.load(relaxed), b = x.load(relaxed); });
        return std::vector<int>{a, b};
    });
    EXPECT_EQ(outcomes, (Outcomes{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}));
}

/// IRIW: two readers see two independent stores, in opposite orders if nothing forbids it.
Outcomes independentReads(std::memory_order store, std::memory_order load) {
    return outcomesOf([&] {
        Atomic<int> x{0};
        Atomic<int> y{0};
        int a = 0;
        int b = 0;
        int c = 0;
        int d = 0;
        parallel([&] { a = x.load(load), b = y.load(load); },
                 [&] { c = y.load(load), d = x.load(load); }, [&] { x.store(1, store); },
                 [&] { y.store(1, store); });
        return std::vector<int>{a, b, c, d};
    });
}

TEST(CheckerMemoryTest, ReadersMayDisagreeUnlessSequentiallyConsistent) {
    const std::vector<int> disagreement{1, 0, 1, 0};
    EXPECT_EQ(independentReads(release, acquire).count(disagreement), 1U);
    EXPECT_EQ(independentReads(seqCst, seqCst).count(disagreement), 0U);
}

/// A flag is stored with release, changed by somebody else, and loaded with acquire.
template <class Change>
std::function<void()> releaseSequence(Change change) {
    return [change] {
        Plain<int> data;
        Atomic<int> flag{0};
        parallel([&] { data.set(1), flag.store(1, release); }, [&] { change(flag); },
                 [&] {
                     if (flag.load(acquire) == 2) {
                         (void)data.get();
                     }
                 });
    };
}

TEST(CheckerMemoryTest, ReadModifyWriteContinuesAReleaseSequenceAndAStoreEndsIt) {
    EXPECT_TRUE(holds(releaseSequence([](Atomic<int>& flag) {
        int one = 1;
        (void)flag.compare_exchange_strong(one, 2, relaxed, relaxed);
    })));
    EXPECT_TRUE(failsWith("data race", releaseSequence([](Atomic<int>& flag) {
                              if (flag.load(relaxed) == 1) {
                                  flag.store(2, relaxed);
                              }
                          })));
}

TEST(CheckerMemoryTest, FencesDoNotMakeADataRaceLegal) {
    EXPECT_TRUE(failsWith("data race", [] {
        Plain<int> data;
        Atomic<int> flag{0};
        parallel([&] { data.set(1), Fence::heavy(), flag.store(1, relaxed); },
                 [&] {
                     if (flag.load(relaxed) == 1) {
                         Fence::heavy();
                         (void)data.get();
                     }
                 });
    }));
}

TEST(CheckerMemoryTest, ReadersOfPlainDataDoNotRaceWithEachOther) {
    EXPECT_TRUE(holds([] {
        const Plain<int> data(1);
        parallel([&] { (void)data.get(); }, [&] { (void)data.get(); });
    }));
    EXPECT_TRUE(failsWith("data race: T1 writes", [] {
        Plain<int> data(1);
        parallel([&] { (void)data.get(); }, [&] { data.set(2); });
    }));
}

TEST(CheckerMemoryTest, CellsAreUsedInTurn) {
    EXPECT_TRUE(failsWith("over one that lives", [] {
        Cell<int> cell;
        cell.construct(1);
        cell.construct(2);
    }));
    EXPECT_TRUE(failsWith("holds no object", [] {
        Cell<int> cell;
        (void)cell.get();
    }));
    EXPECT_TRUE(failsWith("where none lives", [] {
        Cell<int> cell;
        cell.destroy();
    }));
}

TEST(CheckerMemoryTest, WeakCompareExchangeFailsForNoReason) {
    const Outcomes outcomes = outcomesOf([] {
        Atomic<int> x{0};
        int weak = 0;
        int strong = 0;
        parallel([&] {
            int expected = 0;
            weak = x.compare_exchange_weak(expected, 1, relaxed, relaxed) ? 1 : 0;
            strong = x.compare_exchange_strong(expected, 1, relaxed, relaxed) ? 1 : 0;
        });
        return std::vector<int>{weak, strong};
    });
    EXPECT_EQ(outcomes, (Outcomes{{0, 1}, {1, 0}}));
}

TEST(CheckerMemoryTest, AnAtomicLivesAsLongAsItIsUsed) {
    EXPECT_TRUE(failsWith("destroyed", [] {
        auto x = std::make_unique<Atomic<int>>(0);
        Atomic<int> isDone{0};
        parallel([&] { (void)x->load(relaxed), isDone.store(1, relaxed); },
                 [&] {
                     if (isDone.load(acquire) == 1) {
                         x.reset();
                     }
                 });
    }));
    EXPECT_TRUE(failsWith("after its construction", [] {
        std::unique_ptr<Atomic<int>> x;
        Atomic<Atomic<int>*> published{nullptr};
        parallel(
            [&] {
                x = std::make_unique<Atomic<int>>(0);
                published.store(x.get(), relaxed);
            },
            [&] {
                if (Atomic<int>* found = published.load(acquire)) {
                    (void)found->load(relaxed);
                }
            });
    }));
}

}  // namespace
}  // namespace sluice::model
