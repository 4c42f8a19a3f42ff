#include "support/model/expectations.hpp"

#include <sluice/bus/detail/handler_table.hpp>

#include "support/testing.hpp"

// The table of handlers as shipped, under the model checker. The captures of a handler are checked
// for data races: the table destroys them, and the thread that ended the subscription uses them
// again.

namespace sluice::model {
namespace {

using detail::UnsubscribeResult;
using detail::UnsubscribeStep;

struct TableTraits {
    using Platform = ModelPlatform;
    static constexpr std::size_t maxHandlers = 2;
    static constexpr std::size_t handlerSize = 64;
};
using Table = detail::HandlerTable<void(), TableTraits>;
struct OneHandler : TableTraits {
    static constexpr std::size_t maxHandlers = 1;
};
using Consumer = detail::ConsumerState<ModelPlatform>;

constexpr auto notThrown = [](auto&&) {};

template <class AnyTable, class Callable>
auto addTo(AnyTable& table, Callable&& callable) {
    return table.add([&]() -> decltype(auto) { return std::forward<Callable>(callable); });
}

template <class AnyTable>
void callAll(AnyTable& table, Consumer& consumer) {
    consumer.begin();
    table.callAll(consumer, notThrown, [] {});
    consumer.end();
}

/// A handler that owns a value, and adds to one that its subscriber owns.
class Adding {
public:
    explicit Adding(Plain<int>& sum) : sum_(&sum) {}
    Adding(const Adding&) noexcept = default;
    void operator()() { sum_->set(sum_->get() + own_.get()); }

private:
    Plain<int>* sum_;
    Plain<int> own_{1};
};

/// The handler neither runs nor begins after remove() has returned.
void removeWhileCalling() {
    Table table;
    Consumer consumer;
    Plain<int> sum;
    const Table::Id id = addTo(table, Adding(sum));
    parallel([&] { callAll(table, consumer), callAll(table, consumer); },
             [&] {
                 check(table.remove(id, UnsubscribeStep::any, consumer) == UnsubscribeResult::done,
                       "it ends");
                 sum.set(0);
             });
    check(table.size() == 0, "the slot is free");
}

/// An end in two steps: the captures outlive the first one.
void removeInTwoSteps() {
    Table table;
    Consumer consumer;
    Plain<int> sum;
    const Table::Id id = addTo(table, Adding(sum));
    parallel([&] { callAll(table, consumer); },
             [&] {
                 check(table.remove(id, UnsubscribeStep::keepCaptures, consumer) ==
                           UnsubscribeResult::done,
                       "it ends");
                 sum.set(0);
                 (void)table.remove(id, UnsubscribeStep::destroyCaptures, consumer);
             });
    check(addTo(table, Adding(sum)).slot == id.slot, "the slot is free");
}

/// The consumer goes on to a second handler while the first one is ended.
void removeTheFirstOfTwo() {
    Table table;
    Consumer consumer;
    Plain<int> first;
    Plain<int> second;
    const Table::Id id = addTo(table, Adding(first));
    (void)addTo(table, Adding(second));
    parallel([&] { callAll(table, consumer); },
             [&] {
                 (void)table.remove(id, UnsubscribeStep::any, consumer);
                 first.set(0);
             });
    check(second.get() == 1, "the other one is called");
}

/// The consumer stays in the second handler until the end of the first one has been seen.
void firstOfTwoIsNotDelayedByTheSecond() {
    Table table;
    Consumer consumer;
    Plain<int> first;
    Atomic<int> isRemoved{0};
    const Table::Id id = addTo(table, Adding(first));
    (void)addTo(table, [&isRemoved] { await(isRemoved); });
    parallel([&] { callAll(table, consumer); },
             [&] {
                 (void)table.remove(id, UnsubscribeStep::any, consumer);
                 first.set(0);
                 isRemoved.store(1, release);
             });
}

/// A subscription whose handler is added before a message is published gets the message.
void addWhileCalling() {
    Table table;
    Consumer consumer;
    Plain<int> sum;
    Atomic<int> isPublished{0};
    parallel(
        [&] {
            (void)addTo(table, Adding(sum));
            isPublished.store(1, release);
        },
        [&] {
            const bool mustCall = isPublished.load(acquire) == 1;
            callAll(table, consumer);
            check(!mustCall || sum.get() == 1, "what was subscribed before is called");
        });
}

/// The slot of a subscription that ends goes to the next one while the consumer calls.
void placeIsReusedWhileCalling() {
    Table table;
    Consumer consumer;
    Plain<int> first;
    Plain<int> second;
    const Table::Id id = addTo(table, Adding(first));
    parallel([&] { callAll(table, consumer), callAll(table, consumer); },
             [&] {
                 (void)table.remove(id, UnsubscribeStep::any, consumer);
                 (void)addTo(table, Adding(second));
                 first.set(0);
             });
}

/// A handler ends its own subscription while another thread ends it, too. The other thread goes on
/// when the handler has returned and is destroyed.
void handlerEndsItself() {
    Table table;
    Consumer consumer;
    Plain<int> sum;
    Table::Id id;
    id = addTo(table, [&, adding = Adding(sum)]() mutable {
        (void)table.remove(id, UnsubscribeStep::any, consumer);
        adding();
    });
    parallel([&] { callAll(table, consumer); },
             [&] {
                 (void)table.remove(id, UnsubscribeStep::any, consumer);
                 sum.set(0);
             });
    check(table.size() == 0, "the slot is free");
}

/// As above, but the other thread finds the slot with the next subscription, or with its end.
template <bool IsEnded>
void slotOfOneThatEndedItselfIsReused() {
    detail::HandlerTable<void(), OneHandler> table;
    Consumer consumer;
    Plain<int> sum;
    Table::Id id;
    const auto remove = [&](auto which) {
        (void)table.remove({which.slot, which.generation}, UnsubscribeStep::any, consumer);
    };
    const auto first = addTo(table, [&] {
        remove(id);
        sum.set(1);
    });
    id = {first.slot, first.generation};
    parallel(
        [&] {
            callAll(table, consumer);
            const auto next = addTo(table, [] {});
            if (IsEnded) {
                remove(next);
            }
        },
        [&] {
            remove(id);
            sum.set(0);
        });
}

/// Two threads end the same subscription; either may go on once it has ended.
void twoRemove() {
    Table table;
    Consumer consumer;
    Plain<int> sum;
    Plain<int> second;
    const Table::Id id = addTo(table, Adding(sum));
    const auto end = [&](Plain<int>& mine) {
        (void)table.remove(id, UnsubscribeStep::any, consumer);
        mine.set(sum.get());
    };
    Plain<int> seen;
    parallel([&] { end(seen); }, [&] { end(second); });
}

/// The same while the consumer calls it.
void twoRemoveWhileCalling() {
    Table table;
    Consumer consumer;
    Plain<int> sum;
    const Table::Id id = addTo(table, Adding(sum));
    const auto end = [&] {
        (void)table.remove(id, UnsubscribeStep::any, consumer);
        (void)sum.get();
    };
    parallel([&] { callAll(table, consumer); }, end, end);
}

/// Two threads subscribe at once: each gets a slot of its own.
void twoAdd() {
    Table table;
    Consumer consumer;
    Plain<int> sum;
    const auto add = [&] {
        check(addTo(table, Adding(sum)).generation != 0, "there is a slot for each");
    };
    parallel(add, add);
    callAll(table, consumer);
    check(sum.get() == 2, "both are called");
}

TEST(HandlerTableModelTest, NoHandlerRunsAfterItsEnd) {
    EXPECT_TRUE(holds(removeWhileCalling));
    EXPECT_TRUE(holds(removeInTwoSteps));
    EXPECT_TRUE(holds(removeTheFirstOfTwo));
    EXPECT_TRUE(holds(firstOfTwoIsNotDelayedByTheSecond));
    EXPECT_TRUE(holds(placeIsReusedWhileCalling, options({1, 1})));
}

TEST(HandlerTableModelTest, HandlersAreAddedWhileOthersRun) {
    EXPECT_TRUE(holds(addWhileCalling));
    EXPECT_TRUE(holds(twoAdd));
}

TEST(HandlerTableModelTest, ASubscriptionThatSeveralThreadsEndEndsForAll) {
    EXPECT_TRUE(holds(handlerEndsItself));
    EXPECT_TRUE(holds(slotOfOneThatEndedItselfIsReused<false>));
    EXPECT_TRUE(holds(slotOfOneThatEndedItselfIsReused<true>));
    EXPECT_TRUE(holds(twoRemove));
    EXPECT_TRUE(holds(twoRemoveWhileCalling, options({1, 1})));
}

TEST(HandlerTableModelTest, EveryOrderIsNeeded) {
    const Scenarios all{addWhileCalling,
                        removeWhileCalling,
                        removeTheFirstOfTwo,
                        firstOfTwoIsNotDelayedByTheSecond,
                        handlerEndsItself,
                        slotOfOneThatEndedItselfIsReused<true>,
                        twoRemove,
                        {twoRemoveWhileCalling, {1, 1}},
                        {placeIsReusedWhileCalling, {1, 1}}};
    EXPECT_TRUE(survive({}, ordersOf("handler_table.hpp", {}, all)));
}

}  // namespace
}  // namespace sluice::model
