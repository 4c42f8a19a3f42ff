#include "unit/event/event_suites.hpp"

#include <sluice/event/event_dispatcher.hpp>
#include <sluice/event/event_queue.hpp>
#include <sluice/eventpp/heter_event_dispatcher.hpp>
#include <sluice/eventpp/heter_event_queue.hpp>
#include <sluice/eventpp/mixin_filter.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

struct Filtered {
    using Mixins = MixinList<MixinFilter>;
};
using Dispatcher = EventDispatcher<int, void(int, int), Filtered>;

/// Events 0 to 4 with 58 each. A listener keeps what it got; two filters count.
class MixinFilterTest : public ::testing::Test {
protected:
    using Numbers = std::vector<int>;

    MixinFilterTest() {
        for (int event = 0; event < 5; ++event) {
            dispatcher_.appendListener(
                event, [this](int e, int index) { data_[static_cast<std::size_t>(e)] = index; });
        }
    }

    /// A filter that counts itself as the given one.
    template <class Action>
    auto filter(std::size_t number, Action action) {
        return dispatcher_.appendFilter([this, number, action](int& e, int& index) {
            ++hits_[number];
            return action(e, index);
        });
    }

    void dispatchAll() {
        for (int event = 0; event < 5; ++event) {
            dispatcher_.dispatch(event, 58);
        }
    }

    static bool pass(int&, int&) { return true; }
    static bool belowTwo(int& e, int&) { return e < 2; }
    static bool increaseFromTwo(int& e, int& index) {
        index += e >= 2 ? 1 : 0;
        return true;
    }

    Dispatcher dispatcher_;
    Numbers hits_ = Numbers(2);
    Numbers data_ = Numbers(5);
};

TEST_F(MixinFilterTest, TheFirstFilterThatObjectsStopsLaterFiltersAndAllListeners) {
    filter(0, belowTwo);
    filter(1, pass);
    dispatchAll();
    EXPECT_EQ(hits_, (Numbers{5, 2}));
    EXPECT_EQ(data_, (Numbers{58, 58, 0, 0, 0}));
}

TEST_F(MixinFilterTest, WhatAFilterWritesIsWhatListenersGet) {
    filter(0, increaseFromTwo);
    int seen = 0;
    filter(1, [&seen](int&, int& index) {
        seen += index;
        return true;
    });
    dispatchAll();
    EXPECT_EQ(hits_, (Numbers{5, 5}));
    EXPECT_EQ(data_, (Numbers{58, 58, 59, 59, 59}));
    EXPECT_EQ(seen, 58 + 58 + 59 + 59 + 59) << "later filters get it, too";
}

TEST_F(MixinFilterTest, ARemovedFilterNoLongerObjects) {
    const Dispatcher::FilterHandle handle = filter(0, belowTwo);
    EXPECT_TRUE(handle);
    EXPECT_TRUE(dispatcher_.removeFilter(handle));
    EXPECT_FALSE(dispatcher_.removeFilter(handle));
    EXPECT_FALSE(dispatcher_.removeFilter(Dispatcher::FilterHandle()));
    dispatchAll();
    EXPECT_EQ(hits_, (Numbers{0, 0}));
    EXPECT_EQ(data_, (Numbers{58, 58, 58, 58, 58}));
}

TEST_F(MixinFilterTest, CopiesHaveTheSameFilters) {
    filter(0, belowTwo);
    Dispatcher copy(dispatcher_);
    copy.dispatch(1, 7);
    copy.dispatch(3, 7);
    EXPECT_EQ(data_, (Numbers{0, 7, 0, 0, 0}));
    copy.appendFilter([](int&, int&) { return false; });
    dispatcher_.dispatch(0, 8);
    EXPECT_EQ(data_, (Numbers{8, 7, 0, 0, 0})) << "later ones are its own";
    Dispatcher moved(std::move(copy));
    moved.dispatch(1, 9);
    EXPECT_EQ(data_, (Numbers{8, 7, 0, 0, 0}));
}

