#include "support/payloads.hpp"
#include "unit/event/event_queue_suites.hpp"

#include <sluice/event/event_queue.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// The place of the event among the arguments, the fate of the arguments, and the number of their
// copies.

namespace sluice {
namespace {

using namespace test;

template <class Policies>
class EventQueueArgumentsTest : public testing::Test {};
TYPED_TEST_SUITE(EventQueueArgumentsTest, CommonQueuePolicies, QueuePolicyNames);

// ---- the event

TYPED_TEST(EventQueueArgumentsTest, EventIsTheFirstOfTheArgumentsOrInFrontOfThem) {
    EventQueue<int, void(int, const std::string&), TypeParam> queue;
    std::string seen;
    queue.appendListener(
        1, [&](int number, const std::string& text) { seen += std::to_string(number) + text; });
    EXPECT_TRUE(queue.enqueue(1, "a"));
    EXPECT_TRUE(queue.enqueue(1, 2, "b"));
    EXPECT_TRUE(queue.enqueue(2, 1, "c"));
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(seen, "1a2b");
}

/// Converts from everything.
struct MyInt {
    template <class T>
    MyInt(T number) : value(static_cast<int>(number)) {}
    MyInt() = default;
    int value = 0;
    friend bool operator<(const MyInt& a, const MyInt& b) { return a.value < b.value; }
};

TYPED_TEST(EventQueueArgumentsTest, NumberOfArgumentsDecidesWhichFormIsMeant) {
    EventQueue<MyInt, void(const MyInt&), TypeParam> queue;
    std::vector<int> seen;
    for (const int event : {5, 7}) {
        queue.appendListener(event, [&, event](const MyInt& argument) {
            seen.push_back(event);
            seen.push_back(argument.value);
        });
    }
    EXPECT_TRUE(queue.enqueue(5));
    EXPECT_TRUE(queue.enqueue(7, 2));
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(seen, (std::vector<int>{5, 5, 7, 2}));
}

struct Message {
    int type;
    std::string text;
};

template <class Base>
struct EventOfMessage : Base {
    static int getEvent(const Message& message) { return message.type; }
};

TYPED_TEST(EventQueueArgumentsTest, GetEventFindsTheEventInTheArguments) {
    EventQueue<int, void(const Message&), EventOfMessage<TypeParam>> queue;
    std::string seen;
    queue.appendListener(3, [&](const Message& message) { seen += message.text; });
    EXPECT_TRUE(queue.enqueue(Message{3, "three"}));
    EXPECT_TRUE(queue.enqueue(Message{4, "four"}));
    EXPECT_TRUE(queue.enqueue(3, Message{9, "!"})) << "not asked: it does not take an int in front";
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(seen, "three!");
}

template <class Base>
struct SumOfArguments : Base {
    static int getEvent(int a, int b) { return a + b; }
};

TYPED_TEST(EventQueueArgumentsTest, GetEventIsAskedOnlyIfItTakesJustTheseArguments) {
    EventQueue<int, void(int), SumOfArguments<TypeParam>> queue;
    std::vector<int> seen;
    queue.appendListener(5, [&](int number) { seen.push_back(number); });
    EXPECT_TRUE(queue.enqueue(2, 3));
    EXPECT_TRUE(queue.enqueue(5));
    EXPECT_TRUE(queue.enqueue(1, 5)) << "event 6";
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(seen, (std::vector<int>{3, 5}));
}

template <class Base>
struct FirstLetter : Base {
    static const char& getEvent(const std::string& text) { return text.front(); }
};

TYPED_TEST(EventQueueArgumentsTest, GetEventSeesArgumentsThatAreMovedInAfterwards) {
    EventQueue<char, void(const std::string&), FirstLetter<TypeParam>> queue;
    std::string seen;
    queue.appendListener('b', [&](const std::string& text) { seen += text; });
    std::string text(100, 'b');
    EXPECT_TRUE(queue.enqueue(std::move(text)));
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(seen, std::string(100, 'b'));
}

template <class Base>
struct ExcludeEvent : Base {
    using ArgumentPassingMode = ArgumentPassingExcludeEvent;
};
template <class Base>
struct IncludeEvent : Base {
    using ArgumentPassingMode = ArgumentPassingIncludeEvent;
};

TYPED_TEST(EventQueueArgumentsTest, PolicySaysWhereTheEventIs) {
    EventQueue<int, void(int), ExcludeEvent<TypeParam>> excluding;
    EventQueue<int, void(int), IncludeEvent<TypeParam>> including;
    std::vector<int> seen;
    excluding.appendListener(1, [&](int number) { seen.push_back(number); });
    including.appendListener(1, [&](int number) { seen.push_back(number); });
    EXPECT_TRUE(excluding.enqueue(1, 2));
    EXPECT_TRUE(including.enqueue(1));
    EXPECT_TRUE(excluding.process());
    EXPECT_TRUE(including.process());
    EXPECT_EQ(seen, (std::vector<int>{2, 1}));
}

// ---- the arguments

class NonDefaultConstructible {
public:
    explicit NonDefaultConstructible(int own) : value(own) {}
    int value;
};

TYPED_TEST(EventQueueArgumentsTest, ReferencesBecomeCopiesWhenTheEventIsQueued) {
    EventQueue<int, void(const std::string&, const NonDefaultConstructible&), TypeParam> queue;
    std::string seen;
    queue.appendListener(1, [&](const std::string& text, const NonDefaultConstructible& number) {
        seen = text + std::to_string(number.value);
    });
    std::string text = "before";
    EXPECT_TRUE(queue.enqueue(1, text, NonDefaultConstructible(3)));
    text = "";
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(seen, "before3");
}

struct Base {
    int number = 1;
};
struct Derived : Base {
    int more = 2;
};

TYPED_TEST(EventQueueArgumentsTest, ArgumentsConvertAndDerivedObjectsSlice) {
    EventQueue<int, void(const Base&, double, std::string), TypeParam> queue;
    double sum = 0;
    queue.appendListener(1, [&](const Base& base, double value, const std::string& text) {
        sum += base.number + value + static_cast<double>(text.size());
    });
    Derived derived;
    derived.number = 10;
    EXPECT_TRUE(queue.enqueue('\1', derived, 2, "abc"));
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(sum, 15.0);
}

TYPED_TEST(EventQueueArgumentsTest, ArgumentsThatCannotBeCopiedAreProcessedAndTaken) {
    using Pointer = std::unique_ptr<int>;
    EventQueue<int, void(const Pointer&), TypeParam> queue;
    int sum = 0;
    queue.appendListener(1, [&](const Pointer& number) { sum += *number; });
    for (const int number : {1, 20, 300}) {
        EXPECT_TRUE(queue.enqueue(1, std::make_unique<int>(number)));
    }
    typename decltype(queue)::QueuedEvent event{};
    EXPECT_TRUE(queue.takeEvent(&event));
    EXPECT_EQ(sum, 0);
    queue.dispatch(event);
    EXPECT_EQ(sum, 1);
    EXPECT_TRUE(queue.processIf([](const Pointer& number) { return *number == 300; }));
    EXPECT_EQ(sum, 301);
    Pointer last;
    EXPECT_TRUE(queue.processQueueWith([&](int, Pointer& number) { last = std::move(number); }));
    EXPECT_EQ(*last, 20);
}

TYPED_TEST(EventQueueArgumentsTest, OverAlignedArgumentsLieWhereTheyMust) {
    using Wide = OverAligned<128>;
    EventQueue<int, void(const Wide&), TypeParam> queue;
    int sum = 0;
    queue.appendListener(1, [&](const Wide& wide) {
        EXPECT_TRUE(wide.isAligned());
        sum += wide.value;
    });
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(queue.enqueue(1, Wide(i)));
    }
    EXPECT_TRUE(queue.process());
    EXPECT_EQ(sum, 4950);
}

// ---- copies

/// Counts its copies and its living.
struct Parcel {
    struct Counts {
        int alive = 0;
        int copies = 0;
        int copyAssignments = 0;
    };
    explicit Parcel(Counts& own) : counts(&own) { ++counts->alive; }
    Parcel(const Parcel& other) : counts(other.counts) {
        ++counts->alive;
        ++counts->copies;
    }
    Parcel(Parcel&& other) noexcept : counts(other.counts) { ++counts->alive; }
    Parcel& operator=(const Parcel&) {  // NOLINT(bugprone-unhandled-self-assignment)
        ++counts->copyAssignments;
        return *this;
    }
    Parcel& operator=(Parcel&&) noexcept { return *this; }
    ~Parcel() { --counts->alive; }
    Counts* counts;
};

TYPED_TEST(EventQueueArgumentsTest, TemporaryIsNeverCopiedAndLivesOnceUntilItHasBeenDispatched) {
    Parcel::Counts counts;
    {
        EventQueue<int, void(const Parcel&), TypeParam> queue;
        int livingWhenCalled = 0;
        queue.appendListener(1, [&](const Parcel&) { livingWhenCalled = counts.alive; });
        EXPECT_TRUE(queue.enqueue(1, Parcel(counts)));
        EXPECT_TRUE(queue.enqueue(1, Parcel(counts)));
        EXPECT_EQ(counts.alive, 2);
        EXPECT_TRUE(queue.process());
        EXPECT_EQ(livingWhenCalled, 1) << "the first one went right after its own dispatch";
        EXPECT_EQ(counts.alive, 0);
        EXPECT_TRUE(queue.enqueue(1, Parcel(counts)));
        EXPECT_EQ(counts.alive, 1);
    }
    EXPECT_EQ(counts.alive, 0);
    EXPECT_EQ(counts.copies, 0);
    EXPECT_EQ(counts.copyAssignments, 0);
}

TYPED_TEST(EventQueueArgumentsTest, ValueIsCopiedForEachCallThatWantsOne) {
    Parcel::Counts counts;
    EventQueue<int, void(const Parcel&), TypeParam> byReference;
    byReference.appendListener(1, [](Parcel) {});  // NOLINT(performance-unnecessary-value-param)
    const Parcel parcel(counts);
    EXPECT_TRUE(byReference.enqueue(1, parcel));
    EXPECT_EQ(counts.copies, 1) << "the queue's own";
    EXPECT_TRUE(byReference.process());
    EXPECT_EQ(counts.copies, 2);

    counts.copies = 0;
    EventQueue<int, void(Parcel), TypeParam> byValue;
    byValue.appendListener(1, [](const Parcel&) {});
    EXPECT_TRUE(byValue.enqueue(1, Parcel(counts)));
    EXPECT_TRUE(byValue.process());
    EXPECT_EQ(counts.copies, 2) << "as when an lvalue is dispatched";
}

TYPED_TEST(EventQueueArgumentsTest, VisitorCopiesNothing) {
    Parcel::Counts counts;
    EventQueue<int, void(Parcel), TypeParam> queue;
    EXPECT_TRUE(queue.enqueue(1, Parcel(counts)));
    EXPECT_TRUE(queue.processQueueWith([](int, const Parcel&) {}));
    EXPECT_TRUE(queue.enqueue(1, Parcel(counts)));
    EXPECT_TRUE(queue.processOneWith([](int, Parcel&) {}));
    EXPECT_EQ(counts.copies, 0);
    EXPECT_EQ(counts.alive, 0);
}

}  // namespace
}  // namespace sluice
