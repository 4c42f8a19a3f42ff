#include "support/model/expectations.hpp"
#include "support/sanitizers.hpp"

#include <sluice/base/spin_lock.hpp>
#include <sluice/event/detail/retire_list.hpp>
#include <sluice/event/event_policies.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

// The retired callbacks of a list, under the model checker. A callback that is freed too early
// shows as a data race with the call. A callback that no thread frees is still counted at the end.

namespace sluice {

/// The checker has room for few atomics.
template <>
inline constexpr unsigned detail::readersInGroup<model::ModelPlatform> = 1;

namespace model {
namespace {

struct ModelThreading : MultipleThreading {
    using Platform = ModelPlatform;
    using Mutex = BasicSpinLock<ModelPlatform>;
};

using RetireList = detail::RetireList<ModelThreading>;
using Call = detail::Call<ModelThreading>;

struct Node : detail::Retired {
    Node() {
        free = [](Retired& retired) { static_cast<Node&>(retired).content.set(-1); };
    }
    Plain<int> content;
};

/// A thread of the checker gives its slot back after the scenario.
BasicReaderRegistry<ModelPlatform>& lastingRegistry() {
    static std::vector<BasicReaderRegistry<ModelPlatform>*> all;
    all.push_back(new BasicReaderRegistry<ModelPlatform>);
    return *all.back();
}

/// A list of two callbacks that can be found one by one.
struct Shared {
    BasicReaderRegistry<ModelPlatform>& registry = lastingRegistry();
    RetireList retired{registry};
    Node nodes[2];
    Atomic<Node*> links[2]{{&nodes[0]}, {&nodes[1]}};

    void call() {
        const Call running(retired);
        for (const auto& link : links) {
            if (const Node* const node = link.load(std::memory_order_acquire)) {
                check(node->content.get() == 0, "not freed");
            }
        }
    }

    void unlink(int index) {
        Node* const node = links[index].exchange(nullptr, std::memory_order_acq_rel);
        const RetireList::Guard guard(retired.lock);
        retired.add(guard, *node);
    }

    void remove(int index) {
        unlink(index);
        retired.collect();
    }

    void checkAllFreed() const {
        check(retired.sizeApprox() == 0, "all is freed");
        check(!retired.hasAny(), "calls need not collect");
        for (int index = 0; index < 2; ++index) {
            check(links[index].load(std::memory_order_relaxed) != nullptr ||
                      nodes[index].content.get() == -1,
                  "what was removed is freed");
        }
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
                 const Call running(shared.retired);
                 shared.unlink(0);
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

TEST(RetireListModelTest, NothingIsFreedUnderACallAndNothingIsForgotten) {
    EXPECT_TRUE(holds(removalBesideACall, options({2, 1})));
    EXPECT_TRUE(holds(removalInsideACall, options({2, 1})));
    EXPECT_TRUE(holds(twoRemovers, options({2, 1})));
}

TEST(RetireListModelTest, ThreeThreads) {
    EXPECT_TRUE(holds(twoRemoversBesideACall, options({1, 1})));
    EXPECT_TRUE(holds(removalBesideTwoCalls, options({1, 1})));
}

// Not under sanitizers: they end the process for the faults that mutants are meant to have.
#if !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN
TEST(RetireListModelTest, EveryFenceIsNeeded) {
    const Scenarios scenarios{removalBesideACall, removalInsideACall};
    EXPECT_TRUE(survive({}, surveyOrders("retire_list.hpp", options({2, 1}), scenarios)));
}
#endif

}  // namespace
}  // namespace model
}  // namespace sluice
