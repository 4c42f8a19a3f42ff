#include "event_suites.hpp"

#include <sluice/event/callback_list.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

// Callbacks that add callbacks and call lists.

namespace sluice {
namespace {

template <class Policies>
class CallbackListReentrancyTest : public testing::Test {
protected:
    using List = CallbackList<void(), Policies>;
    using Handle = typename List::Handle;
};
TYPED_TEST_SUITE(CallbackListReentrancyTest, test::AllPolicies, test::PolicyNames);

using Numbers = std::vector<int>;

TYPED_TEST(CallbackListReentrancyTest, WhatACallbackAddsIsCalledFromTheNextCallOn) {
    typename TestFixture::List list;
    int a = 0;
    int b = 0;
    const auto count = [&b] { ++b; };
    list.append([&] {
        ++a;
        const auto x = list.append([&] {
            ++b;
            const auto appended = list.append(count);
            list.prepend(count);
            list.insert(count, appended);
            list.prepend(count);
            list.append(count);
        });
        list.prepend(count);
        list.insert(count, x);
    });
    list();
    EXPECT_EQ(a, 1);
    EXPECT_EQ(b, 0);
    list();
    EXPECT_EQ(a, 2);
    EXPECT_EQ(b, 3);
    b = 0;
    list();
    EXPECT_GT(b, 3);
}

TYPED_TEST(CallbackListReentrancyTest, NestedCallSeesWhatWasAddedAndTheOuterOneDoesNot) {
    typename TestFixture::List list;
    Numbers called;
    int depth = 0;
    list.append([&] {
        called.push_back(1);
        if (depth == 0) {
            ++depth;
            list.append([&called] { called.push_back(3); });
            list();
            called.push_back(0);
        }
    });
    list.append([&called] { called.push_back(2); });
    list();
    EXPECT_EQ(called, (Numbers{1, 1, 2, 3, 0, 2}));
}

TYPED_TEST(CallbackListReentrancyTest, WhatIsAddedInANestedCallIsNewToAllCallsThatRun) {
    typename TestFixture::List list;
    int added = 0;
    int depth = 0;
    list.append([&] {
        if (++depth < 4) {
            list();
        } else {
            list.append([&added] { ++added; });
        }
    });
    list.append([] {});
    list();
    EXPECT_EQ(added, 0);
    list();
    EXPECT_EQ(added, 1) << "depth is beyond the limit, so one was added and one called";
}

TYPED_TEST(CallbackListReentrancyTest, CallbackMayAddAndRemoveTheSameOneManyTimes) {
    typename TestFixture::List list;
    const auto captured = std::make_shared<int>(0);
    list.append([&, captured] {
        for (int i = 0; i < 100; ++i) {
            const auto handle = list.append([captured] { ++*captured; });
            EXPECT_TRUE(list.remove(handle));
        }
    });
    list.append([captured] { *captured += 1000; });
    list();
    EXPECT_EQ(*captured, 1000);
    EXPECT_EQ(captured.use_count(), 3);
}

TYPED_TEST(CallbackListReentrancyTest, CallbackMayCallAnotherList) {
    typename TestFixture::List outer;
    typename TestFixture::List inner;
    Numbers called;
    inner.append([&] {
        called.push_back(2);
        outer.append([&called] { called.push_back(4); });
    });
    outer.append([&] {
        called.push_back(1);
        inner();
    });
    outer.append([&called] { called.push_back(3); });
    outer();
    EXPECT_EQ(called, (Numbers{1, 2, 3}));
}

TYPED_TEST(CallbackListReentrancyTest, CopiedCallbackMayUseTheListItIsCopiedInto) {
    struct Adder {
        explicit Adder(typename TestFixture::List& ownList) : list(&ownList) {}
        Adder(const Adder& other) : list(other.list) {
            list->append([] {});
        }
        void operator()() const {}
        typename TestFixture::List* list;
    };
    typename TestFixture::List list;
    const typename TestFixture::List::Callback callback{Adder(list)};
    list.clear();
    list.append(callback);
    int count = 0;
    list.forEach([&count](typename TestFixture::List::Callback&) { ++count; });
    EXPECT_EQ(count, 2);
}

}  // namespace
}  // namespace sluice
