#include "event_suites.hpp"

#include <sluice/event/event_dispatcher.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using Numbers = std::vector<int>;

template <class Policies>
class EventDispatcherTest : public testing::Test {
protected:
    using Dispatcher = EventDispatcher<int, void(), Policies>;
    using Handle = typename Dispatcher::Handle;

    auto note(int number) {
        return [this, number] { called.push_back(number); };
    }

    Numbers send(const Dispatcher& dispatcher, int event) {
        called.clear();
        dispatcher.dispatch(event);
        return called;
    }

    Numbers called;
};
TYPED_TEST_SUITE(EventDispatcherTest, test::AllPolicies, test::PolicyNames);

static_assert(std::is_base_of_v<TagEventDispatcher, EventDispatcher<int, void()>>);
static_assert(std::is_nothrow_move_constructible_v<EventDispatcher<int, void()>>);
static_assert(std::is_nothrow_move_assignable_v<EventDispatcher<int, void()>>);
static_assert(std::is_nothrow_swappable_v<EventDispatcher<int, void()>>);
static_assert(std::is_same_v<EventDispatcher<std::string, void(int)>::Event, std::string>);
static_assert(std::is_same_v<EventDispatcher<int, void(int)>::Callback, std::function<void(int)>>);
static_assert(std::is_same_v<EventDispatcher<int, void(int)>::Mutex, std::mutex>);

// ---- events without listeners

TYPED_TEST(EventDispatcherTest, TrimForgetsTheEventsThatHaveLostTheirListeners) {
    typename TestFixture::Dispatcher dispatcher;
    EXPECT_EQ(dispatcher.trimEvents(), 0U);
    std::vector<typename TestFixture::Handle> handles;
    for (int event = 0; event < 100; ++event) {
        handles.push_back(dispatcher.appendListener(event, this->note(event)));
    }
    EXPECT_EQ(dispatcher.trimEvents(), 0U);
    for (int event = 0; event < 100; ++event) {
        if (event % 10 != 3) {
            EXPECT_TRUE(dispatcher.removeListener(event, handles[static_cast<std::size_t>(event)]));
        }
    }
    EXPECT_EQ(dispatcher.trimEvents(), 90U);
    EXPECT_EQ(dispatcher.trimEvents(), 0U);
    EXPECT_EQ(this->send(dispatcher, 13), (Numbers{13}));
    EXPECT_EQ(this->send(dispatcher, 14), Numbers());
    EXPECT_FALSE(dispatcher.removeListener(14, handles[14])) << "its event is forgotten";
    EXPECT_FALSE(handles[14].remove());
    dispatcher.appendListener(14, this->note(140));
    EXPECT_FALSE(dispatcher.removeListener(14, handles[14])) << "of a list that is gone";
    EXPECT_EQ(this->send(dispatcher, 14), (Numbers{140}));
    EXPECT_TRUE(dispatcher.removeListener(93, handles[93]));
}

TYPED_TEST(EventDispatcherTest, ListenerMayTrimAndKeepsTheEventThatCallsIt) {
    typename TestFixture::Dispatcher dispatcher;
    typename TestFixture::Handle handle;
    std::size_t forgotten = 7;
    dispatcher.removeListener(2, dispatcher.appendListener(2, this->note(2)));
    handle = dispatcher.appendListener(1, [&] {
        dispatcher.removeListener(1, handle);
        forgotten = dispatcher.trimEvents();
    });
    dispatcher.appendListener(1, this->note(1));
    EXPECT_EQ(this->send(dispatcher, 1), (Numbers{1}));
    EXPECT_EQ(forgotten, 1U);
    dispatcher.removeAllListeners(1);
    EXPECT_EQ(dispatcher.trimEvents(), 1U);
}

// ---- listeners of an event

TYPED_TEST(EventDispatcherTest, CallsTheListenersOfTheEventInOrder) {
    typename TestFixture::Dispatcher dispatcher;
    const auto one = dispatcher.appendListener(3, this->note(1));
    dispatcher.appendListener(5, this->note(50));
    dispatcher.appendListener(3, this->note(2));
    dispatcher.prependListener(3, this->note(0));
    dispatcher.insertListener(3, this->note(9), one);
    EXPECT_EQ(this->send(dispatcher, 3), (Numbers{0, 9, 1, 2}));
    EXPECT_EQ(this->send(dispatcher, 5), (Numbers{50}));
    EXPECT_EQ(this->send(dispatcher, 4), Numbers());
}

