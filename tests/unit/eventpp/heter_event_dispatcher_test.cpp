#include "unit/event/event_suites.hpp"

#include <sluice/eventpp/heter_event_dispatcher.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

using Numbers = std::vector<int>;
using Texts = std::vector<std::string>;
using Two = HeterTuple<void(), void(int)>;

template <class Policies>
class HeterEventDispatcherTest : public testing::Test {
protected:
    using Dispatcher = HeterEventDispatcher<int, Two, Policies>;
    using Handle = typename Dispatcher::Handle;

    auto note(int number) {
        return [this, number] { called.push_back(number); };
    }
    auto noteInt(int number) {
        return [this, number](int n) { called.push_back(number + n); };
    }

    Numbers called;
};
TYPED_TEST_SUITE(HeterEventDispatcherTest, test::CommonPolicies, test::PolicyNames);

static_assert(std::is_base_of_v<TagEventDispatcher, HeterEventDispatcher<int, Two>> &&
              std::is_base_of_v<TagHeterEventDispatcher, HeterEventDispatcher<int, Two>>);
static_assert(std::is_nothrow_move_constructible_v<HeterEventDispatcher<int, Two>> &&
              std::is_nothrow_move_assignable_v<HeterEventDispatcher<int, Two>> &&
              std::is_nothrow_swappable_v<HeterEventDispatcher<int, Two>>);
static_assert(std::is_same_v<HeterEventDispatcher<std::string, Two>::Event, std::string>);
static_assert(std::is_same_v<HeterEventDispatcher<int, Two>::PrototypeList, Two>);

TYPED_TEST(HeterEventDispatcherTest, FindsTheEventBeforeItMovesTheArguments) {
    HeterEventDispatcher<std::string, HeterTuple<void(std::string)>, TypeParam> dispatcher;
    int calls = 0;
    const std::string topic(100, 't');
    dispatcher.appendListener(topic, [&](const std::string& text) { calls += text == topic; });
    std::string message = topic;
    dispatcher.dispatch(message, std::move(message));
    message = topic;
    dispatcher.directDispatch(message, std::move(message));
    EXPECT_EQ(calls, 2);
}

TYPED_TEST(HeterEventDispatcherTest, DestructorOfACaptureMayTrimDuringRemoveAllListeners) {
    typename TestFixture::Dispatcher dispatcher;
    const auto trim = [&](int*) { dispatcher.trimEvents(); };
    dispatcher.appendListener(3, [kept = std::shared_ptr<int>(nullptr, trim)] {});
    dispatcher.appendListener(3, [](int) {});
    dispatcher.removeAllListeners(3);
    EXPECT_FALSE(dispatcher.hasAnyListener(3));
}

TYPED_TEST(HeterEventDispatcherTest, CaptureMayOwnTheListThatIsAssignedTo) {
    using List = HeterCallbackList<Two, TypeParam>;
    auto* const list = new List;
    list->append([kept = std::shared_ptr<List>(list)] {});
    list->append([](int) {});
    *list = List();
}

TYPED_TEST(HeterEventDispatcherTest, CallsTheListenersOfTheEventAndThePrototype) {
    typename TestFixture::Dispatcher dispatcher;
    const auto one = dispatcher.appendListener(3, this->note(1));
    dispatcher.appendListener(3, this->noteInt(100));
    dispatcher.prependListener(3, this->note(2));
    dispatcher.insertListener(3, this->note(4), one);
    dispatcher.insertListener(3, this->noteInt(200), one);
    dispatcher.appendListener(5, this->noteInt(500));
    dispatcher.dispatch(3);
    EXPECT_EQ(this->called, (Numbers{2, 4, 1}));
    this->called.clear();
    dispatcher.dispatch(3, 8);
    dispatcher.directDispatch(5, 9);
    dispatcher.dispatch(5);
    dispatcher.dispatch(7, 1);
    EXPECT_EQ(this->called, (Numbers{108, 208, 509}));
}

