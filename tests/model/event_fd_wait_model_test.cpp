#include "support/model/expectations.hpp"

#include <sluice/wait/event_fd_wait.hpp>

#include <gtest/gtest.h>

#if defined(__linux__)

#include <atomic>
#include <cstdint>

// EventFdWait as shipped, under the model checker. A counter of the model takes the place of the
// kernel's. A lost signal shows as a schedule in which the descriptor that the loop polls never
// becomes readable.

namespace sluice::model {
namespace {

/// As sluice::detail::EventFd. The kernel orders reads and writes of its counter; nothing orders
/// the number of the descriptor but the caller.
class ModelDescriptor {
public:
    void open() noexcept {
        number_.set(3);
        isOpen_ = true;
        opened = this;
    }
    bool isOpen() const noexcept { return isOpen_; }
    int number() const noexcept { return number_.get(); }

    void signal() noexcept {
        (void)number_.get();
        (void)count_.fetch_add(1, std::memory_order_acq_rel);
    }
    void clear() noexcept {
        (void)number_.get();
        (void)count_.exchange(0, std::memory_order_acq_rel);
    }

    /// The one that was opened last.
    inline static const ModelDescriptor* opened = nullptr;

    void awaitReadable() const noexcept { await(count_); }

private:
    Plain<int> number_;
    Atomic<std::uint32_t> count_{0};
    bool isOpen_ = false;
};

using Strategy = BasicEventFdWait<ModelPlatform, ModelParker, ModelDescriptor>;

/// An event loop that polls the strategy. After a wait that was not ready, the loop sleeps in its
/// descriptor.
template <class Ready>
void loopUntil(Strategy& strategy, Ready ready) {
    (void)strategy.descriptor();
    while (!strategy.waitUntil(ready, ModelPlatform::Clock::now())) {
        ModelDescriptor::opened->awaitReadable();
    }
}

/// The notifier comes while the loop makes its descriptor and arms it.
void oneNotifier() {
    Strategy strategy;
    Plain<int> data;
    Atomic<int> isReady{0};
    parallel(
        [&] {
            loopUntil(strategy, [&] { return isReady.load(acquire) == 1; });
            check(data.get() == 1, "what was written before is visible");
        },
        [&] {
            data.set(1);
            isReady.store(1, release);
            strategy.notifyAll();
        });
}

/// The loop needs both, and may be woken by either, or for nothing.
void twoNotifiers() {
    Strategy strategy;
    Atomic<int> count{0};
    const auto add = [&] { (void)count.fetch_add(1, release), strategy.notifyAll(); };
    parallel([&] { loopUntil(strategy, [&] { return count.load(acquire) == 2; }); }, add, add);
}

/// The loop arms, is woken, and arms again.
void oneNotifierTwice() {
    Strategy strategy;
    Atomic<int> count{0};
    parallel([&] { loopUntil(strategy, [&] { return count.load(acquire) == 2; }); },
             [&] {
                 for (int i = 1; i <= 2; ++i) {
                     count.store(i, release);
                     strategy.notifyAll();
                 }
             });
}

/// The kernel's counter carries the change: the condition needs no order of its own.
void signalCarriesTheChange() {
    Strategy strategy;
    Plain<int> data;
    (void)strategy.descriptor();
    const auto never = [] { return false; };
    (void)strategy.waitUntil(never, ModelPlatform::Clock::now());
    parallel(
        [&] {
            ModelDescriptor::opened->awaitReadable();
            check(data.get() == 1, "nobody else notifies");
        },
        [&] {
            data.set(1);
            strategy.notifyAll();
        });
}

TEST(EventFdWaitModelTest, NoSignalIsLost) {
    EXPECT_TRUE(holds(oneNotifier));
    EXPECT_TRUE(holds(twoNotifiers));
    EXPECT_TRUE(holds(oneNotifierTwice));
    EXPECT_TRUE(holds(signalCarriesTheChange));
}

TEST(EventFdWaitModelTest, EveryOrderIsNeeded) {
    EXPECT_TRUE(survive({}, ordersOf("event_fd_wait.hpp", {}, {oneNotifier, oneNotifierTwice})));
}

}  // namespace
}  // namespace sluice::model

#endif
