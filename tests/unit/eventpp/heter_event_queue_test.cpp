#include "unit/event/event_suites.hpp"

#include <sluice/eventpp/heter_event_queue.hpp>
#include <sluice/eventpp/ordered_queue_list.hpp>
#include <sluice/eventpp/removers.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

using Numbers = std::vector<int>;
using Texts = std::vector<std::string>;
using Three = HeterTuple<void(), void(int), void(const std::string&)>;

template <class Policies>
class HeterEventQueueTest : public testing::Test {
protected:
    using Queue = HeterEventQueue<int, Three, Policies>;

    void listen(Queue& queue, int event) {
        queue.appendListener(event, [this] { log.push_back("none"); });
        queue.appendListener(event, [this](int n) { log.push_back(std::to_string(n)); });
        queue.appendListener(event, [this](const std::string& text) { log.push_back(text); });
    }

    Texts log;
};
TYPED_TEST_SUITE(HeterEventQueueTest, test::CommonPolicies, test::PolicyNames);

static_assert(std::is_base_of_v<TagEventQueue, HeterEventQueue<int, Three>> &&
              std::is_base_of_v<TagEventDispatcher, HeterEventQueue<int, Three>> &&
              std::is_base_of_v<TagHeterEventQueue, HeterEventQueue<int, Three>> &&
              std::is_base_of_v<TagHeterEventDispatcher, HeterEventQueue<int, Three>>);

// ---- processIf

TYPED_TEST(HeterEventQueueTest, ProcessIfTestsTheEventsOfItsPrototypeOnly) {
    typename TestFixture::Queue queue;
    this->listen(queue, 3);
    queue.enqueue(3, "long enough to live on the heap, not inside");
    queue.enqueue(3, 1);
    queue.enqueue(3);
    queue.enqueue(3, 2);
    queue.enqueue(3, "b");
    queue.enqueue(3, 3);
    Numbers tested;
    EXPECT_TRUE(queue.processIf([&tested](int n) {
        tested.push_back(n);
        return n != 2;
    }));
    EXPECT_EQ(tested, (Numbers{1, 2, 3}));
    EXPECT_EQ(this->log, (Texts{"1", "3"}));
    queue.enqueue(3, 4);
    this->log.clear();
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(this->log,
              (Texts{"long enough to live on the heap, not inside", "none", "2", "b", "4"}));
}

TYPED_TEST(HeterEventQueueTest, ProcessIfThatMissesReadsNoOtherPrototypesEvents) {
    typename TestFixture::Queue queue;
    this->listen(queue, 3);
    queue.enqueue(3, 1);
    queue.enqueue(3);
    EXPECT_FALSE(queue.processIf([](const std::string&) { return true; }));
    EXPECT_FALSE(queue.processIf([](int) { return false; }));
    EXPECT_FALSE(queue.processIf([](const std::vector<int>&) { return true; }));
    EXPECT_EQ(queue.sizeApprox(), 2U);
    EXPECT_TRUE(queue.processIf([] { return true; }));
    EXPECT_EQ(this->log, (Texts{"none"}));
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(this->log, (Texts{"none", "1"}));
    EXPECT_FALSE(queue.processIf([](int) { return true; }));
}

TYPED_TEST(HeterEventQueueTest, ProcessIfGoesOnToTheNextPrototypeWhenNoneWasDispatched) {
    HeterEventQueue<int, HeterTuple<void(int), void(const std::string&)>, TypeParam> queue;
    Texts seen;
    queue.appendListener(1, [&seen](int n) { seen.push_back("int" + std::to_string(n)); });
    queue.appendListener(1, [&seen](const std::string& text) { seen.push_back(text); });
    struct Any {
        bool operator()(int n) const { return n > 5; }
        bool operator()(const std::string&) const { return true; }
    };
    queue.enqueue(1, 1);
    queue.enqueue(1, "text");
    EXPECT_TRUE(queue.processIf(Any()));
    EXPECT_EQ(seen, (Texts{"text"}));
    queue.enqueue(1, "more");
    queue.enqueue(1, 9);
    EXPECT_TRUE(queue.processIf(Any()));
    EXPECT_EQ(seen, (Texts{"text", "int9"}));
}

// ---- queued events

TYPED_TEST(HeterEventQueueTest, PrototypeIsChosenWhenTheEventIsQueued) {
    // The number that is kept would fit the first prototype, too.
    HeterEventQueue<int, HeterTuple<void(int&), void(int)>, TypeParam> queue;
    Texts seen;
    queue.appendListener(1, [&seen](int& n) { seen.push_back("reference " + std::to_string(n)); });
    queue.appendListener(1, [&seen](int&& n) { seen.push_back("value " + std::to_string(n)); });
    queue.enqueue(1, 5);
    int n = 6;
    queue.enqueue(1, n);
    n = 7;
    EXPECT_TRUE(queue.process());
    queue.dispatch(1, 8);
    queue.dispatch(1, n);
    EXPECT_EQ(seen, (Texts{"value 5", "reference 6", "value 8", "reference 7"}));
}

