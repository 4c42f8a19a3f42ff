#include "event_suites.hpp"

#include <sluice/event/event_dispatcher.hpp>
#include <sluice/event/event_policies.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <type_traits>
#include <vector>

namespace sluice {
namespace {

using Numbers = std::vector<int>;

template <class Policies>
class EventPoliciesTest : public testing::Test {};
TYPED_TEST_SUITE(EventPoliciesTest, test::CommonPolicies, test::PolicyNames);

template <class Policies, class Mode>
struct Passing : Policies {
    using ArgumentPassingMode = Mode;
};

// ---- getEvent

struct Message {
    int type = 0;
    std::string text;
};

TYPED_TEST(EventPoliciesTest, GetEventFindsTheEventInTheArguments) {
    struct Policies : TypeParam {
        static int getEvent(const Message& message, bool) { return message.type; }
    };
    EventDispatcher<int, void(const Message&, bool), Policies> dispatcher;
    std::vector<std::string> seen;
    dispatcher.appendListener(
        3, [&seen](const Message& message, bool) { seen.push_back("3" + message.text); });
    dispatcher.appendListener(
        5, [&seen](const Message& message, bool) { seen.push_back("5" + message.text); });
    dispatcher.dispatch(Message{3, "a"}, true);
    dispatcher.dispatch(Message{5, "b"}, true);
    dispatcher.dispatch(Message{7, "c"}, true);
    EXPECT_EQ(seen, (std::vector<std::string>{"3a", "5b"}));
}

TYPED_TEST(EventPoliciesTest, GetEventMayReturnAReference) {
    struct Policies : TypeParam {
        static const std::string& getEvent(const Message& message) { return message.text; }
    };
    EventDispatcher<std::string, void(const Message&), Policies> dispatcher;
    int calls = 0;
    dispatcher.appendListener("here", [&calls](const Message&) { ++calls; });
    dispatcher.dispatch(Message{1, "here"});
    dispatcher.dispatch(Message{1, "there"});
    EXPECT_EQ(calls, 1);
}

template <class Policies>
struct TypeMember : Policies {
    template <class First, class... Rest>
    static int getEvent(const First& first, const Rest&...) {
        return first.type;
    }
};

TYPED_TEST(EventPoliciesTest, GetEventMayBeATemplate) {
    using Policies = TypeMember<TypeParam>;
    EventDispatcher<int, void(const Message&, int), Policies> dispatcher;
    int sum = 0;
    dispatcher.appendListener(4, [&sum](const Message&, int n) { sum += n; });
    dispatcher.dispatch(Message{4, ""}, 7);
    EXPECT_EQ(sum, 7);
}

TYPED_TEST(EventPoliciesTest, GetEventThatTakesOtherArgumentsLeavesTheFirstOne) {
    struct Policies : TypeParam {
        static int getEvent(const Message& message) { return message.type; }
    };
    EventDispatcher<int, void(const Message&), Policies> dispatcher;
    Numbers seen;
    dispatcher.appendListener(3, [&seen](const Message&) { seen.push_back(3); });
    dispatcher.appendListener(8, [&seen](const Message&) { seen.push_back(8); });
    dispatcher.dispatch(Message{3, ""});
    dispatcher.dispatch(8, Message{3, ""});
    EXPECT_EQ(seen, (Numbers{3, 8}));
}

TYPED_TEST(EventPoliciesTest, GetEventSeesTheExtraFirstArgument) {
    struct Policies : Passing<TypeParam, ArgumentPassingExcludeEvent> {
        static int getEvent(const Message& message, int) { return message.type; }
    };
    EventDispatcher<int, void(int), Policies> dispatcher;
    int sum = 0;
    dispatcher.appendListener(3, [&sum](int n) { sum += n; });
    dispatcher.dispatch(Message{3, ""}, 9);
    EXPECT_EQ(sum, 9);
}

// ---- where the event is

TYPED_TEST(EventPoliciesTest, EventIncludedOnly) {
    using Policies = Passing<TypeParam, ArgumentPassingIncludeEvent>;
    EventDispatcher<int, void(int, int), Policies> dispatcher;
    Numbers seen;
    dispatcher.appendListener(3, [&seen](int event, int n) { seen = {event, n}; });
    dispatcher.dispatch(3, 5);
    EXPECT_EQ(seen, (Numbers{3, 5}));
}

TYPED_TEST(EventPoliciesTest, EventExcludedOnly) {
    using Policies = Passing<TypeParam, ArgumentPassingExcludeEvent>;
    EventDispatcher<int, void(int, int), Policies> dispatcher;
    Numbers seen;
    dispatcher.appendListener(3, [&seen](int a, int b) { seen = {a, b}; });
    dispatcher.dispatch(3, 5, 6);
    EXPECT_EQ(seen, (Numbers{5, 6}));
}

// ---- canContinueInvoking

TYPED_TEST(EventPoliciesTest, CanContinueInvokingIsAskedAfterEachCallback) {
    struct Policies : TypeParam {
        static bool canContinueInvoking(int n) { return n < 2; }
    };
    CallbackList<void(int&), Policies> list;
    for (int i = 0; i < 5; ++i) {
        list.append([](int& n) { ++n; });
    }
    int n = 0;
    list(n);
    EXPECT_EQ(n, 2);
    n = 9;
    list(n);
    EXPECT_EQ(n, 10) << "the first one is always called";
}

TYPED_TEST(EventPoliciesTest, CanContinueInvokingMayTakeAValueByReference) {
    struct Policies : TypeParam {
        static bool canContinueInvoking(std::string& text) {
            text += ".";
            return text.size() < 3;
        }
    };
    EventDispatcher<int, void(std::string), Policies> dispatcher;
    std::vector<std::string> seen;
    for (int i = 0; i < 5; ++i) {
        dispatcher.appendListener(1, [&seen](const std::string& text) { seen.push_back(text); });
    }
    dispatcher.dispatch(1, std::string());
    EXPECT_EQ(seen, (std::vector<std::string>{"", ".", ".."}));
}

TYPED_TEST(EventPoliciesTest, CanContinueInvokingStopsADispatch) {
    struct Event {
        bool isCanceled = false;
    };
    struct Policies : TypeParam {
        static bool canContinueInvoking(const Event& event) { return !event.isCanceled; }
    };
    EventDispatcher<int, void(Event&), Policies> dispatcher;
    Numbers seen;
    dispatcher.appendListener(3, [&seen](Event&) { seen.push_back(1); });
    dispatcher.appendListener(3, [&seen](Event& event) {
        seen.push_back(2);
        event.isCanceled = true;
    });
    dispatcher.appendListener(3, [&seen](Event&) { seen.push_back(3); });
    Event event;
    dispatcher.dispatch(3, event);
    EXPECT_EQ(seen, (Numbers{1, 2}));
}

// ---- Threading

TYPED_TEST(EventPoliciesTest, MutexIsThatOfTheThreading) {
    EXPECT_TRUE((std::is_same_v<typename CallbackList<void(), TypeParam>::Mutex,
                                typename detail::ThreadingOf<TypeParam>::Mutex>));
    EXPECT_TRUE((std::is_same_v<typename EventDispatcher<int, void(), TypeParam>::Mutex,
                                typename detail::ThreadingOf<TypeParam>::Mutex>));
}

// Policies of programs from the time when policies had no shared mutexes.
struct OldThreading {
    struct Mutex {
        void lock() { ++locks; }
        void unlock() {}
        inline static int locks = 0;
    };
    template <class T>
    using Atomic = std::atomic<T>;
    using ConditionVariable = std::condition_variable;
};
struct OldPolicies {
    using Threading = OldThreading;
};

TEST(EventThreadingTest, LockOfTheUsersChoiceIsUsed) {
    EventDispatcher<int, void(), OldPolicies> dispatcher;
    int calls = 0;
    const auto handle = dispatcher.appendListener(1, [&calls] { ++calls; });
    EXPECT_GT(OldThreading::Mutex::locks, 0);
    dispatcher.dispatch(1);
    const int locks = OldThreading::Mutex::locks;
    dispatcher.dispatch(1);
    EXPECT_EQ(OldThreading::Mutex::locks, locks) << "dispatching takes no lock";
    EXPECT_TRUE(dispatcher.removeListener(1, handle));
    EXPECT_EQ(calls, 2);
}

TEST(EventThreadingTest, GeneralThreadingNamesWhatItWasGiven) {
    using Threading = GeneralThreading<SpinLock>;
    EXPECT_TRUE((std::is_same_v<Threading::Mutex, SpinLock>));
    EXPECT_TRUE((std::is_same_v<Threading::Atomic<int>, std::atomic<int>>));
    EXPECT_TRUE((std::is_same_v<Threading::ConditionVariable, std::condition_variable>));
    EXPECT_TRUE((std::is_same_v<Threading::SharedMutex, std::shared_timed_mutex>));
}

TEST(EventThreadingTest, SingleThreadingAtomicBehavesAsAnAtomicOfOneThread) {
    SingleThreading::Atomic<int> number{5};
    EXPECT_EQ(number.load(), 5);
    number.store(6);
    EXPECT_EQ(number.exchange(7), 6);
    EXPECT_EQ(++number, 8);
    EXPECT_EQ(--number, 7);
    EXPECT_EQ(number.fetch_add(3), 7);
    EXPECT_EQ(number.fetch_sub(1), 10);
    int expected = 1;
    EXPECT_FALSE(number.compare_exchange_weak(expected, 2));
    EXPECT_EQ(expected, 9);
    EXPECT_TRUE(number.compare_exchange_weak(expected, 2));
    EXPECT_EQ(number.load(), 2);
    EXPECT_EQ(SingleThreading::Atomic<int>().load(), 0);
}

TEST(EventThreadingTest, SingleThreadingMutexCanAlwaysBeHad) {
    SingleThreading::Mutex mutex;
    const std::lock_guard<SingleThreading::Mutex> guard(mutex);
    EXPECT_TRUE(mutex.try_lock());
    SingleThreading::ConditionVariable condition;
    condition.notify_one();
    condition.notify_all();
}

}  // namespace
}  // namespace sluice