TYPED_TEST(EventDispatcherTest, RemovesAListenerOfTheRightEventOnly) {
    typename TestFixture::Dispatcher dispatcher;
    const auto handle = dispatcher.appendListener(3, this->note(1));
    dispatcher.appendListener(5, this->note(2));
    EXPECT_FALSE(dispatcher.removeListener(5, handle));
    EXPECT_FALSE(dispatcher.removeListener(6, handle));
    EXPECT_TRUE(handle);
    EXPECT_TRUE(dispatcher.removeListener(3, handle));
    EXPECT_FALSE(dispatcher.removeListener(3, handle));
    EXPECT_FALSE(dispatcher.removeListener(3, typename TestFixture::Handle()));
    EXPECT_FALSE(handle);
    EXPECT_EQ(this->send(dispatcher, 3), Numbers());
    EXPECT_EQ(this->send(dispatcher, 5), (Numbers{2}));
}

TYPED_TEST(EventDispatcherTest, HandlesOfOtherEventsAndDispatchersAreRefused) {
    typename TestFixture::Dispatcher dispatcher;
    typename TestFixture::Dispatcher other;
    const auto ofFive = dispatcher.appendListener(5, this->note(5));
    const auto foreign = other.appendListener(3, this->note(7));
    dispatcher.appendListener(3, this->note(1));
    dispatcher.insertListener(3, this->note(2), ofFive);
    dispatcher.insertListener(3, this->note(3), foreign);
    EXPECT_FALSE(dispatcher.removeListener(3, foreign));
    EXPECT_EQ(this->send(dispatcher, 3), (Numbers{1, 2, 3}));
    EXPECT_EQ(this->send(dispatcher, 5), (Numbers{5}));
    EXPECT_EQ(this->send(other, 3), (Numbers{7}));
}

TYPED_TEST(EventDispatcherTest, OwnsAHandleForTheRightEventOnly) {
    typename TestFixture::Dispatcher dispatcher;
    const typename TestFixture::Dispatcher other;
    const auto handle = dispatcher.appendListener(3, this->note(1));
    dispatcher.appendListener(5, this->note(1));
    EXPECT_TRUE(dispatcher.ownsHandle(3, handle));
    EXPECT_FALSE(dispatcher.ownsHandle(5, handle));
    EXPECT_FALSE(dispatcher.ownsHandle(6, handle));
    EXPECT_FALSE(other.ownsHandle(3, handle));
    EXPECT_FALSE(dispatcher.ownsHandle(3, typename TestFixture::Handle()));
    dispatcher.removeListener(3, handle);
    EXPECT_FALSE(dispatcher.ownsHandle(3, handle));
}

TYPED_TEST(EventDispatcherTest, KnowsWhetherAnEventHasAnyListener) {
    typename TestFixture::Dispatcher dispatcher;
    EXPECT_FALSE(dispatcher.hasAnyListener(3));
    const auto one = dispatcher.appendListener(3, this->note(1));
    const auto two = dispatcher.appendListener(3, this->note(1));
    EXPECT_TRUE(dispatcher.hasAnyListener(3));
    EXPECT_FALSE(dispatcher.hasAnyListener(4));
    dispatcher.removeListener(3, one);
    EXPECT_TRUE(dispatcher.hasAnyListener(3));
    dispatcher.removeListener(3, two);
    EXPECT_FALSE(dispatcher.hasAnyListener(3));
    dispatcher.appendListener(3, this->note(1));
    EXPECT_TRUE(dispatcher.hasAnyListener(3));
}

TYPED_TEST(EventDispatcherTest, RemovesAllListenersOfAnEvent) {
    typename TestFixture::Dispatcher dispatcher;
    const auto handle = dispatcher.appendListener(3, this->note(1));
    dispatcher.appendListener(3, this->note(2));
    dispatcher.appendListener(4, this->note(3));
    dispatcher.removeAllListeners(3);
    dispatcher.removeAllListeners(7);
    EXPECT_FALSE(handle);
    EXPECT_FALSE(dispatcher.hasAnyListener(3));
    EXPECT_EQ(this->send(dispatcher, 4), (Numbers{3}));
}