TYPED_TEST(HeterEventQueueTest, ReferencesAreCopiedAndDestroyedRightAfterTheirDispatch) {
    using Shared = std::shared_ptr<int>;
    HeterEventQueue<int, HeterTuple<void(const Shared&), void(const Shared&, int)>, TypeParam>
        queue;
    const auto shared = std::make_shared<int>(1);
    Numbers counts;
    queue.appendListener(
        1, [&](const Shared& s) { counts.push_back(static_cast<int>(s.use_count())); });
    queue.enqueue(1, shared);
    queue.enqueue(1, shared, 4);
    queue.enqueue(1, shared);
    EXPECT_EQ(shared.use_count(), 4);
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(counts, (Numbers{4, 2}));
    EXPECT_EQ(shared.use_count(), 1);
    queue.enqueue(1, shared, 4);
    queue.clearEvents();
    EXPECT_EQ(shared.use_count(), 1);
    EXPECT_TRUE(queue.emptyQueue());
    {
        auto temporary = queue;
        temporary.enqueue(1, shared);
    }
    EXPECT_EQ(shared.use_count(), 1);
}

// ---- visitors

TYPED_TEST(HeterEventQueueTest, VisitorGetsEventsOfAllPrototypes) {
    struct Visitor {
        Texts& log;
        void operator()(int event) const { log.push_back(std::to_string(event)); }
        void operator()(int event, int n) const { log.push_back(std::to_string(event * 100 + n)); }
        void operator()(int, const std::string& text) const { log.push_back(text); }
    };
    typename TestFixture::Queue queue;
    this->listen(queue, 1);
    queue.enqueue(1);
    queue.enqueue(2, 5);
    queue.enqueue(3, "text");
    const Visitor visitor{this->log};
    EXPECT_TRUE(queue.processOneWith(visitor));
    EXPECT_TRUE(queue.processQueueWith(visitor));
    EXPECT_FALSE(queue.processQueueWith(visitor));
    EXPECT_EQ(this->log, (Texts{"1", "205", "text"})) << "no listener was called";
}

// ---- as a value

#if defined(__cpp_exceptions)

#endif

// ---- as eventpp has it

using VoidQueue = void_enqueue::HeterEventQueue<int, HeterTuple<void(), void(int)>>;

void enqueueAndReturn(VoidQueue& queue) {
    return queue.enqueue(3, 4);
}

TEST(HeterEventQueueLimitTest, DestroysTheDroppedEventOfAnotherPrototype) {
    using Shared = std::shared_ptr<int>;
    HeterEventQueue<int, HeterTuple<void(int), void(const Shared&)>> queue(
        EventQueueOptions{1, Overflow::dropOldest});
    const auto one = std::make_shared<int>(0);
    queue.enqueue(1, one);
    queue.enqueue(1, 2);
    EXPECT_EQ(one.use_count(), 1);
}

TEST(HeterEventQueueLifetimeTest, PredicateMayDestroyTheQueue) {
    using Queue = HeterEventQueue<int, HeterTuple<void(int), void(int, int)>>;
    auto queue = std::make_unique<Queue>();
    queue->enqueue(1, 2);
    EXPECT_FALSE(queue->processIf([&](auto...) { return queue.reset(), false; }));
}

TEST(HeterVoidEnqueueTest, IsAQueueOfSluiceWhoseEnqueueReturnsNothing) {
    static_assert(std::is_nothrow_move_constructible_v<VoidQueue>);
    VoidQueue original{EventQueueOptions{}};
    int sum = 0;
    original.appendListener(3, [&sum](int n) { sum += n; });
    VoidQueue copy(original);
    VoidQueue queue(std::move(copy));
    {
        ScopedRemover<VoidQueue> remover(queue);
        remover.appendListener(3, [&sum] { sum += 10; });
        const VoidQueue::DisableQueueNotify quiet(&queue);
        enqueueAndReturn(queue);
        queue.enqueue(3);
        EXPECT_TRUE(queue.process());
    }
    EXPECT_EQ(sum, 14);
    HeterEventQueue<int, HeterTuple<void(), void(int)>>& base = queue;
    EXPECT_TRUE(base.enqueue(3, 2));
    EXPECT_TRUE(base.process());
    EXPECT_EQ(sum, 16);
}

}  // namespace
}  // namespace sluice
