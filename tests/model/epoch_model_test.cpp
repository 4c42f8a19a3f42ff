#include "support/model/expectations.hpp"
#include "support/sanitizers.hpp"

#include <sluice/base/epoch.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>

// EpochDomain as shipped, under the model checker. A deleter that runs too early shows as a data
// race with the reader.

namespace sluice::model {
namespace {

using Domain = BasicEpochDomain<ModelPlatform>;

constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto acqRel = std::memory_order_acq_rel;

struct Object {
    Plain<int> content;
    static void reclaim(void* object) { static_cast<Object*>(object)->content.set(-1); }
};

/// What readers follow, and the two objects it names one after the other.
struct Shared {
    Object first;
    Object second;
    Atomic<Object*> current{&first};

    Object* replace() { return current.exchange(&second, acqRel); }
    void read() const { check(current.load(acquire)->content.get() == 0, "not reclaimed"); }
};

EpochOptions manual() {
    EpochOptions options;
    options.batch = 0;
    return options;
}

void readWhileCollecting() {
    Domain domain(manual());
    Shared shared;
    parallel(
        [&] {
            const auto guard = domain.enter();
            shared.read();
        },
        [&] {
            domain.retire(shared.replace(), &Object::reclaim);
            (void)domain.collect();
            (void)domain.collect();
        });
}

/// After synchronize() no reader uses what was replaced before, and what readers did is visible.
void readWhileSynchronizing() {
    Domain domain(manual());
    Shared shared;
    Plain<int> trail;
    Atomic<int> hasEntered{0};
    parallel(
        [&] {
            const auto guard = domain.enter();
            hasEntered.store(1, std::memory_order_relaxed);
            shared.read();
            trail.set(1);
        },
        [&] {
            Object* const old = shared.replace();
            const bool isBehindReader = hasEntered.load(std::memory_order_relaxed) == 1;
            domain.synchronize();
            Object::reclaim(old);
            check(!isBehindReader || trail.get() == 1, "its section is over");
        });
}

void twoReaders() {
    Domain domain(manual());
    Shared shared;
    const auto read = [&] {
        const auto guard = domain.enter();
        const auto nested = domain.enter();
        shared.read();
    };
    parallel(
        [&] {
            domain.retire(shared.replace(), &Object::reclaim);
            (void)domain.collect();
        },
        read, read);
}

/// Two writers, each of whose calls of retire() tries to reclaim.
void twoWriters() {
    EpochOptions options;
    options.batch = 1;
    Domain domain(options);
    Shared one;
    Shared other;
    parallel(
        [&] {
            {
                const auto guard = domain.enter();
                one.read();
                other.read();
            }
            check(domain.pendingApprox() <= 2, "never negative");
        },
        [&] { domain.retire(one.replace(), &Object::reclaim); },
        [&] { domain.retire(other.replace(), &Object::reclaim); });
}

/// Its clock never shows the same time twice, so that a prompt domain never gathers.
struct HastyPlatform : ModelPlatform {
    struct Clock : ModelPlatform::Clock {
        static time_point now() noexcept {
            static std::atomic<int> milliseconds{0};
            return time_point(duration(++milliseconds));
        }
    };
};

struct PromptDomain : BasicEpochDomain<HastyPlatform> {
    static EpochOptions prompt() {
        EpochOptions options;
        options.prompt = true;
        return options;
    }
    PromptDomain() : BasicEpochDomain<HastyPlatform>(prompt()) {}
};

/// In a prompt domain the writer frees when it is alone or nobody is in its way, and otherwise the
/// last reader that was. Nothing waits for a later call.
void promptWriter() {
    PromptDomain domain;
    Shared shared;
    parallel(
        [&] {
            const auto guard = domain.enter();
            shared.read();
        },
        [&] { domain.retire(shared.replace(), &Object::reclaim); });
    check(domain.pendingApprox() == 0, "all is freed");
}

/// Two writers ask for a pass at the same time, one of them a reader that is in the way.
void promptWriters() {
    PromptDomain domain;
    Shared one;
    Shared other;
    parallel(
        [&] {
            const auto guard = domain.enter();
            one.read();
            domain.retire(other.replace(), &Object::reclaim);
        },
        [&] { domain.retire(one.replace(), &Object::reclaim); });
    check(domain.pendingApprox() == 0, "all is freed");
}

/// A Reader is handed from thread to thread, and a section follows another one at once.
void readerChangesHands() {
    Domain domain(manual());
    Shared shared;
    Domain::Reader reader = domain.reader();
    Atomic<int> isFree{0};
    const auto read = [&] {
        const auto guard = reader.enter();
        shared.read();
    };
    parallel(
        [&] {
            read();
            isFree.store(1, release);
        },
        [&] {
            if (isFree.load(acquire) == 1) {
                read();
            }
        },
        [&] {
            Object* const old = shared.replace();
            domain.synchronize();
            Object::reclaim(old);
        });
}

/// A thread that ends leaves its place to others.
void placesAreUsedAgain() {
    Domain domain(manual());
    Shared shared;
    const auto read = [&] {
        const auto guard = domain.enter();
        shared.read();
    };
    parallel([] {}, read,
             [&] {
                 read();
                 domain.retire(shared.replace(), &Object::reclaim);
                 (void)domain.collect();
             });
}

/// The slots by themselves run on fibers, which allows a deeper walk: they have no thread-local
/// objects.
class SlotsOwner {
public:
    using Slots = detail::EpochSlots<ModelPlatform>;
    SlotsOwner() : slots_(new Slots) {}
    SlotsOwner(const SlotsOwner&) = delete;
    SlotsOwner& operator=(const SlotsOwner&) = delete;
    ~SlotsOwner() { slots_->abandon(); }
    Slots* operator->() const { return slots_; }

private:
    Slots* slots_;
};

void slotsAnnounceReaders() {
    const SlotsOwner slots;
    Shared shared;
    const auto read = [&] {
        auto& slot = slots->acquire();
        for (int section = 0; section < 2; ++section) {
            (void)slots->enter(slot);
            shared.read();
            slots->leave(slot);
        }
        slots->release(slot);
    };
    parallel(read, [&] {
        Object* const old = shared.replace();
        if (slots->passed(slots->advance(&slots))) {
            Object::reclaim(old);
        }
    });
}

/// Who finds itself alone frees at once.
void slotsTellWhoIsAlone() {
    const SlotsOwner slots;
    Shared shared;
    parallel(
        [&] {
            auto& slot = slots->enroll(&shared.first);
            (void)slots->enter(slot);
            shared.read();
            slots->leave(slot);
            slots->dismiss(slot);
        },
        [&] {
            Object* const old = shared.replace();
            if (slots->isUnused(&shared.second)) {
                Object::reclaim(old);
            }
        });
}

/// Who finds all others outside frees at once, also inside a section of its own.
void slotsTellWhetherOthersAreOutside() {
    const SlotsOwner slots;
    Shared shared;
    const auto read = [&](const void* thread) {
        auto& slot = slots->enroll(thread);
        (void)slots->enter(slot);
        shared.read();
        slots->leave(slot);
        slots->dismiss(slot);
    };
    parallel([&] { read(&shared.first); },
             [&] {
                 auto& own = slots->enroll(&shared.second);
                 (void)slots->enter(own);
                 Object* const old = shared.replace();
                 if (slots->areOthersOutside(&shared.second)) {
                     Object::reclaim(old);
                 }
                 slots->leave(own);
                 slots->dismiss(own);
             });
}

/// The next owner of a slot finds it as the last one left it.
void slotsAreHandedOn() {
    const SlotsOwner slots;
    const auto use = [&] {
        auto& slot = slots->acquire();
        check(slots->enter(slot), "nobody is inside");
        slots->leave(slot);
        slots->release(slot);
    };
    parallel(use, use);
}

/// The domain may end while a thread still has a slot; whoever is last frees them all.
void slotOutlivesItsDomain() {
    auto* const slots = new SlotsOwner::Slots;
    auto& slot = slots->acquire();
    parallel(
        [&] {
            (void)slots->enter(slot);
            slots->leave(slot);
            slots->release(slot);
        },
        [&] { slots->abandon(); });
}

Options options(Budget budget, bool ownThreads) {
    Options result;
    result.budget = budget;
    result.ownThreads = ownThreads;
    return result;
}

TEST(EpochModelTest, SlotsAnnounceReaders) {
    EXPECT_TRUE(holds(slotsAnnounceReaders, options({3, 2}, false)));
    EXPECT_TRUE(holds(slotsTellWhoIsAlone, options({2, 2}, false)));
    EXPECT_TRUE(holds(slotsTellWhetherOthersAreOutside, options({2, 2}, false)));
    EXPECT_TRUE(holds(slotsAreHandedOn, options({2, 2}, false)));
    EXPECT_TRUE(holds(slotOutlivesItsDomain, options({2, 2}, false)));
}

TEST(EpochModelTest, NothingIsFreedUnderAReader) {
    EXPECT_TRUE(holds(readWhileCollecting, options({2, 1}, true)));
    EXPECT_TRUE(holds(readWhileSynchronizing, options({2, 1}, true)));
    EXPECT_TRUE(holds(readerChangesHands, options({1, 1}, true)));
    EXPECT_TRUE(holds(promptWriter, options({2, 1}, true)));
    EXPECT_TRUE(holds(promptWriters, options({2, 1}, true)));
}

TEST(EpochModelTest, AnyNumberOfReadersAndWriters) {
    EXPECT_TRUE(holds(twoReaders, options({1, 1}, true)));
    EXPECT_TRUE(holds(twoWriters, options({1, 1}, true)));
    EXPECT_TRUE(holds(placesAreUsedAgain, options({1, 1}, true)));
}

// Not under sanitizers: they end the process for the faults that mutants are meant to have.
#if !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN
TEST(EpochModelTest, EveryOrderIsNeeded) {
    EXPECT_TRUE(survive({}, surveyOrders("epoch_slots.hpp", {},
                                         {slotOutlivesItsDomain, slotsAreHandedOn,
                                          slotsTellWhoIsAlone, slotsAnnounceReaders})));
    EXPECT_TRUE(survive({}, surveyOrders("epoch_garbage.hpp", options({1, 1}, true),
                                         {readWhileCollecting, twoWriters})));
    // Under {2, 1}, twoWriters alone would take as long as all other scenarios.
    EXPECT_TRUE(survive(
        {},
        surveyOrders("epoch.hpp", options({2, 1}, true),
                     {{twoWriters, budgetByEffort({1, 1}, {2, 1})}, promptWriter, promptWriters})));
}
#endif

}  // namespace
}  // namespace sluice::model
