#include "event_suites.hpp"

#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>
#include <sluice/event/event_policies.hpp>

#include "support/testing.hpp"

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

// ---- the event is read before an argument is moved

struct Letter {
    std::string topic;
    std::string text;
};
struct PassingMixin {
    template <class Base>
    class Type : public Base {
    public:
        using Base::Base;
        bool mixinBeforeDispatch(const Letter&) const { return true; }
    };
};
struct MixinPolicies {
    using Mixins = MixinList<PassingMixin::Type>;
};
struct TopicPolicies {
    static std::string getEvent(int, const Letter& message) { return message.topic; }
};
struct TextPolicies {
    static std::string getEvent(int, const std::string& text) { return text; }
};

template <class Policies>
class EventDispatcherMoveTest : public testing::Test {};
using MovePolicies = testing::Types<DefaultPolicies, MixinPolicies, TopicPolicies>;
TYPED_TEST_SUITE(EventDispatcherMoveTest, MovePolicies, );

TYPED_TEST(EventDispatcherMoveTest, FindsTheEventBeforeItMovesTheArguments) {
    EventDispatcher<std::string, void(Letter), TypeParam> dispatcher;
    const std::string topic(100, 't');
    int calls = 0;
    dispatcher.appendListener(topic, [&](const Letter& message) {
        EXPECT_EQ(message.text, "text");
        ++calls;
    });
    const Letter constant{topic, "text"};
    Letter message = constant;
    dispatcher.dispatch(message.topic, std::move(message));
    message = constant;
    dispatcher.directDispatch(message.topic, std::move(message));
    dispatcher.dispatch(constant.topic, {topic, "text"});
    dispatcher.directDispatch(constant.topic, {topic, "text"});
    dispatcher.dispatch(topic, constant);
    EXPECT_EQ(calls, 5);
    if constexpr (std::is_same_v<TypeParam, TopicPolicies>) {
        message = constant;
        dispatcher.dispatch(0, std::move(message));
        EXPECT_EQ(calls, 6);
    }
}

struct KeyPolicies : DefaultPolicies {
    static std::string getEvent(const std::string& key, const std::variant<Letter, int>&) {
        return key;
    }
};
TEST(EventDispatcherTest, ReadsTheEventBeforeAConversionMovesTheArgument) {
    EventDispatcher<std::string, void(std::variant<Letter, int>), KeyPolicies> dispatcher;
    int calls = 0;
    dispatcher.appendListener(std::string(100, 't'), [&](const auto&) { ++calls; });
    Letter message{std::string(100, 't'), "text"};
    dispatcher.dispatch(message.topic, std::move(message));
    EXPECT_EQ(calls, 1);
}

