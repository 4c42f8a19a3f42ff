#include "model/lasting_registry.hpp"

#include <sluice/base/spin_lock.hpp>
#include <sluice/event/detail/retire_list.hpp>
#include <sluice/event/event_policies.hpp>

#include "support/testing.hpp"

// The retired callbacks of a list, under the model checker. A callback that is freed too early
// shows as a data race with the call. A callback that no thread frees is still counted at the end.

namespace sluice::model {
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

/// A list of two callbacks that can be found one by one.
struct Shared {
    BasicReaderRegistry<ModelPlatform>& registry = lastingRegistry();
    RetireList retired{registry};
    Node nodes[2];
    Atomic<Node*> links[2]{{&nodes[0]}, {&nodes[1]}};

    void call() {
        const Call running(retired);
        for (const auto& link : links) {
            if (const Node* const node = link.load(acquire)) {
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
            check(links[index].load(relaxed) != nullptr || nodes[index].content.get() == -1,
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

TEST(RetireListModelTest, NothingIsFreedUnderACallAndNothingIsForgotten) {
    EXPECT_TRUE(holds(removalBesideACall, options({2, 1}, true)));
    EXPECT_TRUE(holds(removalInsideACall, options({2, 1}, true)));
    EXPECT_TRUE(holds(twoRemovers, options({2, 1}, true)));
}

TEST(RetireListModelTest, ThreeThreads) {
    EXPECT_TRUE(holds(twoRemoversBesideACall, options({1, 1}, true)));
    EXPECT_TRUE(holds(removalBesideTwoCalls, options({1, 1}, true)));
}

TEST(RetireListModelTest, EveryFenceIsNeeded) {
    const Scenarios scenarios{removalBesideACall, removalInsideACall};
    EXPECT_TRUE(survive({}, ordersOf("retire_list.hpp", options({2, 1}, true), scenarios)));
}

}  // namespace
}  // namespace sluice::model
