#include "support/crew.hpp"

#include <sluice/base/epoch.hpp>
#include <sluice/base/platform.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <type_traits>

// Domains that free as early as they can tell that nobody reads.

namespace sluice {
namespace {

/// A platform whose time stands still until a test moves it.
template <class F>
struct HandClockPlatform : StdPlatform {
    using Fence = F;
    struct Clock {
        using duration = std::chrono::nanoseconds;
        using rep = duration::rep;
        using period = duration::period;
        using time_point = std::chrono::time_point<Clock>;
        static constexpr bool is_steady = true;

        static time_point now() noexcept {
            looks.fetch_add(1);
            return time_point(duration(time.load()));
        }
    };

    inline static std::atomic<std::int64_t> time{0};
    inline static std::atomic<int> looks{0};
};

/// Counts how many of its kind have been freed.
struct Counted : EpochNode {
    explicit Counted(std::atomic<int>& freedCount) : freed(freedCount) {}
    ~Counted() { ++freed; }
    std::atomic<int>& freed;
};

/// A thread that enters and leaves a domain on command.
template <class Domain>
class OtherThread {
public:
    explicit OtherThread(Domain& domain) : thread_([this, &domain] { run(domain); }) {
        enter();
        leave();
    }
    ~OtherThread() {
        command(Step::end);
        thread_.join();
    }
    OtherThread(const OtherThread&) = delete;
    OtherThread& operator=(const OtherThread&) = delete;

    void enter() { command(Step::enter); }
    void leave() { command(Step::leave); }

private:
    enum class Step { none, enter, leave, end };

    void command(Step step) {
        step_.store(step);
        test::awaitThat([this] { return step_.load() == Step::none; });
    }

    void await(Step step) {
        test::awaitThat([this, step] { return step_.load() == step || step_.load() == Step::end; });
    }

    void run(Domain& domain) {
        for (;;) {
            await(Step::enter);
            if (step_.load() == Step::end) {
                break;
            }
            {
                const auto guard = domain.enter();
                step_.store(Step::none);
                await(Step::leave);
            }
            step_.store(Step::none);
        }
        step_.store(Step::none);
    }

    std::atomic<Step> step_{Step::none};
    std::thread thread_;
};

EpochOptions promptly(std::size_t batch = 1000) {
    EpochOptions options;
    options.batch = batch;
    options.prompt = true;
    return options;
}

template <class Fence>
class EpochPromptTest : public testing::Test {
protected:
    using Platform = HandClockPlatform<Fence>;
    using Domain = BasicEpochDomain<Platform>;
    using Other = OtherThread<Domain>;

    EpochPromptTest() {
        Platform::time.store(std::chrono::nanoseconds(std::chrono::hours(1)).count());
    }

    /// Until another attempt is due.
    static void letTimePass() { Platform::time.fetch_add(Domain::attemptInterval.count()); }

    /// Leaves one attempt to this moment.
    void spendAttempts() {
        for (std::size_t i = 1; i < Domain::attemptBurst; ++i) {
            EXPECT_TRUE(domain.isQuiet());
        }
    }

    void retireOne() { domain.retire(new Counted(freed)); }

