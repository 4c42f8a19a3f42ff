#include <sluice/base/epoch.hpp>
#include <sluice/base/platform.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {
namespace {

struct PortablePlatform : StdPlatform {
    using Fence = PortableFence;
};

template <class Platform>
class EpochDomainTest : public testing::Test {};

struct PlatformNames {
    template <class Platform>
    static std::string GetName(int) {
        return std::is_same_v<Platform, PortablePlatform> ? "Portable" : "Standard";
    }
};
using Platforms = testing::Types<StdPlatform, PortablePlatform>;
TYPED_TEST_SUITE(EpochDomainTest, Platforms, PlatformNames);

// An object that counts how many of its kind have been freed.
struct Counted : EpochNode {
    explicit Counted(int& freedCount) : freed(freedCount) {}
    Counted(const Counted&) = default;
    ~Counted() { ++freed; }
    int& freed;
};

constexpr EpochOptions onlyByHand{0};

// Relaxed, so that no test owes its happens-before edges to the waiting.
void awaitTrue(const std::atomic<bool>& flag) {
    while (!flag.load(std::memory_order_relaxed)) {
        std::this_thread::yield();
    }
}

static_assert(!std::is_move_constructible_v<EpochDomain::Guard>);
static_assert(!std::is_copy_constructible_v<EpochDomain::Reader>);
static_assert(std::is_nothrow_move_constructible_v<EpochDomain::Reader>);

// ---- what is freed, and when

TYPED_TEST(EpochDomainTest, RetiredObjectIsFreedWhenNobodyReads) {
    BasicEpochDomain<TypeParam> domain(onlyByHand);
    int freed = 0;
    domain.retire(new Counted(freed));
    EXPECT_EQ(freed, 0);
    EXPECT_EQ(domain.pendingApprox(), 1u);
    EXPECT_EQ(domain.collect(), 1u);
    EXPECT_EQ(freed, 1);
    EXPECT_EQ(domain.pendingApprox(), 0u);
    EXPECT_EQ(domain.collect(), 0u);
}

TYPED_TEST(EpochDomainTest, GuardHoldsBackWhatIsRetiredDuringIt) {
    BasicEpochDomain<TypeParam> domain(onlyByHand);
    int freed = 0;
    {
        const auto guard = domain.enter();
        domain.retire(new Counted(freed));
        EXPECT_EQ(domain.collect(), 0u);
        EXPECT_EQ(domain.collect(), 0u);
        EXPECT_EQ(freed, 0);
    }
    EXPECT_EQ(domain.collect(), 1u);
    EXPECT_EQ(freed, 1);
}

TYPED_TEST(EpochDomainTest, LaterReaderDoesNotHoldBackAnEarlierBatch) {
    using Domain = BasicEpochDomain<TypeParam>;
    Domain domain(onlyByHand);
    auto earlier = domain.reader();
    auto later = domain.reader();
    int freed = 0;
    auto earlierGuard = std::unique_ptr<typename Domain::Guard>(new auto(earlier.enter()));
    domain.retire(new Counted(freed));
    EXPECT_EQ(domain.collect(), 0u);
    {
        const auto laterGuard = later.enter();
        earlierGuard.reset();
        domain.retire(new Counted(freed));
        EXPECT_EQ(domain.collect(), 1u) << "the first object was retired before the later guard";
        EXPECT_EQ(domain.collect(), 0u) << "the second one was not";
    }
    EXPECT_EQ(domain.collect(), 1u);
    EXPECT_EQ(freed, 2);
}

TYPED_TEST(EpochDomainTest, OnlyTheOutermostOfNestedGuardsCounts) {
    BasicEpochDomain<TypeParam> domain(onlyByHand);
    int freed = 0;
    {
        const auto outer = domain.enter();
        domain.retire(new Counted(freed));
        {
            const auto inner = domain.enter();
            const auto innermost = domain.enter();
        }
        EXPECT_TRUE(domain.isInside());
        EXPECT_EQ(domain.collect(), 0u) << "the outer guard is still there";
    }
    EXPECT_FALSE(domain.isInside());
    EXPECT_EQ(domain.collect(), 1u);
}

TYPED_TEST(EpochDomainTest, DomainsAreIndependent) {
    int freed = 0;  // outlives the domains, whose ends count in it
    BasicEpochDomain<TypeParam> first(onlyByHand);
    BasicEpochDomain<TypeParam> second(onlyByHand);
    const auto guard = first.enter();
    EXPECT_TRUE(first.isInside());
    EXPECT_FALSE(second.isInside());
    first.retire(new Counted(freed));
    second.retire(new Counted(freed));
    EXPECT_EQ(first.collect(), 0u);
    EXPECT_EQ(second.collect(), 1u);
    second.synchronize();
}

TYPED_TEST(EpochDomainTest, DestructorFreesEverything) {
    int freed = 0;
    {
        BasicEpochDomain<TypeParam> domain(onlyByHand);
        {
            const auto guard = domain.enter();
            domain.retire(new Counted(freed));
            EXPECT_EQ(domain.collect(), 0u);  // leaves it in the waiting batch
        }
        domain.retire(new Counted(freed));
        EXPECT_EQ(freed, 0);
    }
    EXPECT_EQ(freed, 2);
}

TYPED_TEST(EpochDomainTest, EveryBatchOfRetiredObjectsTriesToReclaim) {
    BasicEpochDomain<TypeParam> domain(EpochOptions{10});
    int freed = 0;
    for (int i = 0; i < 9; ++i) {
        domain.retire(new Counted(freed));
    }
    EXPECT_EQ(freed, 0);
    domain.retire(new Counted(freed));
    EXPECT_EQ(freed, 10);
    {
        const auto guard = domain.enter();
        for (int i = 0; i < 25; ++i) {
            domain.retire(new Counted(freed));
        }
        EXPECT_EQ(freed, 10);
    }
    for (int i = 0; i < 5; ++i) {
        domain.retire(new Counted(freed));
    }
    EXPECT_EQ(freed, 40);
}

// The epoch starts shortly before the wrap of its word, so these steps cross it.
TYPED_TEST(EpochDomainTest, EpochMayWrapAround) {
    BasicEpochDomain<TypeParam> domain(onlyByHand);
    auto reader = domain.reader();
    int freed = 0;
    for (int step = 0; step < 100; ++step) {
        {
            const auto guard = reader.enter();
            domain.retire(new Counted(freed));
            EXPECT_EQ(domain.collect(), 0u) << "step " << step;
            EXPECT_EQ(freed, step);
        }
        domain.synchronize();
        EXPECT_EQ(domain.collect(), 1u) << "step " << step;
    }
}

// ---- the forms of retire()

struct Plain {
    explicit Plain(int& freedCount) : freed(freedCount) {}
    ~Plain() { ++freed; }
    int& freed;
};

TYPED_TEST(EpochDomainTest, RetiresPlainObjects) {
    BasicEpochDomain<TypeParam> domain(onlyByHand);
    int freed = 0;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 100; ++i) {
            domain.retire(new Plain(freed));
        }
        EXPECT_EQ(domain.collect(), 100u);
    }
    EXPECT_EQ(freed, 300);
}

