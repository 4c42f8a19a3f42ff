#include "unit/event/event_suites.hpp"

#include <sluice/eventpp/heter_event_dispatcher.hpp>
#include <sluice/eventpp/heter_event_queue.hpp>
#include <sluice/eventpp/mixin_heter_filter.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using Numbers = std::vector<int>;
using Prototypes = HeterTuple<void(int), void(const std::string&, int&)>;

template <class Policies>
struct Filtered : Policies {
    using Mixins = MixinList<MixinHeterFilter>;
};

template <class Policies>
class MixinHeterFilterTest : public testing::Test {
protected:
    using Dispatcher = HeterEventDispatcher<int, Prototypes, Filtered<Policies>>;
    using Queue = HeterEventQueue<int, Prototypes, Filtered<Policies>>;
};
TYPED_TEST_SUITE(MixinHeterFilterTest, test::CommonPolicies, test::PolicyNames);

TYPED_TEST(MixinHeterFilterTest, FiltersOfThePrototypeRunInOrderUntilOneObjects) {
    typename TestFixture::Dispatcher dispatcher;
    Numbers log;
    dispatcher.appendListener(1, [&log](int n) { log.push_back(n); });
    dispatcher.appendFilter([&log](int& n) {
        log.push_back(100 + n);
        return n > 0;
    });
    dispatcher.appendFilter([&log](int n) {
        log.push_back(200 + n);
        return n > 1;
    });
    dispatcher.appendFilter([](const std::string&, int&) { return false; });
    dispatcher.dispatch(1, 0);
    dispatcher.dispatch(1, 1);
    dispatcher.dispatch(1, 2);
    dispatcher.dispatch(9, 3);
    EXPECT_EQ(log, (Numbers{100, 101, 201, 102, 202, 2, 103, 203}));
}

TYPED_TEST(MixinHeterFilterTest, WhatAFilterWritesReachesListenersButNotTheCaller) {
    typename TestFixture::Dispatcher dispatcher;
    Numbers seen;
    dispatcher.appendFilter([](int& n) {
        n *= 10;
        return true;
    });
    dispatcher.appendFilter([](const std::string& text, int& n) {
        n += static_cast<int>(text.size());
        return true;
    });
    dispatcher.appendListener(1, [&seen](int n) { seen.push_back(n); });
    dispatcher.appendListener(1, [&seen](const std::string&, int& n) { seen.push_back(n); });
    int n = 3;
    dispatcher.dispatch(1, std::as_const(n));
    dispatcher.dispatch(1, n);
    EXPECT_EQ(n, 3) << "the prototype takes it by value";
    dispatcher.dispatch(1, "four", n);
    EXPECT_EQ(n, 7) << "the prototype takes it by reference";
    EXPECT_EQ(seen, (Numbers{30, 30, 7}));
}

TYPED_TEST(MixinHeterFilterTest, RemovedFiltersAndOtherDispatchersFiltersDoNotRun) {
    typename TestFixture::Dispatcher dispatcher;
    const auto handle = dispatcher.appendFilter([](int&) { return false; });
    typename TestFixture::Dispatcher other;
    other.appendListener(1, [](int) {});
    int calls = 0;
    dispatcher.appendListener(1, [&calls](int) { ++calls; });
    dispatcher.dispatch(1, 5);
    EXPECT_EQ(calls, 0);
    EXPECT_FALSE(other.removeFilter(handle));
    auto copy = dispatcher;
    copy.dispatch(1, 5);
    EXPECT_EQ(calls, 0) << "a copy has the same filters";
    EXPECT_TRUE(dispatcher.removeFilter(handle));
    EXPECT_FALSE(dispatcher.removeFilter(handle));
    dispatcher.dispatch(1, 5);
    EXPECT_EQ(calls, 1);
    swap(copy, dispatcher);
    copy.dispatch(1, 5);
    dispatcher.dispatch(1, 5);
    EXPECT_EQ(calls, 2) << "the filters are swapped with the listeners";
}

template <class Base>
struct IncludingPolicies : Base {
    using Mixins = MixinList<MixinHeterFilter>;
    using ArgumentPassingMode = ArgumentPassingIncludeEvent;
};

TYPED_TEST(MixinHeterFilterTest, FilterMayChangeAnEventThatIsAmongTheArguments) {
    HeterEventDispatcher<int, HeterTuple<void(int, int)>, IncludingPolicies<TypeParam>> dispatcher;
    std::vector<int> called;
    dispatcher.appendListener(1, [&called](int, int) { called.push_back(1); });
    dispatcher.appendListener(2, [&called](int event, int) { called.push_back(event); });
    dispatcher.appendFilter([](int& event, int&) {
        event = 2;
        return true;
    });
    dispatcher.dispatch(1, 0);
    EXPECT_EQ(called, (std::vector<int>{2}));
}

TYPED_TEST(MixinHeterFilterTest, QueueFiltersWhenItProcesses) {
    typename TestFixture::Queue queue;
    Numbers seen;
    queue.appendListener(1, [&seen](int n) { seen.push_back(n); });
    queue.appendFilter([](int& n) { return ++n != 3; });
    queue.enqueue(1, 1);
    queue.enqueue(1, 2);
    queue.enqueue(1, 3);
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(seen, (Numbers{2, 4}));
}

}  // namespace
}  // namespace sluice
