#include "event_suites.hpp"

#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>

#include <gtest/gtest.h>

#include <utility>

// How often arguments are copied; moves are not counted.

namespace sluice {
namespace {

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

/// Gives a list and a dispatcher the same interface.
template <class Prototype, class Policies>
struct ListSubject {
    CallbackList<Prototype, Policies> list;
    template <class Callback>
    void add(Callback callback) {
        list.append(callback);
    }
    template <class Argument>
    void send(Argument&& argument) {
        list(std::forward<Argument>(argument));
    }
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

TYPED_TEST(ArgumentCopiesTest, ListCopiesNothingThatGoesByReference) {
    this->template checkReferencePrototype<ListSubject>();
}

TYPED_TEST(ArgumentCopiesTest, DispatcherCopiesNothingThatGoesByReference) {
    this->template checkReferencePrototype<DispatcherSubject>();
}

TYPED_TEST(ArgumentCopiesTest, ListCopiesAValueOnceForEachCallback) {
    this->template checkValuePrototype<ListSubject>();
}

TYPED_TEST(ArgumentCopiesTest, DispatcherCopiesAValueOnceForEachListener) {
    this->template checkValuePrototype<DispatcherSubject>();
}

TYPED_TEST(ArgumentCopiesTest, EveryCallbackGetsACopyOfItsOwn) {
    CallbackList<void(Parcel), TypeParam> list;
    for (int i = 0; i < 4; ++i) {
        list.append([](Parcel) {});  // NOLINT(performance-unnecessary-value-param)
    }
    int copies = 0;
    list(Parcel(copies));
    EXPECT_EQ(copies, 4);
}

TYPED_TEST(ArgumentCopiesTest, EventIncludedInTheArgumentsIsNoMoreExpensive) {
    struct Event {
        int type;
        Parcel parcel;
    };
    struct Policies : TypeParam {
        static int getEvent(const Event& event) { return event.type; }
    };
    EventDispatcher<int, void(const Event&), Policies> dispatcher;
    int seen = 0;
    dispatcher.appendListener(3, [&seen](const Event&) { ++seen; });
    int copies = 0;
    dispatcher.dispatch(Event{3, Parcel(copies)});
    EXPECT_EQ(seen, 1);
    EXPECT_EQ(copies, 0);
}

TYPED_TEST(ArgumentCopiesTest, NobodyListensAndNothingIsCopied) {
    EventDispatcher<int, void(const Parcel&), TypeParam> dispatcher;
    int copies = 0;
    dispatcher.dispatch(1, Parcel(copies));
    dispatcher.appendListener(2, [](const Parcel&) {});
    dispatcher.dispatch(1, Parcel(copies));
    EXPECT_EQ(copies, 0);
}

}  // namespace
}  // namespace sluice
