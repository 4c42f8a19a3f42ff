#include "support/allocation_count.hpp"

#include <sluice/event/callback_list.hpp>
#include <sluice/eventpp/removers.hpp>

#include "support/testing.hpp"

namespace sluice::test {
namespace {

TEST(ScopedRemoverAllocationTest, ListenersRemovedElsewhereTakeNoMemory) {
    CallbackList<void()> list;
    ScopedRemover<CallbackList<void()>> remover(list);
    const auto allocationsOf = [&](int listeners) {
        const AllocationCount count;
        for (int i = 0; i < listeners; ++i) {
            list.remove(remover.append([] {}));
        }
        return count.allocations();
    };
    (void)allocationsOf(10);
    const std::size_t before = allocationsOf(100);
    EXPECT_EQ(allocationsOf(1000), 10 * before);
}

}  // namespace
}  // namespace sluice::test
