#include "support/rendezvous.hpp"
#include "support/watchdog.hpp"

#include <sluice/base/epoch.hpp>
#include <sluice/base/pause.hpp>
#include <sluice/base/platform.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

// Readers and writers that do their worst. What is read carries canaries which its destructor
// poisons with plain writes, so a reader that is not protected sees a wrong canary, and
// ThreadSanitizer a data race even when the times happen to fit.

namespace sluice {
namespace {

struct PortablePlatform : StdPlatform {
    using Fence = PortableFence;
};

constexpr std::uint64_t alive = 0x5a5a1234c0ffee99u;
constexpr std::uint64_t poison = 0xdeaddeaddeaddeadu;

std::atomic<std::int64_t> living{0};

struct Snapshot : EpochNode {
    explicit Snapshot(std::uint64_t n) : number(n) {
        canary.fill(alive);
        living.fetch_add(1, std::memory_order_relaxed);
    }
    Snapshot(const Snapshot&) = delete;
    ~Snapshot() {
        for (volatile std::uint64_t& word : canary) {
            word = poison;
        }
        living.fetch_sub(1, std::memory_order_relaxed);
    }

    bool isAlive() const {
        for (const std::uint64_t& word : canary) {
            if (*static_cast<const volatile std::uint64_t*>(&word) != alive) {
                return false;
            }
        }
        return true;
    }

    std::uint64_t number;
    std::array<std::uint64_t, 6> canary;
};

template <class Platform>
class EpochStressTest : public testing::Test {
protected:
    using DomainUnderTest = BasicEpochDomain<Platform>;

    void SetUp() override { living.store(0); }

    ~EpochStressTest() override { delete current_.load(); }

    // Checks the current object several times within one section; false when it was not alive
    // throughout.
    bool readOnce(std::uint64_t& lastNumber) {
        const Snapshot* snapshot = current_.load(std::memory_order_acquire);
        bool isGood = true;
        for (int look = 0; look < 4; ++look) {
            isGood = isGood && snapshot->isAlive();
        }
        isGood = isGood && snapshot->number >= lastNumber;
        lastNumber = snapshot->number;
        return isGood;
    }

    void read(DomainUnderTest& domain, bool useReader) {
        auto reader = domain.reader();
        std::uint64_t lastNumber = 0;
        while (!isOver_.load(std::memory_order_relaxed)) {
            if (useReader) {
                const auto guard = reader.enter();
                note(readOnce(lastNumber));
            } else {
                const auto guard = domain.enter();
                const auto nested = domain.enter();
                note(readOnce(lastNumber));
            }
        }
    }

    void note(bool isGood) { (isGood ? reads_ : broken_).fetch_add(1, std::memory_order_relaxed); }

    // Runs `write(round)` while two readers read, for `rounds` rounds and until each side had a
    // turn.
    template <class Write>
    void writeBesideReaders(DomainUnderTest& domain, std::uint64_t rounds, Write write) {
        current_.store(new Snapshot(0));
        std::vector<std::thread> readers;
        for (int i = 0; i < 2; ++i) {
            readers.emplace_back([&, useReader = i == 0] { read(domain, useReader); });
        }
        while (reads_.load(std::memory_order_relaxed) == 0) {
            std::this_thread::yield();
        }
        for (std::uint64_t round = 1;
             round <= rounds || reads_.load(std::memory_order_relaxed) < rounds; ++round) {
            write(round);
        }
        isOver_.store(true);
        for (std::thread& thread : readers) {
            thread.join();
        }
        EXPECT_EQ(broken_.load(), 0u);
    }

    void printState(std::FILE* out) const {
        std::fprintf(out, "reads %llu, broken %llu, living objects %lld\n",
                     static_cast<unsigned long long>(reads_.load()),
                     static_cast<unsigned long long>(broken_.load()),
                     static_cast<long long>(living.load()));
    }