TYPED_TEST(EventDispatcherTest, RemovesAListenerAndWaits) {
    typename TestFixture::Dispatcher dispatcher;
    const auto handle = dispatcher.appendListener(3, this->note(1));
    EXPECT_FALSE(dispatcher.removeListenerAndWait(4, handle));
    EXPECT_TRUE(dispatcher.removeListenerAndWait(3, handle));
    EXPECT_FALSE(dispatcher.removeListenerAndWait(3, handle));
}

TYPED_TEST(EventDispatcherTest, ForEachVisitsTheListenersOfOneEvent) {
    typename TestFixture::Dispatcher dispatcher;
    using Callback = typename TestFixture::Dispatcher::Callback;
    std::vector<typename TestFixture::Handle> added;
    for (int i = 0; i < 3; ++i) {
        added.push_back(dispatcher.appendListener(3, this->note(i)));
    }
    dispatcher.appendListener(4, this->note(4));
    std::vector<typename TestFixture::Handle> seen;
    dispatcher.forEach(3,
                       [&](const typename TestFixture::Handle& handle, const Callback& callback) {
                           seen.push_back(handle);
                           callback();
                       });
    EXPECT_EQ(seen, added);
    EXPECT_EQ(this->called, (Numbers{0, 1, 2}));
    dispatcher.forEach(9, [](const Callback&) { FAIL(); });
}

TYPED_TEST(EventDispatcherTest, ForEachIfStopsAtFalse) {
    typename TestFixture::Dispatcher dispatcher;
    using Callback = typename TestFixture::Dispatcher::Callback;
    for (int i = 0; i < 3; ++i) {
        dispatcher.appendListener(3, this->note(i));
    }
    int visits = 0;
    EXPECT_FALSE(dispatcher.forEachIf(3, [&](const Callback&) { return ++visits != 2; }));
    EXPECT_EQ(visits, 2);
    EXPECT_TRUE(dispatcher.forEachIf(3, [](const Callback&) { return true; }));
    EXPECT_TRUE(dispatcher.forEachIf(4, [](const Callback&) { return false; }));
}

TYPED_TEST(EventDispatcherTest, RefusesNullListeners) {
    typename TestFixture::Dispatcher dispatcher;
    const typename TestFixture::Dispatcher::Callback nothing;
    EXPECT_FALSE(dispatcher.appendListener(3, nullptr));
    EXPECT_FALSE(dispatcher.prependListener(3, nothing));
    EXPECT_FALSE(dispatcher.insertListener(3, nothing, typename TestFixture::Handle()));
    EXPECT_FALSE(dispatcher.hasAnyListener(3));
    dispatcher.dispatch(3);
}

// ---- inside a dispatch

TYPED_TEST(EventDispatcherTest, ListenerMayRemoveALaterOneAndItself) {
    typename TestFixture::Dispatcher dispatcher;
    typename TestFixture::Handle self;
    typename TestFixture::Handle later;
    bool areRemoved = false;
    self = dispatcher.appendListener(3, [&] {
        areRemoved = dispatcher.removeListener(3, later) && dispatcher.removeListener(3, self);
    });
    later = dispatcher.appendListener(3, this->note(2));
    EXPECT_EQ(this->send(dispatcher, 3), Numbers());
    EXPECT_TRUE(areRemoved);
    EXPECT_FALSE(self || later);
    EXPECT_FALSE(dispatcher.hasAnyListener(3));
}

TYPED_TEST(EventDispatcherTest, InnerListenerMayRemoveTheOuterOne) {
    for (const int innerEvent : {3, 4}) {
        typename TestFixture::Dispatcher dispatcher;
        typename TestFixture::Handle outer;
        int depth = 0;
        outer = dispatcher.appendListener(3, [&] {
            if (++depth == 1) {
                dispatcher.dispatch(innerEvent);
            }
        });
        dispatcher.appendListener(innerEvent, [&] {
            if (outer) {
                EXPECT_TRUE(dispatcher.removeListener(3, outer));
            }
            this->called.push_back(innerEvent);
        });
        EXPECT_EQ(this->send(dispatcher, 3), (innerEvent == 3 ? Numbers{3, 3} : Numbers{4}));
        EXPECT_FALSE(outer);
    }
}

