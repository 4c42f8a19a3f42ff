#include "support/dice.hpp"

#include <sluice/actor/detail/object_timers.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using Heap = detail::DeadlineHeap<int, 64>;

TEST(DeadlineHeapTest, EqualDeadlinesKeepTheOrderOfInsertion) {
    Heap heap;
    for (const Heap::Index index : {7U, 3U, 60U, 1U, 9U, 2U}) {
        heap.insert(index, 5);
    }
    heap.insert(8, 4);
    std::vector<Heap::Index> order;
    while (!heap.isEmpty()) {
        order.push_back(heap.first());
        heap.remove(heap.first());
    }
    EXPECT_EQ(order, (std::vector<Heap::Index>{8, 7, 3, 60, 1, 9, 2}));
}

TEST(DeadlineHeapTest, AgreesWithASortedMapWhateverIsInsertedAndRemoved) {
    Heap heap;
    std::map<std::pair<int, int>, Heap::Index> model;  // by deadline, then insertion
    std::vector<std::pair<int, int>> keyOf(64);
    test::Dice dice(7);
    for (int step = 0; step < 20000; ++step) {
        const auto index = static_cast<Heap::Index>(dice() % 64);
        if (heap.contains(index)) {
            heap.remove(index);
            model.erase(keyOf[index]);
        } else {
            keyOf[index] = {static_cast<int>(dice() % 20), step};
            heap.insert(index, keyOf[index].first);
            model.emplace(keyOf[index], index);
        }
        ASSERT_EQ(heap.isEmpty(), model.empty());
        if (!model.empty()) {
            ASSERT_EQ(heap.first(), model.begin()->second);
            ASSERT_EQ(heap.earliest(), model.begin()->first.first);
        }
    }
}

}  // namespace
}  // namespace sluice