    std::atomic<Snapshot*> current_{nullptr};
    std::atomic<bool> isOver_{false};
    std::atomic<std::uint64_t> reads_{0};
    std::atomic<std::uint64_t> broken_{0};
    test::Watchdog watchdog_{[this](std::FILE* out) { printState(out); }};
};

struct PlatformNames {
    template <class Platform>
    static std::string GetName(int) {
        return std::is_same_v<Platform, PortablePlatform> ? "Portable" : "Standard";
    }
};
using Platforms = testing::Types<StdPlatform, PortablePlatform>;
TYPED_TEST_SUITE(EpochStressTest, Platforms, PlatformNames);

TYPED_TEST(EpochStressTest, RetiredSnapshotsOutliveTheirReaders) {
    {
        typename TestFixture::DomainUnderTest domain(EpochOptions{8});
        this->writeBesideReaders(domain, 50000, [&](std::uint64_t round) {
            domain.retire(this->current_.exchange(new Snapshot(round), std::memory_order_acq_rel));
        });
    }
    EXPECT_EQ(living.load(), 1) << "only the current object is left";
}

TYPED_TEST(EpochStressTest, TwoWritersRetireBothWays) {
    {
        typename TestFixture::DomainUnderTest domain(EpochOptions{8});
        // All have the same number, since two writers publish in no certain order.
        const auto replace = [&] {
            return this->current_.exchange(new Snapshot(0), std::memory_order_acq_rel);
        };
        std::atomic<bool> mayStart{false};
        std::atomic<bool> isOver{false};
        std::thread second([&] {
            while (!mayStart.load()) {
                std::this_thread::yield();
            }
            while (!isOver.load()) {
                domain.retire(static_cast<void*>(replace()),
                              [](void* object) { delete static_cast<Snapshot*>(object); });
            }
        });
        this->writeBesideReaders(domain, 20000, [&](std::uint64_t) {
            domain.retire(replace());
            mayStart.store(true);
        });
        isOver.store(true);
        second.join();
    }
    EXPECT_EQ(living.load(), 1);
}

TYPED_TEST(EpochStressTest, SynchronizeThenFreeByHand) {
    typename TestFixture::DomainUnderTest domain;
    this->writeBesideReaders(domain, 1000, [&](std::uint64_t round) {
        Snapshot* old = this->current_.exchange(new Snapshot(round), std::memory_order_acq_rel);
        domain.synchronize();
        delete old;
    });
    EXPECT_EQ(living.load(), 1);
}

// Enters while its thread ends, after the thread has given its place back.
template <class Domain>
struct LateReader {
    ~LateReader() {
        const auto guard = domain->enter();
        domain->retire(new Snapshot(0));
    }
    Domain* domain = nullptr;
};

TYPED_TEST(EpochStressTest, ThreadsComeAndGo) {
    {
        typename TestFixture::DomainUnderTest domain(EpochOptions{4});
        this->writeBesideReaders(domain, 50, [&](std::uint64_t round) {
            const auto work = [&] {
                thread_local LateReader<typename TestFixture::DomainUnderTest> late;
                late.domain = &domain;
                std::uint64_t lastNumber = 0;
                for (int i = 0; i < 10; ++i) {
                    const auto guard = domain.enter();
                    this->note(this->readOnce(lastNumber));
                    domain.retire(new Snapshot(0));
                }
                domain.synchronize();
            };
            std::thread first(work);
            std::thread second(work);
            domain.retire(this->current_.exchange(new Snapshot(round), std::memory_order_acq_rel));
            first.join();
            second.join();
        });
    }
    EXPECT_EQ(living.load(), 1);
}

// Threads that live on while the domains they use are created and destroyed around them, two at a
// time.
TYPED_TEST(EpochStressTest, DomainsComeAndGo) {
    using Domain = typename TestFixture::DomainUnderTest;
    constexpr std::size_t workers = 2;
    std::array<std::unique_ptr<Domain>, 2> domains;
    std::atomic<std::uint64_t> started{0};
    std::atomic<std::size_t> finished{0};
    std::atomic<bool> isOver{false};
    std::vector<std::thread> crew;
    for (std::size_t i = 0; i < workers; ++i) {
        crew.emplace_back([&] {
            for (std::uint64_t round = 1;; ++round) {
                while (started.load(std::memory_order_acquire) != round) {
                    std::this_thread::yield();
                }
                if (isOver.load(std::memory_order_relaxed)) {
                    return;
                }
                for (int use = 0; use < 20; ++use) {
                    const auto first = domains[0]->enter();
                    const auto second = domains[1]->enter();
                    domains[use % 2 == 0 ? 0 : 1]->retire(new Snapshot(0));
                }
                finished.fetch_add(1, std::memory_order_release);
            }
        });
    }
    for (std::uint64_t round = 1; round <= 2000; ++round) {
        domains[round % 2] = std::make_unique<Domain>(EpochOptions{4});
        domains[(round + 1) % 2] = std::make_unique<Domain>(EpochOptions{4});
        finished.store(0, std::memory_order_relaxed);
        started.store(round, std::memory_order_release);
        while (finished.load(std::memory_order_acquire) != workers) {
            std::this_thread::yield();
        }
        domains[0].reset();
        domains[1].reset();
        ASSERT_EQ(living.load(), 0);
    }
    isOver.store(true);
    started.fetch_add(1, std::memory_order_release);
    for (std::thread& thread : crew) {
        thread.join();
    }
}

// A linked list whose links are retired by the deleters of others, while readers walk it.
TYPED_TEST(EpochStressTest, DeletersRetireAndEnter) {
    using Domain = typename TestFixture::DomainUnderTest;
    struct Parent : Snapshot {
        Parent(Domain& ownDomain, std::uint64_t n)
            : Snapshot(n), domain(ownDomain), child(new Snapshot(n)) {}
        ~Parent() {
            const auto guard = domain.enter();
            domain.retire(child);
        }
        Domain& domain;
        Snapshot* child;
    };
    std::atomic<Parent*> current{nullptr};
    {
        Domain domain(EpochOptions{8});
        current.store(new Parent(domain, 0));
        std::thread walker([&] {
            while (!this->isOver_.load(std::memory_order_relaxed)) {
                const auto guard = domain.enter();
                const Parent* parent = current.load(std::memory_order_acquire);
                this->note(parent->isAlive() && parent->child->isAlive());
            }
        });
        this->writeBesideReaders(domain, 20000, [&](std::uint64_t round) {
            domain.retire(current.exchange(new Parent(domain, round), std::memory_order_acq_rel));
        });
        walker.join();
        domain.retire(current.load());
    }
    EXPECT_EQ(living.load(), 1);
}

// The store-load pair in the middle of it all: a reader announces itself and looks, a writer
// unlinks and looks for announcements. When nobody holds the object back, the reader must have seen
// that it is unlinked. Stores to lines that the other core owns keep the announcement in the
// reader's store buffer for as long as possible; the skew moves the threads against each other from
// round to round.
void skewBy(int pauses) {
    for (; pauses > 0; --pauses) {
        cpuPause();
    }
}

TYPED_TEST(EpochStressTest, ReaderIsSeenOrSeesTheUnlink) {
    struct alignas(128) Line {
        std::atomic<int> value{0};
    };
    const int rounds = TypeParam::Fence::isAsymmetric() ? 20000 : 50000;
    typename TestFixture::DomainUnderTest domain(EpochOptions{0});
    std::array<Line, 48> contended;
    Line unlinked;
    EpochNode node;
    test::Rendezvous rendezvous;
    int seen = 0;

    std::thread readerThread([&] {
        auto reader = domain.reader();
        for (int round = 1; round <= rounds; ++round) {
            rendezvous.arrive();
            skewBy(round % 16);
            for (Line& line : contended) {
                line.value.store(round, std::memory_order_relaxed);
            }
            {
                const auto guard = reader.enter();
                seen = unlinked.value.load(std::memory_order_relaxed);
                rendezvous.arrive();
            }
            rendezvous.arrive();
        }
    });
    int violations = 0;
    for (int round = 1; round <= rounds; ++round) {
        for (Line& line : contended) {
            line.value.store(-round, std::memory_order_relaxed);
        }
        rendezvous.arrive();
        skewBy(round / 16 % 16);
        unlinked.value.store(round, std::memory_order_relaxed);
        domain.retire(node, [](EpochNode&) {});
        const bool isFreed = domain.collect() == 1;
        rendezvous.arrive();
        violations += isFreed && seen != round ? 1 : 0;
        rendezvous.arrive();
        (void)domain.collect();
    }
    readerThread.join();
    EXPECT_EQ(violations, 0);
}

}  // namespace
}  // namespace sluice
