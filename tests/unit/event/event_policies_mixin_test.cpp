#include "event_suites.hpp"

#include <sluice/event/event_dispatcher.hpp>
#include <sluice/event/event_policies.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sluice {
namespace {

template <class Policies, template <class> class... List>
struct Mixing : Policies {
    using Mixins = MixinList<List...>;
};

using Numbers = std::vector<int>;

template <class Policies>
class EventPoliciesMixinTest : public testing::Test {};
TYPED_TEST_SUITE(EventPoliciesMixinTest, test::CommonPolicies, test::PolicyNames);

/// Writes down each question, and objects to even numbers.
template <class Base>
struct Odd : Base {
    using Base::Base;
    bool mixinBeforeDispatch(int& n, Numbers& log) const {
        log.push_back(100 + n);
        return n % 2 != 0;
    }
};
/// Writes down and doubles.
template <class Base>
struct Doubled : Base {
    bool mixinBeforeDispatch(int& n, Numbers& log) const {
        log.push_back(200 + n);
        n *= 2;
        return true;
    }
};
/// Has no hook.
template <class Base>
struct Named : Base {
    std::string name() const { return "named"; }
};
/// Has a hook for any arguments.
template <class Base>
struct Any : Base {
    template <class... Args>
    bool mixinBeforeDispatch(Args&...) const {
        ++count;
        return true;
    }
    mutable int count = 0;
};

template <class Dispatcher>
Numbers logOf(const Dispatcher& dispatcher, int event, int n) {
    Numbers log;
    dispatcher.dispatch(event, n, log);
    return log;
}

TYPED_TEST(EventPoliciesMixinTest, HooksAreCalledInTheOrderOfTheListUntilOneObjects) {
    using Policies = Mixing<TypeParam, Odd, Doubled>;
    EventDispatcher<int, void(int, Numbers&), Policies> dispatcher;
    dispatcher.appendListener(1, [](int n, Numbers& log) { log.push_back(n); });
    EXPECT_EQ(logOf(dispatcher, 1, 3), (Numbers{103, 203, 6}));
    EXPECT_EQ(logOf(dispatcher, 1, 4), (Numbers{104}));
    EXPECT_EQ(logOf(dispatcher, 7, 3), (Numbers{103, 203})) << "nobody listens; all the same";
    Numbers log;
    dispatcher.directDispatch(1, 5, log);
    EXPECT_EQ(log, (Numbers{105, 205, 10}));
}

TYPED_TEST(EventPoliciesMixinTest, OtherOrderOfTheMixinsIsAnotherOrderOfTheHooks) {
    using Policies = Mixing<TypeParam, Doubled, Odd>;
    EventDispatcher<int, void(int, Numbers&), Policies> dispatcher;
    EXPECT_EQ(logOf(dispatcher, 1, 3), (Numbers{203, 106}));
}

TYPED_TEST(EventPoliciesMixinTest, MixinWithoutHookDoesNotRepeatTheNextOnes) {
    using Policies = Mixing<TypeParam, Named, Odd, Named, Doubled, Named>;
    EventDispatcher<int, void(int, Numbers&), Policies> dispatcher;
    EXPECT_EQ(dispatcher.name(), "named");
    EXPECT_EQ(logOf(dispatcher, 1, 3), (Numbers{103, 203}));
}

TYPED_TEST(EventPoliciesMixinTest, HookMayBeATemplate) {
    using Policies = Mixing<TypeParam, Named, Any, Named>;
    EventDispatcher<int, void(int), Policies> dispatcher;
    dispatcher.dispatch(1, 2);
    dispatcher.dispatch(1, 2);
    EXPECT_EQ(dispatcher.count, 2);
}

TYPED_TEST(EventPoliciesMixinTest, DispatcherWithMixinsIsCopiedAndMovedAsAWhole) {
    using Policies = Mixing<TypeParam, Any>;
    EventDispatcher<int, void(int), Policies> dispatcher;
    int sum = 0;
    dispatcher.appendListener(1, [&sum](int n) { sum += n; });
    dispatcher.dispatch(1, 2);
    auto copy = dispatcher;
    copy.dispatch(1, 3);
    EXPECT_EQ(copy.count, 2);
    EXPECT_EQ(dispatcher.count, 1);
    const auto moved = std::move(copy);
    moved.dispatch(1, 4);
    EXPECT_EQ(moved.count, 3);
    EXPECT_EQ(sum, 9);
}

}  // namespace
}  // namespace sluice
