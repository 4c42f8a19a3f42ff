#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>
#include <sluice/eventpp/event_maker.hpp>
#include <sluice/eventpp/event_util.hpp>
#include <sluice/eventpp/listener_adapters.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

// ---- argumentAdapter and conditionalFunctor

struct Base {
    virtual ~Base() = default;
};
struct KeyEvent : Base {
    explicit KeyEvent(int theKey) : key(theKey) {}
    int key;
};

enum class Level { low, high };

using BaseList = std::function<void(const Base&)>;

int lastKey = 0;

void takeKey(const KeyEvent& event) {
    lastKey = event.key;
}

TEST(ArgumentAdapterTest, TheCastReferenceIsTheArgumentItself) {
    const Base* seen = nullptr;
    std::function<void(Base&)> listener =
        argumentAdapter<void(KeyEvent&)>([&seen](KeyEvent& event) {
            ++event.key;
            seen = &event;
        });
    KeyEvent event(5);
    listener(event);
    EXPECT_EQ(event.key, 6);
    EXPECT_EQ(seen, &event);
}

TEST(ArgumentAdapterTest, TakesThePrototypeFromAFunction) {
    BaseList listener = argumentAdapter(takeKey);
    listener(KeyEvent(6));
    EXPECT_EQ(lastKey, 6);
    listener = argumentAdapter(std::function<void(const KeyEvent&)>(takeKey));
    listener(KeyEvent(7));
    EXPECT_EQ(lastKey, 7);
}

TEST(ArgumentAdapterTest, CastsASharedPointerByConstReference) {
    int key = 0;
    std::function<void(const std::shared_ptr<Base>&)> listener =
        argumentAdapter<void(const std::shared_ptr<KeyEvent>&)>(
            [&key](const std::shared_ptr<KeyEvent>& event) { key = event->key; });
    const std::shared_ptr<Base> event = std::make_shared<KeyEvent>(9);
    listener(event);
    EXPECT_EQ(key, 9);
    EXPECT_EQ(event.use_count(), 1);
}

TEST(ArgumentAdapterTest, AnUnchangedSharedPointerIsPassedAsItIs) {
    const std::shared_ptr<Base>* seen = nullptr;
    auto adapter = argumentAdapter<void(const std::shared_ptr<Base>&, const KeyEvent&)>(
        [&seen](const std::shared_ptr<Base>& event, const KeyEvent&) { seen = &event; });
    const std::shared_ptr<Base> event = std::make_shared<KeyEvent>(1);
    adapter(event, *event);
    EXPECT_EQ(seen, &event);
}

TEST(ArgumentAdapterTest, ConvertsToNumbersAndEnumeratorsExplicitly) {
    Level seen = Level::low;
    std::function<void(int)> listener =
        argumentAdapter<void(Level)>([&seen](Level level) { seen = level; });
    listener(1);
    EXPECT_EQ(seen, Level::high);
}

TEST(ArgumentAdapterTest, WhatTheCastCreatesLivesDuringTheCall) {
    std::string seen;
    auto adapter = argumentAdapter<void(const std::string&)>(
        [&seen](const std::string& text) { seen = text; });
    adapter("a text that is too long for the object itself");
    EXPECT_EQ(seen, "a text that is too long for the object itself");
}

TEST(ArgumentAdapterTest, MovesWhatTheCallerGaveAway) {
    std::unique_ptr<int> got;
    auto adapter = argumentAdapter<void(std::unique_ptr<int>)>(
        [&got](std::unique_ptr<int> owned) { got = std::move(owned); });
    adapter(std::make_unique<int>(3));
    ASSERT_NE(got, nullptr);
    EXPECT_EQ(*got, 3);
}

TEST(ArgumentAdapterTest, TakesOnlyArgumentsThatCanBeCast) {
    using Adapter = decltype(argumentAdapter(takeKey));
    static_assert(std::is_invocable_v<Adapter&, const Base&>);
    static_assert(std::is_invocable_v<Adapter&, Base>);
    static_assert(!std::is_invocable_v<Adapter&>);
    static_assert(!std::is_invocable_v<Adapter&, const Base&, int>);
    static_assert(!std::is_invocable_v<Adapter&, std::string>);
    using Shared =
        ArgumentAdapter<void (*)(std::shared_ptr<KeyEvent>), void(std::shared_ptr<KeyEvent>)>;
    static_assert(std::is_invocable_v<Shared&, std::shared_ptr<Base>>);
    static_assert(!std::is_invocable_v<Shared&, std::shared_ptr<std::string>>);
    EXPECT_EQ(argumentAdapter(takeKey).func, &takeKey);
}

TEST(ConditionalFunctorTest, CallsTheFunctionOnlyWhenTheConditionHolds) {
    std::vector<int> seen;
    auto even =
        conditionalFunctor([&seen](int n) { seen.push_back(n); }, [](int n) { return n % 2 == 0; });
    for (int n = 1; n <= 6; ++n) {
        even(n);
    }
    EXPECT_EQ(seen, (std::vector<int>{2, 4, 6}));
}