TYPED_TEST(EpochDomainTest, RetiresWithAFunction) {
    BasicEpochDomain<TypeParam> domain(onlyByHand);
    int value = 1;
    domain.retire(&value, [](void* pointer) { *static_cast<int*>(pointer) = 2; });
    EXPECT_EQ(value, 1);
    EXPECT_EQ(domain.collect(), 1u);
    EXPECT_EQ(value, 2);
}

TYPED_TEST(EpochDomainTest, RetiresAnObjectWithANodeAsMember) {
    struct Holder {
        EpochNode node;
        bool isReclaimed = false;
    };
    static Holder* current;
    BasicEpochDomain<TypeParam> domain(onlyByHand);
    Holder holder;
    current = &holder;
    domain.retire(holder.node, [](EpochNode& node) {
        EXPECT_EQ(&node, &current->node);
        current->isReclaimed = true;
    });
    EXPECT_EQ(domain.collect(), 1u);
    EXPECT_TRUE(holder.isReclaimed);
}

TYPED_TEST(EpochDomainTest, CopyOfARetiredObjectIsNotRetired) {
    BasicEpochDomain<TypeParam> domain(onlyByHand);
    int freed = 0;
    auto* original = new Counted(freed);
    domain.retire(original);
    auto* copy = new Counted(*original);
    domain.retire(copy);
    EXPECT_EQ(domain.collect(), 2u);
    EXPECT_EQ(freed, 2);
}

