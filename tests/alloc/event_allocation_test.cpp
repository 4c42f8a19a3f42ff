#include "support/allocation_count.hpp"

#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace sluice {
namespace {

struct SingleThreadPolicies {
    using Threading = SingleThreading;
};

template <class Policies>
class EventAllocationTest : public testing::Test {
protected:
    /// The first call of a thread takes a place in the domain that all lists share.
    EventAllocationTest() { CallbackList<void(), Policies>()(); }
};

struct PolicyNames {
    template <class Policies>
    static std::string GetName(int) {
        return std::is_same_v<Policies, DefaultPolicies> ? "MultipleThreading" : "SingleThreading";
    }
};
using AllPolicies = testing::Types<DefaultPolicies, SingleThreadPolicies>;
TYPED_TEST_SUITE(EventAllocationTest, AllPolicies, PolicyNames);

TYPED_TEST(EventAllocationTest, CallsDoNotAllocate) {
    CallbackList<void(int&), TypeParam> list;
    for (int i = 0; i < 10; ++i) {
        list.append([](int& n) { ++n; });
    }
    int calls = 0;
    const test::AllocationCount count;
    for (int i = 0; i < 100; ++i) {
        list(calls);
    }
    EXPECT_EQ(count.allocations(), 0U);
    EXPECT_EQ(calls, 1000);
}

TYPED_TEST(EventAllocationTest, EachAdditionAllocatesOnceAndEachRemovalFreesThat) {
    CallbackList<void(int&), TypeParam> list;
    using Handle = typename CallbackList<void(int&), TypeParam>::Handle;
    constexpr std::size_t size = 100;
    std::vector<Handle> handles(size);
    const test::AllocationCount count;
    for (Handle& handle : handles) {
        handle = list.append([](int& n) { ++n; });
    }
    EXPECT_EQ(count.allocations(), size);
    for (Handle& handle : handles) {
        list.remove(handle);
        handle.reset();
    }
    EXPECT_EQ(count.allocations(), size);
    EXPECT_EQ(count.deallocations(), size);
}

TYPED_TEST(EventAllocationTest, EmptyListsAndDispatchersAllocateNothing) {
    const test::AllocationCount count;
    {
        CallbackList<void(), TypeParam> list;
        EventDispatcher<int, void(), TypeParam> dispatcher;
        list();
        dispatcher.dispatch(3);
        EXPECT_FALSE(dispatcher.hasAnyListener(3));
    }
    EXPECT_EQ(count.allocations(), 0U);
}

TYPED_TEST(EventAllocationTest, DispatchesDoNotAllocateOnceTheEventsHaveSettled) {
    constexpr int events = 50;
    EventDispatcher<int, void(int&), TypeParam> dispatcher;
    for (int event = 0; event < events; ++event) {
        dispatcher.appendListener(event, [](int& n) { ++n; });
    }
    int calls = 0;
    const auto dispatchAll = [&] {
        for (int event = 0; event < 2 * events; ++event) {
            dispatcher.dispatch(event, calls);
        }
    };
    dispatchAll();
    const test::AllocationCount count;
    for (int i = 0; i < 20; ++i) {
        dispatchAll();
    }
    EXPECT_EQ(count.allocations(), 0U);
    EXPECT_EQ(calls, 21 * events);
}

TYPED_TEST(EventAllocationTest, AdditionForAKnownEventAllocatesOnce) {
    EventDispatcher<int, void(), TypeParam> dispatcher;
    dispatcher.appendListener(3, [] {});
    dispatcher.dispatch(3);
    const test::AllocationCount count;
    for (int i = 0; i < 10; ++i) {
        dispatcher.appendListener(3, [] {});
    }
    EXPECT_EQ(count.allocations(), 10U);
}

TYPED_TEST(EventAllocationTest, EverythingIsGivenBack) {
    const auto use = [] {
        EventDispatcher<int, void(), TypeParam> dispatcher;
        for (int event = 0; event < 100; ++event) {
            dispatcher.appendListener(event, [] {});
            dispatcher.dispatch(event / 2);
        }
        auto copy = dispatcher;
        copy.dispatch(3);
    };
    use();
    const test::AllocationCount count;
    use();
    EXPECT_EQ(count.allocations(), count.deallocations());
}

}  // namespace
}  // namespace sluice