TEST(ConditionalFunctorTest, TheConditionSeesLvaluesAndMovesNothing) {
    std::string got;
    // The condition takes its argument by value. If it got the forwarded argument, the function
    // would get a moved-from text.
    auto functor =
        conditionalFunctor([&got](std::string text) { got = std::move(text); },
                           [](std::string text) { return !std::string(std::move(text)).empty(); });
    functor(std::string("a text that is too long for the object itself"));
    EXPECT_EQ(got, "a text that is too long for the object itself");
    auto greedy = conditionalFunctor([](int&&) {}, [](int&&) { return true; });
    static_assert(!std::is_invocable_v<decltype(greedy)&, int>);
}

TEST(ConditionalFunctorTest, TakesOnlyArgumentsThatBothAccept) {
    auto functor = conditionalFunctor([](int) {}, [](int) { return true; });
    static_assert(std::is_invocable_v<decltype(functor)&, int>);
    static_assert(!std::is_invocable_v<decltype(functor)&>);
    static_assert(!std::is_invocable_v<decltype(functor)&, int, int>);
    functor(1);
    auto picky = conditionalFunctor([](int) {}, [](const auto&) { return true; });
    static_assert(!std::is_invocable_v<decltype(picky)&, std::string>);
    picky(1);
}

struct Answer {
    explicit operator bool() const { return true; }
};

TEST(ConditionalFunctorTest, TheConditionMayReturnWhateverAnIfTakes) {
    int calls = 0;
    conditionalFunctor([&calls] { ++calls; }, [] { return Answer(); })();
    EXPECT_EQ(calls, 1);
}

// ---- event_util

/// Calls that many-th counter, and is equal to any other that calls the same one.
struct Counter {
    std::vector<int>* counts;
    std::size_t index;

    void operator()() const { ++(*counts)[index]; }
    friend bool operator==(const Counter& a, const Counter& b) { return a.index == b.index; }
};

struct Policies {
    using Callback = Counter;
};
using List = CallbackList<void(), Policies>;
using Dispatcher = EventDispatcher<int, void(), Policies>;

class EventUtilTest : public ::testing::Test {
protected:
    using Counts = std::vector<int>;
    Counter counter(std::size_t index) { return {&counts_, index}; }

    Counts counts_ = Counts(3);
    List list_;
    Dispatcher dispatcher_;
};

TEST_F(EventUtilTest, RemovesTheFirstEqualCallbackOfAList) {
    for (const std::size_t index : {0U, 1U, 2U, 1U}) {
        list_.append(counter(index));
    }
    EXPECT_TRUE(removeListener(list_, counter(1)));
    list_();
    EXPECT_EQ(counts_, (Counts{1, 1, 1}));
    EXPECT_TRUE(removeListener(list_, counter(1)));
    EXPECT_FALSE(removeListener(list_, counter(1)));
    list_();
    EXPECT_EQ(counts_, (Counts{2, 1, 2}));
}

TEST_F(EventUtilTest, RemovesTheFirstEqualListenerOfAnEvent) {
    dispatcher_.appendListener(3, counter(0));
    const auto first = dispatcher_.appendListener(3, counter(1));
    const auto second = dispatcher_.appendListener(3, counter(1));
    dispatcher_.appendListener(4, counter(1));
    EXPECT_TRUE(removeListener(dispatcher_, 3, counter(1)));
    EXPECT_FALSE(first);
    EXPECT_TRUE(second);
    EXPECT_FALSE(removeListener(dispatcher_, 5, counter(1)));
    dispatcher_.dispatch(3);
    EXPECT_EQ(counts_, (Counts{1, 1, 0}));
    dispatcher_.dispatch(4);
    EXPECT_EQ(counts_, (Counts{1, 2, 0})) << "other events keep theirs";
}

TEST_F(EventUtilTest, FindsEqualCallbacksInAList) {
    EXPECT_FALSE(hasListener(list_, counter(0)));
    list_.append(counter(1));
    EXPECT_FALSE(hasListener(list_, counter(0)));
    list_.append(counter(0));
    EXPECT_TRUE(hasListener(list_, counter(0)));
    const List& constant = list_;
    EXPECT_TRUE(hasListener(constant, counter(1)));
}

TEST_F(EventUtilTest, FindsEqualListenersOfAnEvent) {
    dispatcher_.appendListener(3, counter(1));
    dispatcher_.appendListener(3, counter(2));
    EXPECT_TRUE(hasListener(dispatcher_, 3, counter(2)));
    EXPECT_FALSE(hasListener(dispatcher_, 3, counter(0)));
    EXPECT_FALSE(hasListener(dispatcher_, 4, counter(2)));
}

/// Removes the callback at which the caller looks, as another thread might, before the caller can
/// remove it.
struct RacedList : List {
    bool remove(const Handle& handle) {
        const bool isFirst = races-- > 0;
        const bool isRemoved = List::remove(handle);
        return !isFirst && isRemoved;
    }
    int races = 1;
};