    std::atomic<int> freed{0};
    Domain domain{promptly()};
};

struct FenceNames {
    template <class Fence>
    static std::string GetName(int) {
        return std::is_same_v<Fence, PortableFence> ? "Portable" : "Standard";
    }
};
using Fences = testing::Types<StdPlatform::Fence, PortableFence>;
TYPED_TEST_SUITE(EpochPromptTest, Fences, FenceNames);

// ---- nobody else has a place

TYPED_TEST(EpochPromptTest, FreesAtOnceInAnUnusedDomainWithoutLookingAtTheClock) {
    const int looks = TestFixture::Platform::looks.load();
    for (int i = 1; i <= 3; ++i) {
        this->retireOne();
        EXPECT_EQ(this->freed, i);
        EXPECT_EQ(this->domain.pendingApprox(), 0U);
    }
    EXPECT_EQ(TestFixture::Platform::looks.load(), looks);
}

TYPED_TEST(EpochPromptTest, FreesAtOnceOutsideOfTheOwnSections) {
    { const auto guard = this->domain.enter(); }
    this->retireOne();
    EXPECT_EQ(this->freed, 1);
}

TYPED_TEST(EpochPromptTest, OutermostSectionFreesWhatWasRetiredInIt) {
    {
        const auto guard = this->domain.enter();
        this->retireOne();
        {
            const auto nested = this->domain.enter();
            this->retireOne();
        }
        EXPECT_EQ(this->freed, 0);
        EXPECT_EQ(this->domain.pendingApprox(), 2U);
    }
    EXPECT_EQ(this->freed, 2);
    EXPECT_EQ(this->domain.pendingApprox(), 0U);
}

TYPED_TEST(EpochPromptTest, ThreadsThatHaveEndedDoNotCount) {
    { const typename TestFixture::Other other(this->domain); }
    this->retireOne();
    EXPECT_EQ(this->freed, 1);
}

TYPED_TEST(EpochPromptTest, OtherDomainsGatherAsBefore) {
    EpochOptions options;
    options.batch = 3;
    typename TestFixture::Domain patient(options);
    for (int i = 0; i < 2; ++i) {
        patient.retire(new Counted(this->freed));
        { const auto guard = patient.enter(); }
        TestFixture::letTimePass();
    }
    EXPECT_EQ(this->freed, 0);
    patient.retire(new Counted(this->freed));
    EXPECT_EQ(this->freed, 3);
}

// ---- others have places

TYPED_TEST(EpochPromptTest, FreesAtOnceBesideOtherThreadsUntilTheAttemptsAreSpent) {
    const typename TestFixture::Other other(this->domain);
    const int burst = static_cast<int>(TestFixture::Domain::attemptBurst);
    for (int i = 1; i <= burst; ++i) {
        this->retireOne();
        EXPECT_EQ(this->freed, i);
    }
    this->retireOne();
    this->retireOne();
    EXPECT_EQ(this->freed, burst);
    EXPECT_EQ(this->domain.pendingApprox(), 2U);
    TestFixture::letTimePass();
    EXPECT_EQ(this->freed, burst) << "nobody has come by";
    this->retireOne();
    EXPECT_EQ(this->freed, burst + 3);
    this->retireOne();
    EXPECT_EQ(this->freed, burst + 3) << "this interval has had its attempt";
}

TYPED_TEST(EpochPromptTest, ReaderThatLeavesAfterTheIntervalFrees) {
    typename TestFixture::Other other(this->domain);
    this->spendAttempts();
    this->retireOne();
    this->retireOne();
    { const auto guard = this->domain.enter(); }
    EXPECT_EQ(this->freed, 1) << "not within the same interval";
    TestFixture::letTimePass();
    other.enter();
    EXPECT_EQ(this->freed, 1);
    other.leave();
    EXPECT_EQ(this->freed, 2);
}

TYPED_TEST(EpochPromptTest, ReaderOfABatchThatWaitsFreesItWhenItLeaves) {
    typename TestFixture::Other other(this->domain);
    other.enter();
    this->retireOne();
    EXPECT_EQ(this->domain.pendingApprox(), 1U);
    TestFixture::letTimePass();
    { const auto guard = this->domain.enter(); }
    EXPECT_EQ(this->freed, 0) << "the other one is still inside";
    TestFixture::letTimePass();
    other.leave();
    EXPECT_EQ(this->freed, 1);
}

TYPED_TEST(EpochPromptTest, ReaderOutsideOfTheThreadsPlacesCountsAsAnotherOne) {
    auto reader = this->domain.reader();
    this->spendAttempts();
    this->retireOne();
    this->retireOne();
    EXPECT_EQ(this->freed, 1) << "the second one is gathered";
    TestFixture::letTimePass();
    {
        const auto guard = reader.enter();
        this->retireOne();
        EXPECT_EQ(this->freed, 1);
    }
    EXPECT_EQ(this->freed, 1);
    TestFixture::letTimePass();
    { const auto guard = reader.enter(); }
    EXPECT_EQ(this->freed, 3);
}

TYPED_TEST(EpochPromptTest, FullBatchIsTriedWithinTheInterval) {
    typename TestFixture::Domain small(promptly(4));
    const typename TestFixture::Other other(small);
    for (std::size_t i = 1; i < TestFixture::Domain::attemptBurst; ++i) {
        EXPECT_TRUE(small.isQuiet());
    }
    for (int i = 0; i < 3; ++i) {
        small.retire(new Counted(this->freed));
    }
    EXPECT_EQ(this->freed, 1);
    small.retire(new Counted(this->freed));
    EXPECT_EQ(this->freed, 4);
}

TYPED_TEST(EpochPromptTest, LonelyThreadFreesWhatWasGatheredBesideOthers) {
    {
        const typename TestFixture::Other other(this->domain);
        this->spendAttempts();
        this->retireOne();
        this->retireOne();
        EXPECT_EQ(this->freed, 1);
    }
    { const auto guard = this->domain.enter(); }
    EXPECT_EQ(this->freed, 2) << "nobody is left to wait for";
}

TYPED_TEST(EpochPromptTest, SectionsInWhichNothingWasRetiredDoNotLookAtTheClock) {
    const typename TestFixture::Other other(this->domain);
    this->retireOne();
    { const auto guard = this->domain.enter(); }
    TestFixture::letTimePass();
    { const auto guard = this->domain.enter(); }
    const int looks = TestFixture::Platform::looks.load();
    for (int i = 0; i < 10; ++i) {
        const auto guard = this->domain.enter();
    }
    EXPECT_EQ(TestFixture::Platform::looks.load(), looks);
}

// ---- nobody can hold it

TYPED_TEST(EpochPromptTest, IsQuietWhileNoOtherThreadIsInside) {
    EXPECT_TRUE(this->domain.isQuiet());
    {
        const auto guard = this->domain.enter();
        EXPECT_TRUE(this->domain.isQuiet()) << "the caller's own sections do not count";
    }
    typename TestFixture::Other other(this->domain);
    EXPECT_TRUE(this->domain.isQuiet());
    other.enter();
    EXPECT_FALSE(this->domain.isQuiet());
    {
        const auto guard = this->domain.enter();
        EXPECT_FALSE(this->domain.isQuiet());
        other.leave();
        EXPECT_TRUE(this->domain.isQuiet());
    }
}

TYPED_TEST(EpochPromptTest, IsQuietNoMoreWhenItWasAskedTooOften) {
    {
        const typename TestFixture::Other other(this->domain);
        this->spendAttempts();
        EXPECT_TRUE(this->domain.isQuiet());
        EXPECT_FALSE(this->domain.isQuiet());
        TestFixture::letTimePass();
        EXPECT_TRUE(this->domain.isQuiet());
        EXPECT_FALSE(this->domain.isQuiet());
    }
    EXPECT_TRUE(this->domain.isQuiet()) << "alone, it costs nothing";
}

// ---- deleters

/// Frees a chain link by link, each one retired by the deleter of the one before.
template <class Domain>
struct Link : EpochNode {
    Link(Domain& ownDomain, Link* nextLink, int& freedCount)
        : domain(ownDomain), next(nextLink), freed(freedCount) {}
    ~Link() {
        { const auto guard = domain.enter(); }
        ++freed;
        if (next != nullptr) {
            domain.retire(next);
        }
    }