TYPED_TEST(EventDispatcherTest, ListenersMayAddForKnownAndNewEvents) {
    typename TestFixture::Dispatcher dispatcher;
    dispatcher.appendListener(0, [&] {
        dispatcher.appendListener(0, this->note(1));
        for (int event = 1; event < 100; ++event) {
            dispatcher.appendListener(event, this->note(event));
        }
        dispatcher.dispatch(50);
    });
    EXPECT_EQ(this->send(dispatcher, 0), (Numbers{50}));
    EXPECT_EQ(this->send(dispatcher, 99), (Numbers{99}));
}

TYPED_TEST(EventDispatcherTest, ListenerMayDestroyTheDispatcher) {
    auto dispatcher = std::make_unique<typename TestFixture::Dispatcher>();
    const auto captured = std::make_shared<int>(0);
    dispatcher->appendListener(3, [&dispatcher, captured] {
        dispatcher.reset();
        ++*captured;
    });
    dispatcher->appendListener(3, [captured] { *captured += 10; });
    dispatcher->appendListener(4, [captured] {});
    dispatcher->dispatch(3);
    EXPECT_EQ(*captured, 1);
    EXPECT_EQ(captured.use_count(), 1);
}

TYPED_TEST(EventDispatcherTest, ListenerOfAnInnerDispatchMayDestroyTheDispatcher) {
    auto dispatcher = std::make_unique<typename TestFixture::Dispatcher>();
    dispatcher->appendListener(3, [&] {
        dispatcher->dispatch(4);
        this->called.push_back(3);
    });
    dispatcher->appendListener(3, this->note(33));
    dispatcher->appendListener(4, [&dispatcher] { dispatcher.reset(); });
    dispatcher->appendListener(4, this->note(4));
    dispatcher->dispatch(3);
    EXPECT_EQ(this->called, (Numbers{3}));
}

TYPED_TEST(EventDispatcherTest, ListenerMayAssignToTheDispatcher) {
    typename TestFixture::Dispatcher dispatcher;
    typename TestFixture::Dispatcher other;
    other.appendListener(3, this->note(2));
    dispatcher.appendListener(3, [&] {
        dispatcher = other;
        this->called.push_back(1);
    });
    dispatcher.appendListener(3, this->note(9));
    EXPECT_EQ(this->send(dispatcher, 3), (Numbers{1}));
    EXPECT_EQ(this->send(dispatcher, 3), (Numbers{2}));
}

// ---- as a value

TYPED_TEST(EventDispatcherTest, CopyIsDeepAndIndependent) {
    typename TestFixture::Dispatcher original;
    const auto handle = original.appendListener(3, this->note(1));
    original.appendListener(3, this->note(2));
    original.appendListener(4, this->note(3));
    typename TestFixture::Dispatcher copy(original);
    EXPECT_FALSE(copy.removeListener(3, handle));
    EXPECT_TRUE(original.removeListener(3, handle));
    copy.appendListener(4, this->note(4));
    EXPECT_EQ(this->send(original, 3), (Numbers{2}));
    EXPECT_EQ(this->send(copy, 3), (Numbers{1, 2}));
    EXPECT_EQ(this->send(original, 4), (Numbers{3}));
    EXPECT_EQ(this->send(copy, 4), (Numbers{3, 4}));
    original = copy;
    EXPECT_EQ(this->send(original, 3), (Numbers{1, 2}));
}

TYPED_TEST(EventDispatcherTest, MoveTakesTheListenersAndTheirHandles) {
    typename TestFixture::Dispatcher source;
    const auto handle = source.appendListener(3, this->note(1));
    typename TestFixture::Dispatcher target(std::move(source));
    EXPECT_EQ(this->send(source, 3), Numbers());
    EXPECT_FALSE(source.hasAnyListener(3));
    EXPECT_EQ(this->send(target, 3), (Numbers{1}));
    source.appendListener(3, this->note(2));
    EXPECT_EQ(this->send(source, 3), (Numbers{2}));
    source = std::move(target);
    EXPECT_EQ(this->send(source, 3), (Numbers{1}));
    EXPECT_TRUE(source.removeListener(3, handle));
    source = {};
    EXPECT_EQ(this->send(source, 3), Numbers());
}