TEST_F(EventUtilTest, GoesOnToTheNextEqualOneIfAnotherThreadWasFaster) {
    RacedList raced;
    raced.append(counter(1));
    const auto second = raced.append(counter(1));
    EXPECT_TRUE(removeListener(raced, counter(1)));
    EXPECT_FALSE(second);
}

// ---- event_maker

enum class Kind { none, draw, move, resize };

class Event {
public:
    explicit Event(Kind kind) : kind_(kind) {}
    Event(Kind kind, int weight) : kind_(kind), weight_(weight) {}
    [[nodiscard]] Kind kind() const { return kind_; }
    [[nodiscard]] int weight() const { return weight_; }

private:
    Kind kind_;
    int weight_ = 0;
};

template <class A, class B>
class Pair {
public:
    Pair(A first, B second) : first_(std::move(first)), second_(std::move(second)) {}
    [[nodiscard]] const A& first() const { return first_; }
    [[nodiscard]] const B& second() const { return second_; }

private:
    A first_;
    B second_;
};

EVENTPP_MAKE_EMPTY_EVENT(DrawEvent, Event, Kind::draw);
EVENTPP_MAKE_EVENT(MoveEvent, Event, Kind::move, (int, getX, setX), (int, getY),
                   (std::string, name, setName));
EVENTPP_MAKE_EVENT(ResizeEvent, Event, (Kind::resize, 5), (int, width));
EVENTPP_MAKE_EMPTY_EVENT(PairEvent, (Pair<int, std::string>), (3, "three"));
EVENTPP_MAKE_EVENT(MapEvent, Event, Kind::none, ((std::map<int, int>), getMap, setMap));
template <class T>
EVENTPP_MAKE_EVENT(ValueEvent, Event, Kind::none, (T, get, set), (T*, where));
template <class T>
EVENTPP_MAKE_EVENT(DerivedPairEvent, (Pair<T, int>), (T(), 2), (T, get));
EVENTPP_MAKE_EVENT(OwningEvent, Event, Kind::none, (std::unique_ptr<int>, owned));
EVENTPP_MAKE_EVENT(FullEvent, Event, Kind::none, (int, f1, s1), (int, f2, s2), (int, f3, s3),
                   (int, f4, s4), (int, f5, s5), (int, f6, s6), (int, f7, s7), (int, f8, s8),
                   (int, f9, s9), (int, f10, s10), (int, f11, s11), (int, f12, s12),
                   (int, f13, s13), (int, f14, s14), (int, f15, s15));

TEST(EventMakerTest, TheDefaultConstructorGivesEveryFieldItsZero) {
    const MoveEvent event;
    EXPECT_EQ(event.kind(), Kind::move);
    EXPECT_EQ(event.getX(), 0);
    EXPECT_EQ(event.getY(), 0);
    EXPECT_EQ(event.name(), "");
}

TEST(EventMakerTest, ParenthesesHoldSeveralArgumentsForTheBase) {
    const ResizeEvent event(7);
    EXPECT_EQ(event.kind(), Kind::resize);
    EXPECT_EQ(event.weight(), 5);
    EXPECT_EQ(ResizeEvent().weight(), 5);
}

TEST(EventMakerTest, ParenthesesHoldATemplateAsTheBase) {
    const PairEvent event;
    EXPECT_EQ(event.first(), 3);
    EXPECT_EQ(event.second(), "three");
}

TEST(EventMakerTest, ParenthesesHoldATypeWithCommas) {
    MapEvent event(std::map<int, int>{{1, 2}});
    EXPECT_EQ(event.getMap().at(1), 2);
    event.setMap({});
    EXPECT_TRUE(event.getMap().empty());
}

TEST(EventMakerTest, EventsMayBeTemplates) {
    int place = 0;
    ValueEvent<int> event(5, &place);
    event.set(6);
    EXPECT_EQ(event.get(), 6);
    EXPECT_EQ(event.where(), &place);
    const DerivedPairEvent<std::string> derived("text");
    EXPECT_EQ(derived.second(), 2);
    EXPECT_EQ(derived.get(), "text");
}

TEST(EventMakerTest, FieldsAreMovedIn) {
    const OwningEvent event(std::make_unique<int>(4));
    EXPECT_EQ(*event.owned(), 4);
}

TEST(EventMakerTest, FifteenFieldsHaveGettersAndSettersOfTheirOwn) {
    FullEvent event(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    EXPECT_EQ(event.f1(), 1);
    EXPECT_EQ(event.f2(), 2);
    EXPECT_EQ(event.f7(), 7);
    EXPECT_EQ(event.f14(), 14);
    EXPECT_EQ(event.f15(), 15);
    event.s1(101);
    event.s8(108);
    event.s15(115);
    EXPECT_EQ(event.f1() + event.f8() + event.f15(), 101 + 108 + 115);
    EXPECT_EQ(event.f9(), 9);
}

}  // namespace
}  // namespace sluice
