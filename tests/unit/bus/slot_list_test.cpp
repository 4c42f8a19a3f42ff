#include "support/dice.hpp"

#include <sluice/bus/detail/slot_list.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <type_traits>

namespace sluice {
namespace {

static_assert(std::is_same_v<detail::SlotNumber<255>, std::uint8_t>);
static_assert(std::is_same_v<detail::SlotNumber<256>, std::uint16_t>);
static_assert(std::is_same_v<detail::SlotNumber<65536>, std::uint32_t>);

// Several lists over one set of slots, against deques.
TEST(SlotListTest, BehavesAsItsModel) {
    constexpr std::size_t count = 7;
    using List = detail::SlotList<count>;
    using Slot = List::Slot;
    List::Links links;
    std::array<List, 3> lists;
    std::array<std::deque<Slot>, 3> models;
    for (std::size_t i = 0; i < count; ++i) {
        lists[0].pushBack(links, static_cast<Slot>(i));
        models[0].push_back(static_cast<Slot>(i));
    }
    test::Dice dice(1);
    for (int step = 0; step < 20000; ++step) {
        const std::size_t from = dice() % 3;
        const std::size_t to = dice() % 3;
        ASSERT_EQ(lists[from].isEmpty(), models[from].empty());
        if (models[from].empty()) {
            continue;
        }
        ASSERT_EQ(lists[from].front(), models[from].front());
        Slot moved = 0;
        if (dice() % 2 == 0) {
            moved = lists[from].popFront(links);
            ASSERT_EQ(moved, models[from].front());
            models[from].pop_front();
        } else {
            const auto wanted = [limit = dice() % count](Slot slot) { return slot >= limit; };
            const auto found = std::find_if(models[from].begin(), models[from].end(), wanted);
            ASSERT_EQ(lists[from].takeFirst(links, wanted, moved), found != models[from].end());
            if (found == models[from].end()) {
                continue;
            }
            ASSERT_EQ(moved, *found);
            models[from].erase(found);
        }
        lists[to].pushBack(links, moved);
        models[to].push_back(moved);
    }
}

}  // namespace
}  // namespace sluice