TEST(EventDispatcherGetEventTest, ReadsTheConvertedArgument) {
    EventDispatcher<std::string, void(std::string), TextPolicies> dispatcher;
    int calls = 0;
    dispatcher.appendListener(std::string(100, 't'), [&](const std::string&) { ++calls; });
    std::string text(100, 't');
    dispatcher.dispatch(0, text.c_str());
    dispatcher.dispatch(0, std::move(text));
    EXPECT_EQ(calls, 2);
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

// ---- arguments

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

// ---- Threading

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

template <class Policies, template <class> class... List>
struct Mixing : Policies {
    using Mixins = MixinList<List...>;
};

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

// ---- How often arguments are copied; moves are not counted.

/// Counts its copies.
struct Parcel {
    Parcel() = default;
    explicit Parcel(int& count) : copies(&count) {}
    Parcel(const Parcel& other) : copies(other.copies) { ++*copies; }
    Parcel(Parcel&&) noexcept = default;
    Parcel& operator=(const Parcel& other) {  // NOLINT(bugprone-unhandled-self-assignment)
        copies = other.copies;
        ++*copies;
        return *this;
    }
    Parcel& operator=(Parcel&&) noexcept = default;
    int* copies = nullptr;
};

template <class Prototype, class Policies>
struct DispatcherSubject {
    EventDispatcher<int, Prototype, Policies> dispatcher;
    template <class Callback>
    void add(Callback callback) {
        dispatcher.appendListener(3, callback);
    }
    template <class Argument>
    void send(Argument&& argument) {
        dispatcher.dispatch(3, std::forward<Argument>(argument));
    }
};

template <class Policies>
class ArgumentCopiesTest : public testing::Test {
protected:
    /// The copies that are made when one callback gets a temporary, and when it gets an lvalue.
    template <class Subject, class Callback>
    static std::pair<int, int> count(Callback callback) {
        Subject subject;
        subject.add(callback);
        int ofTemporary = 0;
        subject.send(Parcel(ofTemporary));
        int ofLvalue = 0;
        const Parcel parcel(ofLvalue);
        subject.send(parcel);
        return {ofTemporary, ofLvalue};
    }

    template <template <class, class> class Subject>
    static void checkReferencePrototype() {
        using Tested = Subject<void(const Parcel&), Policies>;
        EXPECT_EQ(count<Tested>([](const Parcel&) {}), std::pair(0, 0));
        // NOLINTNEXTLINE(performance-unnecessary-value-param)
        EXPECT_EQ(count<Tested>([](Parcel) {}), std::pair(1, 1));
    }

    template <template <class, class> class Subject>
    static void checkValuePrototype() {
        using Tested = Subject<void(Parcel), Policies>;
        EXPECT_EQ(count<Tested>([](const Parcel&) {}), std::pair(1, 2));
        // NOLINTNEXTLINE(performance-unnecessary-value-param)
        EXPECT_EQ(count<Tested>([](Parcel) {}), std::pair(1, 2));
        EXPECT_EQ(count<Tested>([](Parcel&&) {}), std::pair(1, 2));
    }
};
TYPED_TEST_SUITE(ArgumentCopiesTest, test::CommonPolicies, test::PolicyNames);

TYPED_TEST(ArgumentCopiesTest, DispatcherCopiesNothingThatGoesByReference) {
    this->template checkReferencePrototype<DispatcherSubject>();
}

TYPED_TEST(ArgumentCopiesTest, DispatcherCopiesAValueOnceForEachListener) {
    this->template checkValuePrototype<DispatcherSubject>();
}

// ---- arguments that a reference cannot name

struct Header {
    unsigned type : 3;
    unsigned length : 5;
};
struct Limits {
    static const int most = 7;
};

TEST(EventDispatcherArgumentsTest, BitFieldsAndConstantsWithoutDefinition) {
    EventDispatcher<int, void(int, const std::string&)> dispatcher;
    Numbers seen;
    dispatcher.appendListener(1, [&](int number, const std::string&) { seen.push_back(number); });
    const std::string text;
    Header header{1, 2};
    dispatcher.dispatch(1, header.length, text);
    dispatcher.dispatch(1, Limits::most, text);
    dispatcher.directDispatch(1, header.type, text);
    dispatcher.directDispatch(1, Limits::most, text);
    EXPECT_EQ(seen, (Numbers{2, 7, 1, 7}));
}

}  // namespace
}  // namespace sluice

#if defined(__cpp_exceptions)

namespace sluice {
namespace {

struct Failure : std::runtime_error {
    Failure() : std::runtime_error("of the test") {}
};

template <class Policies>
class EventDispatcherExceptionTest : public testing::Test {};
TYPED_TEST_SUITE(EventDispatcherExceptionTest, test::CommonPolicies, test::PolicyNames);

/// An event whose comparison fails when it is told to.
struct FragileEvent {
    int number;
    friend bool operator<(const FragileEvent& a, const FragileEvent& b) {
        if (fails) {
            throw Failure();
        }
        return a.number < b.number;
    }
    inline static bool fails = false;
};

TYPED_TEST(EventDispatcherExceptionTest, ExceptionOfAnEventComesThroughAndLosesNothing) {
    EventDispatcher<FragileEvent, void(), TypeParam> dispatcher;
    int calls = 0;
    const auto handle = dispatcher.appendListener({3}, [&calls] { ++calls; });
    dispatcher.appendListener({4}, [&calls] { ++calls; });
    FragileEvent::fails = true;
    EXPECT_THROW(dispatcher.dispatch(FragileEvent{3}), Failure);
    EXPECT_THROW(dispatcher.appendListener({5}, [] {}), Failure);
    EXPECT_THROW(dispatcher.removeListener({3}, handle), Failure);
    EXPECT_THROW(dispatcher.removeAllListeners({3}), Failure);
    FragileEvent::fails = false;
    EXPECT_FALSE(dispatcher.hasAnyListener({5}));
    dispatcher.dispatch(FragileEvent{3});
    dispatcher.dispatch(FragileEvent{4});
    EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace sluice

#endif