TYPED_TEST(EventDispatcherTest, AssigningToItselfKeepsTheVeryListeners) {
    typename TestFixture::Dispatcher dispatcher;
    const auto handle = dispatcher.appendListener(3, this->note(1));
    auto& self = dispatcher;
    dispatcher = self;
    EXPECT_TRUE(dispatcher.ownsHandle(3, handle));
    dispatcher = std::move(self);
    EXPECT_TRUE(dispatcher.ownsHandle(3, handle));
    dispatcher.swap(self);
    EXPECT_TRUE(dispatcher.ownsHandle(3, handle));
    EXPECT_EQ(this->send(dispatcher, 3), (Numbers{1}));
}

TYPED_TEST(EventDispatcherTest, SwapExchangesTheListeners) {
    typename TestFixture::Dispatcher one;
    typename TestFixture::Dispatcher two;
    const auto handle = one.appendListener(3, this->note(1));
    two.appendListener(3, this->note(2));
    two.appendListener(4, this->note(3));
    swap(one, two);
    EXPECT_EQ(this->send(one, 3), (Numbers{2}));
    EXPECT_EQ(this->send(one, 4), (Numbers{3}));
    EXPECT_EQ(this->send(two, 3), (Numbers{1}));
    EXPECT_TRUE(two.removeListener(3, handle));
    typename TestFixture::Dispatcher empty;
    empty.swap(one);
    EXPECT_EQ(this->send(one, 3), Numbers());
    EXPECT_EQ(this->send(empty, 3), (Numbers{2}));
}

// ---- when listeners are destroyed

TYPED_TEST(EventDispatcherTest, RemovedListenersAreDestroyedAtOnceOutsideOfDispatches) {
    auto dispatcher = std::make_unique<typename TestFixture::Dispatcher>();
    const auto captured = std::make_shared<int>(0);
    const auto handle = dispatcher->appendListener(3, [captured] {});
    dispatcher->appendListener(3, [captured] {});
    dispatcher->appendListener(4, [captured] {});
    dispatcher->dispatch(3);
    EXPECT_TRUE(dispatcher->removeListener(3, handle));
    EXPECT_EQ(captured.use_count(), 3);
    dispatcher->removeAllListeners(4);
    EXPECT_EQ(captured.use_count(), 2);
    dispatcher.reset();
    EXPECT_EQ(captured.use_count(), 1);
}

// ---- arguments

TYPED_TEST(EventDispatcherTest, ArgumentsReachAllListenersAndComeBackThroughReferences) {
    EventDispatcher<std::string, void(int, std::string&), TypeParam> dispatcher;
    dispatcher.appendListener("add", [](int n, std::string& text) { text += std::to_string(n); });
    dispatcher.appendListener("add", [](long n, std::string& text) { text += std::to_string(n); });
    std::string text = "=";
    dispatcher.dispatch("add", 4, text);
    dispatcher.directDispatch("add", 5, text);
    dispatcher.dispatch("sub", 6, text);
    EXPECT_EQ(text, "=4455");
}

TYPED_TEST(EventDispatcherTest, WreckedValueIsWholeForTheNextListenerAndTheCaller) {
    EventDispatcher<int, void(std::string), TypeParam> dispatcher;
    std::vector<std::string> seen;
    for (int i = 0; i < 2; ++i) {
        dispatcher.appendListener(3,
                                  [&seen](std::string&& text) { seen.push_back(std::move(text)); });
    }
    const std::string sent = "long enough to live on the heap, not inside";
    dispatcher.dispatch(3, sent);
    EXPECT_EQ(seen, (std::vector<std::string>{sent, sent}));
}

TYPED_TEST(EventDispatcherTest, ListenersWithoutEventInTheArgumentsAndWithIt) {
    EventDispatcher<int, void(int, int), TypeParam> dispatcher;
    Numbers seen;
    dispatcher.appendListener(3, [&seen](int a, int b) { seen = {a, b}; });
    dispatcher.dispatch(3, 8);
    EXPECT_EQ(seen, (Numbers{3, 8})) << "the event is the first argument";
    dispatcher.dispatch(3, 10, 20);
    EXPECT_EQ(seen, (Numbers{10, 20})) << "the event comes in front of the arguments";
    dispatcher.directDispatch(3, 30, 40);
    EXPECT_EQ(seen, (Numbers{30, 40}));
}

}  // namespace
}  // namespace sluice
