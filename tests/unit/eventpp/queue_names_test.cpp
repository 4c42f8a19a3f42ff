#include <sluice/event/event_queue.hpp>
#include <sluice/eventpp/event_util.hpp>
#include <sluice/eventpp/mixin_filter.hpp>
#include <sluice/eventpp/queue_names.hpp>
#include <sluice/eventpp/removers.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

struct Policies {
    using Mixins = MixinList<MixinFilter>;
};
using Queue = void_enqueue::EventQueue<int, void(int), Policies>;

/// As programs for eventpp write it.
void enqueueAndReturn(Queue& queue, int event, int value) {
    return queue.enqueue(event, value);
}

/// A class of a program may call its base by the base's own name.
struct Derived : Queue {
    Derived() : EventQueue() {}
    using EventQueue::enqueue;
    void enqueue() { EventQueue::enqueue(3, 1); }
};

/// The arguments of the template are found, as of any class template.
template <class E, class Prototype, class P>
bool processAnyQueue(void_enqueue::EventQueue<E, Prototype, P>& queue) {
    return queue.process();
}

struct VoidEnqueueTest : testing::Test {
    Queue queue;
    int sum = 0;

    VoidEnqueueTest() {
        queue.appendListener(3, [this](int n) { sum += n; });
    }
};

// Programs pass the address of enqueue() to threads and binders.
TEST_F(VoidEnqueueTest, HasAnAddress) {
    std::invoke(&Queue::enqueue<int, int>, queue, 3, 4);
    using Base = EventQueue<int, void(int), Policies>;
    EXPECT_TRUE(std::invoke(&Base::enqueue<int, int>, queue, 3, 5));
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(sum, 9);
}

TEST_F(VoidEnqueueTest, ReturnsNothing) {
    static_assert(std::is_void_v<decltype(queue.enqueue(3, 4))>);
    enqueueAndReturn(queue, 3, 4);
    EXPECT_TRUE(processAnyQueue(queue));
    EXPECT_EQ(sum, 4);
}

/// A class of a program may add an enqueue() of its own.
struct Message {
    int event;
    int value;
};
using PairQueue = void_enqueue::EventQueue<int, void(int, int)>;
struct Inbox : PairQueue {
    using PairQueue::enqueue;
    void enqueue(const Message& message) { PairQueue::enqueue(message.event, 0, message.value); }
};

TEST_F(VoidEnqueueTest, AProgramMayAddAnOverload) {
    Inbox inbox;
    int seen = 0;
    inbox.appendListener(3, [&seen](int, int n) { seen += n; });
    const Message message{3, 4};
    inbox.enqueue(message);
    inbox.enqueue(Message{3, 5});
    EXPECT_TRUE(inbox.process());
    EXPECT_EQ(seen, 9);
}

template <class T, class = void>
constexpr bool takes = false;
template <class T>
constexpr bool
    takes<T, std::void_t<decltype(std::declval<PairQueue&>().enqueue(std::declval<T>()))>> = true;

static_assert(!takes<Message>);
static_assert(!takes<int>);

/// A mixin may replace enqueue(), with a result of its own.
template <class Base>
struct Numbering : Base {
    template <class... A>
    long enqueue(A&&... args) {
        Base::enqueue(std::forward<A>(args)...);
        return ++number;
    }
    long number = 0;
};

TEST(VoidEnqueueOfMixinTest, TheResultOfAMixinStays) {
    struct WithNumbers {
        using Mixins = MixinList<Numbering>;
    };
    void_enqueue::EventQueue<int, void(int), WithNumbers> queue;
    EXPECT_EQ(queue.enqueue(3, 5), 1);
    EXPECT_EQ(queue.enqueue(3, 5), 2);
}

TEST_F(VoidEnqueueTest, WorksWithUtilitiesAndMixins) {
    {
        ScopedRemover<Queue> remover(queue);
        remover.appendListener(3, [this](int n) { sum += 10 * n; });
        counterRemover(queue).appendListener(3, [this](int n) { sum += 100 * n; });
        queue.appendFilter([](int& n) { return n > 0; });
        const Queue::DisableQueueNotify quiet(&queue);
        queue.enqueue(3, 1);
        queue.enqueue(3, -1);
        EXPECT_TRUE(queue.process());
    }
    EXPECT_TRUE(hasAnyListener(queue, 3));
    queue.enqueue(3, 1);
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(sum, 112);
}

TEST(VoidEnqueueBaseTest, MayBeCalledByItsName) {
    Derived derived;
    int sum = 0;
    derived.appendListener(3, [&sum](int n) { sum += n; });
    derived.enqueue();
    derived.enqueue(3, 2);
    EXPECT_TRUE(derived.process());
    EXPECT_EQ(sum, 3);
}

}  // namespace
}  // namespace sluice