TYPED_TEST(HeterEventDispatcherTest, RemovesAndKnowsItsListeners) {
    typename TestFixture::Dispatcher dispatcher;
    const auto one = dispatcher.appendListener(3, this->note(1));
    const auto two = dispatcher.appendListener(3, this->noteInt(2));
    dispatcher.appendListener(4, this->note(1));
    EXPECT_TRUE(dispatcher.ownsHandle(3, one) && dispatcher.ownsHandle(3, two));
    EXPECT_FALSE(dispatcher.ownsHandle(4, one));
    EXPECT_FALSE(dispatcher.removeListener(4, one));
    EXPECT_FALSE(dispatcher.removeListener(5, one));
    EXPECT_FALSE(dispatcher.removeListener(3, typename TestFixture::Handle()));
    EXPECT_TRUE(dispatcher.removeListener(3, one));
    EXPECT_FALSE(dispatcher.removeListener(3, one));
    EXPECT_TRUE(dispatcher.hasAnyListener(3));
    EXPECT_TRUE(dispatcher.removeListenerAndWait(3, two));
    EXPECT_FALSE(dispatcher.hasAnyListener(3));
    dispatcher.removeAllListeners(4);
    EXPECT_FALSE(dispatcher.hasAnyListener(4));
}

TYPED_TEST(HeterEventDispatcherTest, ForEachVisitsOnePrototypeOfOneEvent) {
    typename TestFixture::Dispatcher dispatcher;
    const auto one = dispatcher.appendListener(3, this->note(1));
    dispatcher.appendListener(3, this->noteInt(2));
    dispatcher.appendListener(4, this->note(3));
    dispatcher.template forEach<void()>(
        3, [&](const typename TestFixture::Handle& handle, const std::function<void()>& callback) {
            EXPECT_EQ(handle, one);
            callback();
        });
    EXPECT_EQ(this->called, (Numbers{1}));
    EXPECT_FALSE(dispatcher.template forEachIf<void(int)>(
        3, [](const std::function<void(int)>&) { return false; }));
    EXPECT_TRUE(dispatcher.template forEachIf<void(int)>(
        9, [](const std::function<void(int)>&) { return false; }));
}

// ---- policies

struct Message {
    int type;
    std::string text;
};

template <class Policies>
struct EventOfMessages : Policies {
    using ArgumentPassingMode = ArgumentPassingIncludeEvent;
    static int getEvent(const Message& message) { return message.type; }
    static int getEvent(const Message& message, int) { return message.type + 10; }
    static int getEvent(int event, const std::string&) { return event; }
};

TYPED_TEST(HeterEventDispatcherTest, GetEventMayBeOverloadedAndTheEventIncluded) {
    using Prototypes =
        HeterTuple<void(const Message&), void(const Message&, int), void(int, const std::string&)>;
    HeterEventDispatcher<int, Prototypes, EventOfMessages<TypeParam>> dispatcher;
    Texts seen;
    dispatcher.appendListener(3, [&](const Message& message) { seen.push_back(message.text); });
    dispatcher.appendListener(13, [&](const Message& message, int n) {
        seen.push_back(message.text + std::to_string(n));
    });
    dispatcher.appendListener(4, [&](int event, const std::string& text) {
        seen.push_back(std::to_string(event) + text);
    });
    dispatcher.dispatch(Message{3, "a"});
    dispatcher.dispatch(Message{3, "b"}, 7);
    dispatcher.dispatch(4, "c");
    EXPECT_EQ(seen, (Texts{"a", "b7", "4c"}));
}

template <class Policies>
struct EventInFront : Policies {
    static int getEvent(const Message& message, int) { return message.type; }
};

TYPED_TEST(HeterEventDispatcherTest, EventIsExcludedUnlessThePolicySaysOtherwise) {
    HeterEventDispatcher<int, HeterTuple<void(int), void(const std::string&)>,
                         EventInFront<TypeParam>>
        dispatcher;
    Texts seen;
    dispatcher.appendListener(3, [&](int n) { seen.push_back(std::to_string(n)); });
    dispatcher.appendListener(3, [&](const std::string& text) { seen.push_back(text); });
    dispatcher.dispatch(Message{3, "no"}, 9);
    dispatcher.dispatch(3, "plain");
    EXPECT_EQ(seen, (Texts{"9", "plain"}));
}

template <class Policies>
struct OrderedMap : Policies {
    template <class Key, class Value>
    using Map = std::map<Key, Value>;
    static bool canContinueInvoking(int n) { return n != 0; }
};

TYPED_TEST(HeterEventDispatcherTest, MapAndCanContinueInvokingAreHonoured) {
    HeterEventDispatcher<std::string, Two, OrderedMap<TypeParam>> dispatcher;
    dispatcher.appendListener("x", this->noteInt(1));
    dispatcher.appendListener("x", this->noteInt(2));
    dispatcher.dispatch("x", 0);
    dispatcher.dispatch("x", 10);
    EXPECT_EQ(this->called, (Numbers{1, 11, 12}));
}

}  // namespace
}  // namespace sluice
