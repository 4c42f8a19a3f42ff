#include "support/allocation_count.hpp"

#include <sluice/fixed/fixed_function.hpp>
#include <sluice/fixed/fixed_string.hpp>
#include <sluice/fixed/fixed_vector.hpp>

#include "support/testing.hpp"

namespace sluice::test {
namespace {

TEST(FixedAllocationTest, StringNeverAllocates) {
    const AllocationCount count;
    FixedString<200> text = "a literal";
    while (text.append(" and more")) {
    }
    EXPECT_TRUE(text.truncated());
    EXPECT_TRUE(text.assign("x"));
    const FixedString<300> wider = text;
    EXPECT_EQ(wider, "x");
    EXPECT_EQ(count.allocations(), 0U);
}

TEST(FixedAllocationTest, VectorNeverAllocates) {
    const AllocationCount count;
    FixedVector<FixedString<30>, 100> items{"first", "second"};
    while (items.pushBack(items.front())) {
    }
    FixedVector<FixedString<30>, 100> copy = items;
    copy.eraseOrdered(copy.begin(), copy.begin() + 50);
    copy.eraseUnordered(3);
    items = copy;
    EXPECT_EQ(items.size(), 49U);
    EXPECT_EQ(count.allocations(), 0U);
}

TEST(FixedAllocationTest, FunctionNeverAllocates) {
    const AllocationCount count;
    const FixedString<38> text = "captured";
    FixedFunction<std::size_t()> function = [text] { return text.size(); };
    FixedFunction<std::size_t()> other = std::move(function);
    function = [] { return std::size_t{1}; };
    swap(function, other);
    EXPECT_EQ(function() + other(), 9U);
    EXPECT_EQ(count.allocations(), 0U);
}

}  // namespace
}  // namespace sluice::test
