#include "support/model/expectations.hpp"
#include "support/sanitizers.hpp"

#include <sluice/base/spin_lock.hpp>
#include <sluice/event/detail/list/removals.hpp>
#include <sluice/event/event_policies.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>

// The removed callbacks of a list, under the model checker. A callback that is freed too early
// shows as a data race with the call. A callback that no thread frees is still counted at the end.

namespace sluice::model {
namespace {

/// Its clock never shows the same time twice, so that each look is allowed.
struct HastyPlatform : ModelPlatform {
    struct Clock : ModelPlatform::Clock {
        static time_point now() noexcept {
            static std::atomic<int> milliseconds{0};
            return time_point(duration(++milliseconds));
        }
    };
};

struct ModelThreading : MultipleThreading {
    using Platform = HastyPlatform;
    using Mutex = BasicSpinLock<HastyPlatform>;
};

using ReadSide = detail::ReadSideOf<ModelThreading>;
using Removals = detail::Removals<ModelThreading>;

struct Node : detail::Removed {
    Node() {
        free = [](Removed& removed) { static_cast<Node&>(removed).content.set(-1); };
    }
    Plain<int> content;
};

/// A list of two callbacks that can be found one by one.
struct Shared {
    ReadSide::Registry::Owner registry = ReadSide::Registry::make();
    ReadSide::Users users{*registry};
    ModelThreading::Mutex lock;
    Removals removals{nullptr};
    Node nodes[2];
    Atomic<Node*> links[2]{{&nodes[0]}, {&nodes[1]}};

    void call() {
        {
            const ReadSide::Section section(users);
            for (const auto& link : links) {
                if (const Node* const node = link.load(std::memory_order_acquire)) {
                    check(node->content.get() == 0, "not freed");
                }
            }
        }
        ReadSide::fence();
        if (removals.hasAny()) {
            removals.collect(users, lock, Removals::Effort::limited);
        }
    }

    void remove(int index) {
        Node* const node = links[index].exchange(nullptr, std::memory_order_acq_rel);
        Removals::Chain chain;
        chain.add(*node);
        {
            const std::lock_guard<ModelThreading::Mutex> guard(lock);
            removals.add(guard, chain);
        }
        removals.collect(users, lock, Removals::Effort::limited);
    }

    void checkAllFreed() const {
        check(removals.sizeApprox() == 0, "all is freed");
        check(!removals.hasAny(), "calls need not look again");
    }
};

void removalBesideACall() {
    Shared shared;
    parallel([&] { shared.call(); }, [&] { shared.remove(0); });
    shared.checkAllFreed();
}

void removalInsideACall() {
    Shared shared;
    parallel([&] { shared.call(); },
             [&] {
                 {
                     const ReadSide::Section section(shared.users);
                     shared.remove(0);
                 }
                 ReadSide::fence();
                 if (shared.removals.hasAny()) {
                     shared.removals.collect(shared.users, shared.lock, Removals::Effort::limited);
                 }
             });
    shared.checkAllFreed();
}

void twoRemovers() {
    Shared shared;
    parallel([&] { shared.remove(0); }, [&] { shared.remove(1); });
    shared.checkAllFreed();
}

void twoRemoversBesideACall() {
    Shared shared;
    parallel([&] { shared.call(); }, [&] { shared.remove(0); }, [&] { shared.remove(1); });
    shared.checkAllFreed();
}

/// The last of two calls that a batch waits for moves it forward.
void removalBesideTwoCalls() {
    Shared shared;
    parallel([&] { shared.call(); }, [&] { shared.call(); }, [&] { shared.remove(0); });
    shared.checkAllFreed();
}

Options options(Budget budget) {
    Options result;
    result.budget = budget;
    result.ownThreads = true;
    return result;
}

TEST(RemovalsModelTest, NothingIsFreedUnderACallAndNothingIsForgotten) {
    EXPECT_TRUE(holds(removalBesideACall, options({2, 1})));
    EXPECT_TRUE(holds(removalInsideACall, options({2, 1})));
    EXPECT_TRUE(holds(twoRemovers, options({2, 1})));
}

TEST(RemovalsModelTest, ThreeThreads) {
    EXPECT_TRUE(holds(twoRemoversBesideACall, options({1, 1})));
    EXPECT_TRUE(holds(removalBesideTwoCalls, options({1, 1})));
}

}  // namespace
}  // namespace sluice::model
