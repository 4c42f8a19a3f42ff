#include <sluice/event/callback_list.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace sluice {
namespace {

struct SingleThreadPolicies {
    using Threading = SingleThreading;
};

template <class Policies>
class CallbackListTest : public testing::Test {
protected:
    using List = CallbackList<void(), Policies>;
};

struct PolicyNames {
    template <class Policies>
    static std::string GetName(int) {
        return std::is_same_v<Policies, DefaultPolicies> ? "Multiple" : "Single";
    }
};
using AllPolicies = testing::Types<DefaultPolicies, SingleThreadPolicies>;
TYPED_TEST_SUITE(CallbackListTest, AllPolicies, PolicyNames);

TYPED_TEST(CallbackListTest, RemovedCallbackIsDestroyedAtOnceOutsideOfCalls) {
    typename TestFixture::List list;
    const auto captured = std::make_shared<int>(1);
    const auto handle = list.append([captured] {});
    EXPECT_EQ(captured.use_count(), 2);
    EXPECT_TRUE(list.remove(handle));
    EXPECT_EQ(captured.use_count(), 1);
    EXPECT_FALSE(handle);
}

TYPED_TEST(CallbackListTest, CallbackThatRemovesItselfIsDestroyedWhenTheCallEnds) {
    typename TestFixture::List list;
    const auto captured = std::make_shared<int>(1);
    typename TestFixture::List::Handle handle;
    handle = list.append([&list, &handle, captured] {
        EXPECT_TRUE(list.remove(handle));
        EXPECT_EQ(captured.use_count(), 2);
    });
    list();
    EXPECT_EQ(captured.use_count(), 1);
}

}  // namespace
}  // namespace sluice