TEST_F(MixinFilterTest, SwapExchangesTheFiltersWithTheListeners) {
    filter(0, belowTwo);
    Dispatcher other;
    swap(dispatcher_, other);
    dispatchAll();
    EXPECT_EQ(hits_, (Numbers{0, 0}));
    other.dispatch(3, 7);
    EXPECT_EQ(hits_, (Numbers{1, 0}));
    EXPECT_EQ(data_, (Numbers{0, 0, 0, 0, 0}));
    other.swap(dispatcher_);
    dispatcher_.dispatch(1, 7);
    EXPECT_EQ(hits_, (Numbers{2, 0}));
    EXPECT_EQ(data_, (Numbers{0, 7, 0, 0, 0}));
}

template <class Base>
class Inner : public Base {
public:
    int calls = 0;
};

template <class Base>
class Derived : public MixinFilter<Base> {};

TEST(MixinFilterChainTest, RunsForAMixinThatInheritsIt) {
    struct Policies {
        using Mixins = MixinList<Inner, Derived>;
    };
    EventDispatcher<int, void(int), Policies> dispatcher;
    int filtered = 0;
    int heard = 0;
    dispatcher.appendListener(3, [&heard](int) { ++heard; });
    dispatcher.appendFilter([&filtered](int&) {
        ++filtered;
        return false;
    });
    dispatcher.dispatch(3);
    EXPECT_EQ(filtered, 1);
    EXPECT_EQ(heard, 0);
}

TEST(MixinFilterChainTest, ReferencesAndConstReferencesStayWhatTheyAre) {
    EventDispatcher<int, void(const std::string&, int&), Filtered> dispatcher;
    dispatcher.appendFilter([](const std::string& text, int& n) {
        n += static_cast<int>(text.size());
        return true;
    });
    int n = 1;
    dispatcher.dispatch(3, "four", n);
    EXPECT_EQ(n, 5);
}

TEST(MixinFilterChainTest, UsesTheThreadingOfTheDispatcher) {
    struct Policies {
        using Threading = SingleThreading;
        using Mixins = MixinList<MixinFilter>;
    };
    struct Elsewhere {
        using Threading = SingleThreading;
    };
    using Single = EventDispatcher<int, void(int), Policies>;
    static_assert(
        std::is_same_v<Single::FilterHandle, CallbackList<bool(int&), Elsewhere>::Handle>);
    static_assert(!std::is_same_v<Single::FilterHandle, CallbackList<bool(int&)>::Handle>);
    Single dispatcher;
    int calls = 0;
    dispatcher.appendListener(3, [&calls](int) { ++calls; });
    dispatcher.appendFilter([](int& n) { return n != 3; });
    dispatcher.dispatch(3);
    EXPECT_EQ(calls, 0);
}

#if defined(__cpp_exceptions)
TEST_F(MixinFilterTest, AThrowingFilterEndsTheDispatch) {
    dispatcher_.appendFilter([](int&, int&) -> bool { throw std::runtime_error("filter"); });
    EXPECT_THROW(dispatcher_.dispatch(1, 58), std::runtime_error);
    EXPECT_EQ(data_, (Numbers{0, 0, 0, 0, 0}));
}
#endif

// ---- of heterogeneous classes

using Prototypes = HeterTuple<void(int), void(const std::string&, int&)>;

template <class Policies>
struct HeterFiltered : Policies {
    using Mixins = MixinList<MixinHeterFilter>;
};

template <class Policies>
class MixinHeterFilterTest : public testing::Test {
protected:
    using Dispatcher = HeterEventDispatcher<int, Prototypes, HeterFiltered<Policies>>;
    using Queue = HeterEventQueue<int, Prototypes, HeterFiltered<Policies>>;
};
TYPED_TEST_SUITE(MixinHeterFilterTest, test::CommonPolicies, test::PolicyNames);

TYPED_TEST(MixinHeterFilterTest, FiltersOfThePrototypeRunInOrderUntilOneObjects) {
    typename TestFixture::Dispatcher dispatcher;
    std::vector<int> log;
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
    EXPECT_EQ(log, (std::vector<int>{100, 101, 201, 102, 202, 2, 103, 203}));
}

template <class Base>
struct IncludingPolicies : Base {
    using Mixins = MixinList<MixinHeterFilter>;
    using ArgumentPassingMode = ArgumentPassingIncludeEvent;
};

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

}  // namespace
}  // namespace sluice
