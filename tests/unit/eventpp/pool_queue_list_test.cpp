#include <sluice/eventpp/pool_queue_list.hpp>

#include <sluice/event/event_queue.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {
namespace {

using Ints = PoolQueueList<int, 16>;

struct ListPolicies {
    template <class Item>
    using QueueList = PoolQueueList<Item, 32>;
};

TEST(PoolQueueListTest, NodesComeFromThePoolOfTheirType) {
    using Allocator = PoolQueueAllocator<std::uint64_t, 16>;
    const std::size_t before = Allocator::pool().statistics().inUse;
    Allocator allocator;
    std::uint64_t* const one = allocator.allocate(1);
    EXPECT_EQ(Allocator::pool().statistics().inUse, before + 1);
    EXPECT_EQ(Allocator::pool().statistics().blocks % 16, 0u);
    std::uint64_t* const many = allocator.allocate(3);
    many[2] = 1;
    EXPECT_EQ(Allocator::pool().statistics().inUse, before + 1) << "arrays are not nodes";
    allocator.deallocate(many, 3);
    allocator.deallocate(one, 1);
    EXPECT_EQ(Allocator::pool().statistics().inUse, before);
}

TEST(PoolQueueListTest, ListsOfOneTypeSplice) {
    Ints one{1, 2};
    Ints other{3};
    one.splice(one.end(), other);
    EXPECT_EQ(one, (Ints{1, 2, 3}));
    const bool areEqual = one.get_allocator() == PoolQueueAllocator<char, 16>();
    EXPECT_TRUE(areEqual);
}

TEST(PoolQueueListTest, ServesAsTheListOfAQueue) {
    EventQueue<int, void(const std::string&), ListPolicies> queue;
    std::vector<std::string> seen;
    queue.appendListener(1, [&seen](const std::string& text) { seen.push_back(text); });
    queue.enqueue(1, "a");
    queue.enqueue(1, "b");
    EXPECT_TRUE(queue.processIf([](const std::string& text) { return text == "b"; }));
    queue.enqueue(1, "c");
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(seen, (std::vector<std::string>{"b", "a", "c"}));
}

}  // namespace
}  // namespace sluice
