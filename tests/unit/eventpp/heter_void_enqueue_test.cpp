#include <sluice/eventpp/heter_void_enqueue.hpp>

#include <sluice/eventpp/scoped_remover.hpp>

#include <gtest/gtest.h>

#include <type_traits>
#include <utility>

namespace sluice {
namespace {

using Queue = void_enqueue::HeterEventQueue<int, HeterTuple<void(), void(int)>>;

void enqueueAndReturn(Queue& queue) {
    return queue.enqueue(3, 4);
}

TEST(HeterVoidEnqueueTest, IsAQueueOfSluiceWhoseEnqueueReturnsNothing) {
    static_assert(std::is_nothrow_move_constructible_v<Queue>);
    Queue original{EventQueueOptions{}};
    int sum = 0;
    original.appendListener(3, [&sum](int n) { sum += n; });
    Queue copy(original);
    Queue queue(std::move(copy));
    {
        ScopedRemover<Queue> remover(queue);
        remover.appendListener(3, [&sum] { sum += 10; });
        const Queue::DisableQueueNotify quiet(&queue);
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