// ---- deleters

// Frees a chain link by link, each one retired by the deleter of the one before.
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
        EXPECT_EQ(domain.collect(), 0u) << "the running collection goes on instead";
    }

    Domain& domain;
    Link* next;
    int& freed;
};

TYPED_TEST(EpochDomainTest, DeletersMayEnterRetireAndCollect) {
    using Domain = BasicEpochDomain<TypeParam>;
    Domain domain(onlyByHand);
    int freed = 0;
    domain.retire(new Link<Domain>(domain, new Link<Domain>(domain, nullptr, freed), freed));
    EXPECT_EQ(domain.collect(), 2u) << "what deleters retire follows when they have returned";
    EXPECT_EQ(freed, 2);
}

TYPED_TEST(EpochDomainTest, LongChainNeedsNoDeepStack) {
    using Domain = BasicEpochDomain<TypeParam>;
    constexpr int length = 100000;
    int freed = 0;
    {
        Domain domain(EpochOptions{1});
        Link<Domain>* first = nullptr;
        for (int i = 0; i < length; ++i) {
            first = new Link<Domain>(domain, first, freed);
        }
        domain.retire(first);
    }
    EXPECT_EQ(freed, length);
}

TYPED_TEST(EpochDomainTest, DeleterMaySynchronize) {
    static BasicEpochDomain<TypeParam>* current;
    BasicEpochDomain<TypeParam> domain(onlyByHand);
    current = &domain;
    bool isReclaimed = false;
    domain.retire(&isReclaimed, [](void* flag) {
        current->synchronize();
        *static_cast<bool*>(flag) = true;
    });
    EXPECT_EQ(domain.collect(), 1u);
    EXPECT_TRUE(isReclaimed);
}

TYPED_TEST(EpochDomainTest, DeleterMayRetireItsObjectAgain) {
    struct Twice : EpochNode {
        int turns = 0;
        BasicEpochDomain<TypeParam>* domain = nullptr;
        static void turn(EpochNode& node) {
            auto& self = static_cast<Twice&>(node);
            if (++self.turns == 1) {
                self.domain->retire(node, &turn);
            }
        }
    };
    Twice twice;
    {
        BasicEpochDomain<TypeParam> domain(onlyByHand);
        twice.domain = &domain;
        domain.retire(twice, &Twice::turn);
        EXPECT_EQ(domain.collect(), 1u);
        EXPECT_EQ(domain.pendingApprox(), 1u);
    }
    EXPECT_EQ(twice.turns, 2);
}

TYPED_TEST(EpochDomainTest, DeleterMayDestroyAnotherDomain) {
    using Domain = BasicEpochDomain<TypeParam>;
    struct Owner : EpochNode {
        Domain inner{onlyByHand};
    };
    Domain outer(onlyByHand);
    int freed = 0;
    auto* owner = new Owner;
    owner->inner.retire(new Counted(freed));
    outer.retire(owner);
    EXPECT_EQ(outer.collect(), 1u);
    EXPECT_EQ(freed, 1);
}

// ---- readers

TYPED_TEST(EpochDomainTest, ReaderHasAPlaceOfItsOwn) {
    BasicEpochDomain<TypeParam> domain(onlyByHand);
    int freed = 0;
    typename BasicEpochDomain<TypeParam>::Reader reader(domain);
    auto moved = std::move(reader);
    {
        const auto guard = moved.enter();
        const auto nested = moved.enter();
        EXPECT_FALSE(domain.isInside()) << "isInside() is about the thread's own place";
        domain.retire(new Counted(freed));
        EXPECT_EQ(domain.collect(), 0u);
    }
    EXPECT_EQ(domain.collect(), 1u);
}

TYPED_TEST(EpochDomainTest, ReaderMayChangeThreadsBetweenSections) {
    BasicEpochDomain<TypeParam> domain(onlyByHand);
    auto reader = domain.reader();
    { const auto guard = reader.enter(); }
    std::thread([&] { const auto guard = reader.enter(); }).join();
    { const auto guard = reader.enter(); }
    domain.synchronize();
}

TYPED_TEST(EpochDomainTest, ReaderMayOutliveItsDomain) {
    auto domain = std::make_unique<BasicEpochDomain<TypeParam>>();
    const auto reader = domain->reader();
    domain.reset();
}