    Domain& domain;
    Link* next;
    int& freed;
};

template <class Domain>
Link<Domain>* makeChain(Domain& domain, int length, int& freed) {
    Link<Domain>* first = nullptr;
    for (int i = 0; i < length; ++i) {
        first = new Link<Domain>(domain, first, freed);
    }
    return first;
}

TYPED_TEST(EpochPromptTest, WhatDeletersRetireFollowsAtOnceAndNeedsNoDeepStack) {
    constexpr int length = 100000;
    int freedLinks = 0;
    this->domain.retire(makeChain(this->domain, length, freedLinks));
    EXPECT_EQ(freedLinks, length);
    EXPECT_EQ(this->domain.pendingApprox(), 0U);
    {
        const auto guard = this->domain.enter();
        this->domain.retire(makeChain(this->domain, length, freedLinks));
        EXPECT_EQ(freedLinks, length);
    }
    EXPECT_EQ(freedLinks, 2 * length);
}

TYPED_TEST(EpochPromptTest, DeletersBesideOtherThreadsMayRetireMore) {
    const typename TestFixture::Other other(this->domain);
    int freedLinks = 0;
    this->domain.retire(makeChain(this->domain, 1000, freedLinks));
    EXPECT_EQ(freedLinks, 1000);
}

TYPED_TEST(EpochPromptTest, DeleterMayRetireInAnotherPromptDomain) {
    typename TestFixture::Domain second(promptly());
    struct Outer : EpochNode {
        Outer(typename TestFixture::Domain& ownDomain, std::atomic<int>& count)
            : domain(ownDomain), freed(count) {}
        ~Outer() { domain.retire(new Counted(freed)); }
        typename TestFixture::Domain& domain;
        std::atomic<int>& freed;
    };
    this->domain.retire(new Outer(second, this->freed));
    { const auto guard = second.enter(); }
    EXPECT_EQ(this->freed, 1);
}

}  // namespace
}  // namespace sluice
