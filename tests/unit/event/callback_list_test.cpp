#include "event_suites.hpp"

#include <sluice/event/callback_list.hpp>
#include <sluice/fixed/fixed_function.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {
namespace {

template <class Policies>
class CallbackListTest : public testing::Test {
protected:
    using List = CallbackList<void(), Policies>;
    using Handle = typename List::Handle;

    auto note(int number) {
        return [this, number] { called.push_back(number); };
    }

    std::vector<int> callNow(const List& list) {
        called.clear();
        list();
        return called;
    }

    std::vector<int> called;
};
TYPED_TEST_SUITE(CallbackListTest, test::AllPolicies, test::PolicyNames);

using Numbers = std::vector<int>;

static_assert(std::is_nothrow_default_constructible_v<CallbackList<void()>>);
static_assert(std::is_nothrow_move_constructible_v<CallbackList<void()>>);
static_assert(std::is_nothrow_move_assignable_v<CallbackList<void()>>);
static_assert(std::is_nothrow_swappable_v<CallbackList<void()>>);
static_assert(std::is_convertible_v<const CallbackList<void()>&, bool>);
static_assert(std::is_base_of_v<TagCallbackList, CallbackList<void()>> &&
              std::is_base_of_v<TagHomo, CallbackList<void()>>);
static_assert(std::is_same_v<CallbackList<int(char)>::Callback, std::function<int(char)>>);
static_assert(std::is_same_v<CallbackList<void()>::Mutex, std::mutex>);
static_assert(std::is_convertible_v<const CallbackList<void()>::Handle&, bool>);

// ---- order

TYPED_TEST(CallbackListTest, CallsInListOrder) {
    typename TestFixture::List list;
    list.append(this->note(1));
    list.append(this->note(2));
    list.prepend(this->note(3));
    list.prepend(this->note(4));
    EXPECT_EQ(this->callNow(list), (Numbers{4, 3, 1, 2}));
}

TYPED_TEST(CallbackListTest, InsertsRightInFrontOfTheHandle) {
    typename TestFixture::List list;
    list.append(this->note(1));
    const auto two = list.append(this->note(2));
    list.insert(this->note(3), two);
    EXPECT_EQ(this->callNow(list), (Numbers{1, 3, 2}));
}

TYPED_TEST(CallbackListTest, SeveralInsertsBeforeOneHandleComeOutInCallOrder) {
    typename TestFixture::List list;
    const auto last = list.append(this->note(9));
    for (int i = 1; i <= 5; ++i) {
        list.insert(this->note(i), last);
    }
    EXPECT_EQ(this->callNow(list), (Numbers{1, 2, 3, 4, 5, 9}));
}

TYPED_TEST(CallbackListTest, InsertBeforeTheFirstMakesANewFirst) {
    typename TestFixture::List list;
    const auto one = list.append(this->note(1));
    list.insert(this->note(2), one);
    list.prepend(this->note(3));
    EXPECT_EQ(this->callNow(list), (Numbers{3, 2, 1}));
}

TYPED_TEST(CallbackListTest, InsertBeforeAnEmptyOrRemovedHandleAppends) {
    typename TestFixture::List list;
    const auto gone = list.append(this->note(0));
    list.append(this->note(1));
    EXPECT_TRUE(list.remove(gone));
    list.insert(this->note(2), typename TestFixture::Handle());
    list.insert(this->note(3), gone);
    list.append(this->note(4));
    EXPECT_EQ(this->callNow(list), (Numbers{1, 2, 3, 4}));
}

TYPED_TEST(CallbackListTest, SameCallbackTwiceIsTwoEntries) {
    typename TestFixture::List list;
    const typename TestFixture::List::Callback callback = this->note(1);
    const auto first = list.append(callback);
    const auto second = list.append(callback);
    EXPECT_EQ(this->callNow(list), (Numbers{1, 1}));
    EXPECT_TRUE(list.remove(first));
    EXPECT_TRUE(second);
    EXPECT_EQ(this->callNow(list), (Numbers{1}));
}

// ---- emptiness

TYPED_TEST(CallbackListTest, IsEmptyWithoutCallbacksOnly) {
    typename TestFixture::List list;
    EXPECT_TRUE(list.empty());
    EXPECT_FALSE(list);
    list();
    const auto handle = list.append([] {});
    EXPECT_FALSE(list.empty());
    EXPECT_TRUE(list);
    EXPECT_TRUE(list.remove(handle));
    EXPECT_TRUE(list.empty());
    EXPECT_FALSE(list);
}

TYPED_TEST(CallbackListTest, ClearRemovesAllAndTheListGoesOn) {
    typename TestFixture::List list;
    const auto one = list.append(this->note(1));
    const auto two = list.append(this->note(2));
    list.clear();
    EXPECT_TRUE(list.empty());
    EXPECT_FALSE(one || two);
    EXPECT_FALSE(list.remove(one));
    list.clear();
    list.append(this->note(3));
    EXPECT_EQ(this->callNow(list), (Numbers{3}));
}

// ---- callbacks that cannot be called

TYPED_TEST(CallbackListTest, RefusesNullCallables) {
    CallbackList<void(), TypeParam> list;
    void (*noFunction)() = nullptr;
    const std::function<void()> nothing;
    EXPECT_FALSE(list.append(nothing));
    EXPECT_FALSE(list.append(noFunction));
    EXPECT_FALSE(list.append(nullptr));
    EXPECT_FALSE(list.prepend(nothing));
    EXPECT_FALSE(list.prepend(std::function<void()>()));
    const auto handle = list.append([] {});
    EXPECT_FALSE(list.insert(nothing, handle));
    EXPECT_FALSE(list.insert(std::function<void()>(), handle));
    EXPECT_TRUE(list.remove(handle));
    EXPECT_TRUE(list.empty());
}

// ---- looking through

TYPED_TEST(CallbackListTest, ForEachGivesHandlesAndCallbacks) {
    typename TestFixture::List list;
    using Callback = typename TestFixture::List::Callback;
    std::vector<typename TestFixture::Handle> added;
    for (int i = 0; i < 3; ++i) {
        added.push_back(list.append(this->note(i)));
    }
    std::vector<typename TestFixture::Handle> seen;
    list.forEach([&](const typename TestFixture::Handle& handle, Callback& callback) {
        seen.push_back(handle);
        callback();
    });
    EXPECT_EQ(seen, added);
    EXPECT_EQ(this->called, (Numbers{0, 1, 2}));
    list.forEach([](const Callback& callback) { callback(); });
    EXPECT_EQ(this->called, (Numbers{0, 1, 2, 0, 1, 2}));
}

TYPED_TEST(CallbackListTest, ForEachMayRemoveThroughTheHandles) {
    typename TestFixture::List list;
    for (int i = 0; i < 5; ++i) {
        list.append(this->note(i));
    }
    list.forEach([&list, index = 0](const typename TestFixture::Handle& handle,
                                    typename TestFixture::List::Callback&) mutable {
        if (index++ % 2 == 0) {
            EXPECT_TRUE(list.remove(handle));
        }
    });
    EXPECT_EQ(this->callNow(list), (Numbers{1, 3}));
}

TYPED_TEST(CallbackListTest, ForEachIfStopsAtFalse) {
    typename TestFixture::List list;
    EXPECT_TRUE(list.forEachIf([](auto&) { return false; })) << "nobody said false";
    for (int i = 0; i < 3; ++i) {
        list.append(this->note(i));
    }
    int visits = 0;
    EXPECT_FALSE(
        list.forEachIf([&](typename TestFixture::List::Callback&) { return ++visits != 2; }));
    EXPECT_EQ(visits, 2);
    EXPECT_TRUE(
        list.forEachIf([&](typename TestFixture::Handle, typename TestFixture::List::Callback&) {
            ++visits;
            return true;
        }));
    EXPECT_EQ(visits, 5);
}

TYPED_TEST(CallbackListTest, ForEachReachesTheStoredCallbackItself) {
    CallbackList<void(), TypeParam> list;
    int calls = 0;
    list.append([] {});
    list.forEach([&](typename CallbackList<void(), TypeParam>::Callback& callback) {
        callback = [&calls] { ++calls; };
    });
    list();
    EXPECT_EQ(calls, 1);
}

// ---- arguments

TYPED_TEST(CallbackListTest, ChangesOfReferencesReachLaterCallbacksAndTheCaller) {
    CallbackList<void(int&, std::string&), TypeParam> list;
    list.append([](int& number, std::string& text) {
        ++number;
        text += "a";
    });
    list.append([](int& number, std::string& text) {
        EXPECT_EQ(number, 4);
        EXPECT_EQ(text, "a");
        number *= 2;
        text += "b";
    });
    int number = 3;
    std::string text;
    list(number, text);
    EXPECT_EQ(number, 8);
    EXPECT_EQ(text, "ab");
}

TYPED_TEST(CallbackListTest, WreckedValueIsWholeForTheNextCallbackAndTheCaller) {
    CallbackList<void(std::string), TypeParam> list;
    std::vector<std::string> seen;
    for (int i = 0; i < 3; ++i) {
        list.append([&seen](std::string&& text) { seen.push_back(std::move(text)); });
    }
    std::string text = "long enough to live on the heap, not inside";
    list(text);
    EXPECT_EQ(seen, std::vector<std::string>(3, "long enough to live on the heap, not inside"));
    EXPECT_EQ(text, "long enough to live on the heap, not inside");
}

struct FromInt {
    FromInt(int n) : number(n) {}
    int number;
};

TYPED_TEST(CallbackListTest, ArgumentsConvertOnTheWayInAndOut) {
    CallbackList<void(int), TypeParam> list;
    std::vector<int> seen;
    list.append([&](char number) { seen.push_back(number); });
    list.append([&](const FromInt& made) { seen.push_back(made.number); });
    list.append([&](FromInt made) { seen.push_back(made.number); });
    list.append([&](long number) { seen.push_back(static_cast<int>(number)); });
    list('a');
    EXPECT_EQ(seen, Numbers(4, 'a'));
    CallbackList<void(FromInt), TypeParam> made;
    made.append([&](const FromInt& value) { seen.push_back(value.number); });
    made(7);
    EXPECT_EQ(seen.back(), 7);
}

TYPED_TEST(CallbackListTest, ResultsAreDiscarded) {
    CallbackList<int(int), TypeParam> list;
    int sum = 0;
    list.append([&](int n) { return sum += n; });
    list.append([&](int n) { return sum += 10 * n; });
    list(2);
    EXPECT_EQ(sum, 22);
    static_assert(std::is_void_v<decltype(list(2))>);
}

TYPED_TEST(CallbackListTest, PolymorphicArgumentsAreNotSliced) {
    struct Base {
        virtual ~Base() = default;
        virtual int number() const { return 1; }
    };
    struct Derived : Base {
        int number() const override { return 2; }
    };
    CallbackList<void(const Base&), TypeParam> list;
    int seen = 0;
    list.append([&](const Base& base) { seen = base.number(); });
    list(Derived());
    EXPECT_EQ(seen, 2);
}

// ---- callbacks of other types

template <class Policies>
struct FixedCallbacks : Policies {
    using Callback = FixedFunction<void(int)>;
};

TYPED_TEST(CallbackListTest, TakesCallablesThatCanOnlyBeMoved) {
    CallbackList<void(int), FixedCallbacks<TypeParam>> list;
    int sum = 0;
    const auto second =
        list.append([&sum, factor = std::make_unique<int>(10)](int n) { sum += n * *factor; });
    list.prepend([&sum, factor = std::make_unique<int>(1)](int n) { sum += n * *factor; });
    list.insert([&sum, factor = std::make_unique<int>(100)](int n) { sum += n * *factor; }, second);
    EXPECT_FALSE(list.append(FixedFunction<void(int)>()));
    list(3);
    EXPECT_EQ(sum, 333);
    auto moved = std::move(list);
    moved(1);
    EXPECT_EQ(sum, 444);
    moved = {};
    moved(1);
    EXPECT_EQ(sum, 444);
}

// Can be stored and called, and nothing else: not even compared with null.
struct PlainCallback {
    PlainCallback(int* ownSum) : sum(ownSum) {}
    void operator()(int n) const { *sum += n; }
    int* sum;
};
template <class Policies>
struct PlainCallbacks : Policies {
    using Callback = PlainCallback;
};

TYPED_TEST(CallbackListTest, TakesCallbacksOfAnyTypeThatCanBeCalled) {
    CallbackList<void(int), PlainCallbacks<TypeParam>> list;
    int sum = 0;
    list.append(&sum);
    list.append(PlainCallback(&sum));
    list(4);
    EXPECT_EQ(sum, 8);
}

struct alignas(64) AlignedCallback {
    AlignedCallback(bool* answer) : isAligned(answer) {}
    void operator()() const {
        *isAligned = reinterpret_cast<std::uintptr_t>(this) % alignof(AlignedCallback) == 0;
    }
    bool* isAligned;
};
template <class Policies>
struct AlignedCallbacks : Policies {
    using Callback = AlignedCallback;
};

TYPED_TEST(CallbackListTest, OverAlignedCallbacksAreAligned) {
    CallbackList<void(), AlignedCallbacks<TypeParam>> list;
    bool answers[3] = {};
    for (bool& answer : answers) {
        list.append(&answer);
    }
    list();
    EXPECT_TRUE(answers[0] && answers[1] && answers[2]);
}

}  // namespace
}  // namespace sluice