// ---- threads and domains that come and go

TYPED_TEST(EpochDomainTest, ThreadGivesItsPlaceToLaterOnes) {
    using Slot = typename detail::EpochSlots<TypeParam>::Slot;
    auto* slots = new detail::EpochSlots<TypeParam>;
    Slot* first = nullptr;
    Slot* second = nullptr;
    std::thread([&] { first = detail::EpochThread<TypeParam>::add(*slots); }).join();
    std::thread([&] { second = detail::EpochThread<TypeParam>::add(*slots); }).join();
    EXPECT_EQ(first, second);
    Slot& own = slots->acquire();
    Slot& other = slots->acquire();
    EXPECT_EQ(&own, first);
    EXPECT_NE(&other, first);
    slots->release(own);
    slots->release(other);
    slots->abandon();
}

TYPED_TEST(EpochDomainTest, ThreadsMayEndAfterTheDomain) {
    auto domain = std::make_unique<BasicEpochDomain<TypeParam>>();
    std::atomic<int> entered{0};
    std::atomic<bool> isDestroyed{false};
    std::vector<std::thread> crew;
    for (int i = 0; i < 3; ++i) {
        crew.emplace_back([&] {
            { const auto guard = domain->enter(); }
            entered.fetch_add(1);
            awaitTrue(isDestroyed);
        });
    }
    while (entered.load() != 3) {
        std::this_thread::yield();
    }
    domain.reset();
    isDestroyed.store(true);
    for (std::thread& thread : crew) {
        thread.join();
    }
}

TYPED_TEST(EpochDomainTest, ThreadMayUseManyDomainsAtOnce) {
    using Domain = BasicEpochDomain<TypeParam>;
    std::vector<std::unique_ptr<Domain>> domains;
    for (int i = 0; i < 300; ++i) {
        domains.push_back(std::make_unique<Domain>(onlyByHand));
        const auto guard = domains.back()->enter();
        for (const auto& domain : domains) {
            EXPECT_EQ(domain->isInside(), domain == domains.back());
        }
    }
}

// Addresses of dead domains come up again; what the thread remembers of them must not.
TYPED_TEST(EpochDomainTest, ThreadMayOutliveManyDomains) {
    using Domain = BasicEpochDomain<TypeParam>;
    Domain lasting(onlyByHand);
    const auto guard = lasting.enter();
    int freed = 0;
    for (int i = 0; i < 1000; ++i) {
        Domain domain(onlyByHand);
        EXPECT_FALSE(domain.isInside());
        {
            const auto inner = domain.enter();
            domain.retire(new Counted(freed));
            EXPECT_EQ(domain.collect(), 0u);
        }
        EXPECT_EQ(domain.collect(), 1u);
    }
    EXPECT_TRUE(lasting.isInside());
    EXPECT_EQ(freed, 1000);
}

// The destructor runs after the thread has given its places back, if the object is older than they
// are.
template <class Domain>
struct LateUser {
    ~LateUser() {
        const auto guard = domain->enter();
        const auto nested = domain->enter();
        domain->retire(new Counted(*freed));
        collected = domain->collect();
    }
    Domain* domain = nullptr;
    int* freed = nullptr;
    inline static std::size_t collected = 99;
};

TYPED_TEST(EpochDomainTest, LateDestructorsOfAThreadMayEnter) {
    using Domain = BasicEpochDomain<TypeParam>;
    Domain domain(onlyByHand);
    int freed = 0;
    for (int i = 0; i < 3; ++i) {
        std::thread([&] {
            thread_local LateUser<Domain> lateUser;
            lateUser.domain = &domain;
            lateUser.freed = &freed;
            const auto guard = domain.enter();
        }).join();
        EXPECT_EQ(LateUser<Domain>::collected, 0u) << "the late guard protects";
        EXPECT_EQ(domain.collect(), 1u) << "the late guards have gone";
    }
}

// ---- synchronize()

TYPED_TEST(EpochDomainTest, SynchronizeReturnsWhenNobodyIsInside) {
    BasicEpochDomain<TypeParam> domain;
    domain.synchronize();
    { const auto guard = domain.enter(); }
    domain.synchronize();
}

}  // namespace
}  // namespace sluice
