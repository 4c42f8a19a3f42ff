#include <sluice/bus/messages.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace sluice {
namespace {

struct alignas(64) Aligned {
    char byte;
};
using List = Messages<int, std::string, Aligned>;

static_assert(List::count == 3);
static_assert(List::maxSize == 64 && List::maxAlignment == 64);
static_assert(!List::areTriviallyDestructible && Messages<int, Aligned>::areTriviallyDestructible);
static_assert(List::contains<int> && !List::contains<const int> && !List::contains<long>);
static_assert(List::indexOf<int> == 0 && List::indexOf<std::string> == 1 &&
              List::indexOf<Aligned> == 2);

TEST(MessagesTest, VisitCallsWithTheTypeOfTheIndex) {
    std::vector<std::size_t> sizes;
    for (std::size_t index = 0; index <= List::count; ++index) {
        List::visit(index,
                    [&](auto type) { sizes.push_back(sizeof(typename decltype(type)::Message)); });
    }
    EXPECT_EQ(sizes, (std::vector<std::size_t>{sizeof(int), sizeof(std::string), 64}));
}

}  // namespace
}  // namespace sluice
