#include "unit/event/event_suites.hpp"

#include <sluice/eventpp/conditional_remover.hpp>
#include <sluice/eventpp/counter_remover.hpp>
#include <sluice/eventpp/heter_callback_list.hpp>
#include <sluice/eventpp/scoped_remover.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__cpp_exceptions)
#include <stdexcept>
#endif

namespace sluice {
namespace {

using Numbers = std::vector<int>;
using Two = HeterTuple<void(), void(int)>;

template <class Policies>
class HeterCallbackListTest : public testing::Test {
protected:
    using List = HeterCallbackList<Two, Policies>;
    using Handle = typename List::Handle;

    auto note(int number) {
        return [this, number] { called.push_back(number); };
    }
    auto noteInt(int number) {
        return [this, number](int) { called.push_back(number); };
    }

    /// Those with an argument, then those without.
    Numbers callBoth(const List& list) {
        called.clear();
        list(3);
        list();
        return called;
    }

    Numbers called;
};
TYPED_TEST_SUITE(HeterCallbackListTest, test::CommonPolicies, test::PolicyNames);

static_assert(std::is_base_of_v<TagCallbackList, HeterCallbackList<Two>> &&
              std::is_base_of_v<TagHeterCallbackList, HeterCallbackList<Two>>);
static_assert(std::is_nothrow_default_constructible_v<HeterCallbackList<Two>>);
static_assert(std::is_nothrow_move_constructible_v<HeterCallbackList<Two>> &&
              std::is_nothrow_move_assignable_v<HeterCallbackList<Two>>);
static_assert(!std::is_nothrow_copy_assignable_v<HeterCallbackList<Two>>, "it allocates");
static_assert(std::is_nothrow_swappable_v<HeterCallbackList<Two>>);
static_assert(std::is_same_v<HeterCallbackList<Two>::PrototypeList, Two>);

// ---- order

TYPED_TEST(HeterCallbackListTest, AppendsAmongTheCallbacksOfThePrototype) {
    typename TestFixture::List list;
    list.append(this->note(1));
    list.append(this->noteInt(3));
    list.append(this->note(2));
    list.append(this->noteInt(4));
    list.append(this->noteInt(5));
    EXPECT_EQ(this->callBoth(list), (Numbers{3, 4, 5, 1, 2}));
}

TYPED_TEST(HeterCallbackListTest, PrependsAmongTheCallbacksOfThePrototype) {
    typename TestFixture::List list;
    list.prepend(this->note(1));
    list.prepend(this->note(2));
    list.prepend(this->noteInt(3));
    list.prepend(this->noteInt(4));
    list.prepend(this->noteInt(5));
    EXPECT_EQ(this->callBoth(list), (Numbers{5, 4, 3, 2, 1}));
}

TYPED_TEST(HeterCallbackListTest, InsertsBeforeAHandleOfTheSamePrototypeElseAppends) {
    typename TestFixture::List list;
    typename TestFixture::List other;
    const auto one = list.append(this->note(1));
    const auto two = list.append(this->noteInt(2));
    const auto gone = list.append(this->noteInt(0));
    const auto foreign = other.append(this->note(0));
    EXPECT_TRUE(list.remove(gone));
    list.insert(this->note(3), one);
    list.insert(this->noteInt(4), two);
    list.insert(this->note(5), two);
    list.insert(this->noteInt(6), one);
    list.insert(this->noteInt(7), gone);
    list.insert(this->note(8), foreign);
    list.insert(this->note(9), typename TestFixture::Handle());
    EXPECT_EQ(this->callBoth(list), (Numbers{4, 2, 6, 7, 3, 1, 5, 8, 9}));
}

TYPED_TEST(HeterCallbackListTest, HandleWhoseIndexWasChangedNamesNothing) {
    typename TestFixture::List list;
    list.append(this->note(1));
    auto handle = list.append(this->note(2));
    for (const int change : {1, 100, -3}) {
        auto wrong = handle;
        wrong.index += change;
        EXPECT_TRUE(list.insert(this->note(3), wrong));
        EXPECT_TRUE(list.insert(this->noteInt(4), wrong));
        EXPECT_FALSE(list.remove(wrong));
        EXPECT_FALSE(list.ownsHandle(wrong));
    }
    EXPECT_EQ(this->callBoth(list), (Numbers{4, 4, 4, 1, 2, 3, 3, 3}));
    EXPECT_TRUE(list.remove(handle));
}

TYPED_TEST(HeterCallbackListTest, HigherPrioritiesComeFirst) {
    typename TestFixture::List list;
    list.insertByPriority(this->note(1), 1);
    list.insertByPriority(this->note(2), 2);
    list.insertByPriority(this->noteInt(3), 0);
    EXPECT_EQ(this->callBoth(list), (Numbers{3, 2, 1}));
}

// ---- removal and handles

TYPED_TEST(HeterCallbackListTest, RemovesOnce) {
    typename TestFixture::List list;
    const auto one = list.append(this->note(1));
    const auto two = list.append(this->noteInt(2));
    EXPECT_TRUE(one && two);
    EXPECT_EQ(one.index, 0);
    EXPECT_EQ(two.index, 1);
    EXPECT_TRUE(list.remove(one));
    EXPECT_FALSE(list.remove(one));
    EXPECT_FALSE(one);
    EXPECT_TRUE(two);
    EXPECT_TRUE(list.removeAndWait(two));
    EXPECT_FALSE(list.removeAndWait(two));
    EXPECT_TRUE(list.empty());
}

TYPED_TEST(HeterCallbackListTest, DefaultHandleIsEmptyAndRefused) {
    typename TestFixture::List list;
    typename TestFixture::Handle handle;
    EXPECT_FALSE(handle);
    EXPECT_TRUE(handle.expired());
    EXPECT_FALSE(handle.lock());
    EXPECT_EQ(handle.index, -1);
    EXPECT_FALSE(list.remove(handle));
    EXPECT_FALSE(list.remove(typename TestFixture::Handle()));
    EXPECT_FALSE(handle.remove());
    EXPECT_FALSE(list.ownsHandle(handle));
}

TYPED_TEST(HeterCallbackListTest, HandlesAreComparedCopiedAndEnoughToRemove) {
    typename TestFixture::List list;
    typename TestFixture::List other;
    const auto one = list.append(this->note(1));
    const auto two = list.append(this->noteInt(2));
    auto copy = one;
    EXPECT_TRUE(copy == one && copy != two);
    EXPECT_TRUE(list.ownsHandle(copy));
    EXPECT_FALSE(other.ownsHandle(copy));
    EXPECT_FALSE(other.remove(copy));
    EXPECT_TRUE(copy.lock());
    EXPECT_TRUE(two.remove());
    copy.reset();
    EXPECT_FALSE(copy);
    EXPECT_TRUE(one);
    list.clear();
    EXPECT_FALSE(one);
    EXPECT_TRUE(list.empty());
}

TYPED_TEST(HeterCallbackListTest, NullCallablesAreRefused) {
    typename TestFixture::List list;
    void (*nothing)() = nullptr;
    EXPECT_FALSE(list.append(nothing));
    const std::function<void(int)> empty;
    const auto handle = list.prepend(empty);
    EXPECT_FALSE(handle);
    EXPECT_EQ(handle.index, -1);
    EXPECT_FALSE(list.insert(empty, handle));
    EXPECT_TRUE(list.empty());
}

TYPED_TEST(HeterCallbackListTest, IsEmptyWhenAllPrototypesAre) {
    typename TestFixture::List list;
    EXPECT_TRUE(list.empty());
    EXPECT_FALSE(list);
    const auto handle = list.append(this->noteInt(1));
    EXPECT_FALSE(list.empty());
    EXPECT_TRUE(list);
    list.remove(handle);
    EXPECT_TRUE(list.empty());
}

// ---- looking through

TYPED_TEST(HeterCallbackListTest, ForEachVisitsOnePrototype) {
    typename TestFixture::List list;
    std::vector<typename TestFixture::Handle> added{list.append(this->noteInt(1)),
                                                    list.append(this->noteInt(2))};
    list.append(this->note(9));
    std::vector<typename TestFixture::Handle> seen;
    list.template forEach<void(int)>(
        [&](const typename TestFixture::Handle& handle, const std::function<void(int)>& callback) {
            seen.push_back(handle);
            callback(0);
        });
    EXPECT_EQ(seen, added);
    EXPECT_EQ(this->called, (Numbers{1, 2}));
    list.template forEach<void()>([](const std::function<void()>& callback) { callback(); });
    EXPECT_EQ(this->called, (Numbers{1, 2, 9}));
}

TYPED_TEST(HeterCallbackListTest, ForEachIfStopsAtFalse) {
    typename TestFixture::List list;
    for (int i = 0; i < 3; ++i) {
        list.append(this->note(i));
    }
    int visits = 0;
    EXPECT_FALSE(list.template forEachIf<void()>(
        [&](const std::function<void()>&) { return ++visits != 2; }));
    EXPECT_EQ(visits, 2);
    EXPECT_TRUE(
        list.template forEachIf<void(int)>([](const std::function<void(int)>&) { return false; }));
}

// ---- as a value

TYPED_TEST(HeterCallbackListTest, CopyIsDeepForEachPrototype) {
    typename TestFixture::List list;
    const auto one = list.append(this->note(1));
    list.append(this->noteInt(2));
    auto copy = list;
    EXPECT_FALSE(copy.remove(one));
    copy.append(this->note(3));
    list.remove(one);
    EXPECT_EQ(this->callBoth(list), (Numbers{2}));
    EXPECT_EQ(this->callBoth(copy), (Numbers{2, 1, 3}));
    list = copy;
    EXPECT_EQ(this->callBoth(list), (Numbers{2, 1, 3}));
}

TYPED_TEST(HeterCallbackListTest, MovesSwapsAndAssignsToItself) {
    typename TestFixture::List list;
    const auto one = list.append(this->note(1));
    list.append(this->noteInt(2));
    auto moved = std::move(list);
    EXPECT_TRUE(list.empty());
    EXPECT_TRUE(moved.ownsHandle(one));
    swap(list, moved);
    EXPECT_TRUE(list.ownsHandle(one));
    auto& self = list;
    list = self;
    list = std::move(self);
    list.swap(self);
    EXPECT_TRUE(list.ownsHandle(one));
    list = {};
    EXPECT_FALSE(one);
    EXPECT_TRUE(list.empty());
}

// ---- inside a call

TYPED_TEST(HeterCallbackListTest, CallbacksMayAddRemoveAndDestroy) {
    auto list = std::make_unique<typename TestFixture::List>();
    typename TestFixture::Handle later;
    list->append([&] {
        this->called.push_back(1);
        list->append(this->note(9));
        list->append(this->noteInt(2));
        EXPECT_TRUE(list->remove(later));
        (*list)(0);
        list.reset();
    });
    later = list->append(this->note(8));
    list->append(this->note(7));
    (*list)();
    EXPECT_EQ(this->called, (Numbers{1, 2}));
}

// ---- arguments

TYPED_TEST(HeterCallbackListTest, ArgumentsGoToTheFirstPrototypeThatTakesThem) {
    HeterCallbackList<HeterTuple<void(const std::string&), void(int&), void(long, long)>, TypeParam>
        list;
    std::vector<std::string> seen;
    list.append([&seen](const std::string& text) { seen.push_back(text); });
    list.append([](int& n) { ++n; });
    list.append([&seen](long a, long b) { seen.push_back(std::to_string(a + b)); });
    int n = 5;
    list(n);
    EXPECT_EQ(n, 6);
    list("text");
    list(1, 'a');
    EXPECT_EQ(seen, (std::vector<std::string>{"text", "98"}));
}

TYPED_TEST(HeterCallbackListTest, WreckedValueIsWholeForTheNextCallback) {
    HeterCallbackList<HeterTuple<void(std::string)>, TypeParam> list;
    std::vector<std::string> seen;
    for (int i = 0; i < 2; ++i) {
        list.append([&seen](std::string&& text) { seen.push_back(std::move(text)); });
    }
    list("long enough to live on the heap, not inside");
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_EQ(seen[0], seen[1]);
}

// ---- policies

TYPED_TEST(HeterCallbackListTest, CanContinueInvokingIsAskedWhereItTakesTheArguments) {
    struct Policies : TypeParam {
        static bool canContinueInvoking(int n) { return n < 0; }
    };
    HeterCallbackList<Two, Policies> list;
    for (int i = 0; i < 3; ++i) {
        list.append(this->note(i));
        list.append(this->noteInt(10 + i));
    }
    list();
    list(1);
    EXPECT_EQ(this->called, (Numbers{0, 1, 2, 10}));
}

template <class Policies>
struct IntCallbackPolicies : Policies {
    using Callback = std::function<void(int)>;
};

TYPED_TEST(HeterCallbackListTest, CallbackOfThePolicyDoesNotComeBetween) {
    HeterCallbackList<HeterTuple<void(double)>, IntCallbackPolicies<TypeParam>> list;
    double seen = 0;
    list.append([&seen](double number) { seen = number; });
    list(1.5);
    EXPECT_EQ(seen, 1.5);
}

TYPED_TEST(HeterCallbackListTest, PoliciesMayBeFinal) {
    struct Policies final : TypeParam {};
    HeterCallbackList<Two, Policies> list;
    list.append(this->noteInt(1));
    list(1);
    EXPECT_EQ(this->called, (Numbers{1}));
}

TYPED_TEST(HeterCallbackListTest, MutexIsThatOfTheThreading) {
    EXPECT_TRUE((std::is_same_v<typename TestFixture::List::Mutex,
                                typename detail::ThreadingOf<TypeParam>::Mutex>));
}

// ---- the utilities

TYPED_TEST(HeterCallbackListTest, ScopedRemoverCanRemove) {
    typename TestFixture::List list;
    const auto direct = list.append(this->note(1));
    {
        ScopedRemover<typename TestFixture::List> remover(list);
        const auto two = remover.append(this->note(2));
        remover.prepend(this->noteInt(3));
        remover.insert(this->note(4), direct);
        EXPECT_EQ(this->callBoth(list), (Numbers{3, 4, 1, 2}));
        EXPECT_FALSE(remover.remove(direct));
        EXPECT_TRUE(remover.remove(two));
        EXPECT_FALSE(remover.remove(two));
        EXPECT_EQ(this->callBoth(list), (Numbers{3, 4, 1}));
    }
    EXPECT_EQ(this->callBoth(list), (Numbers{1}));
}

TYPED_TEST(HeterCallbackListTest, CountersAndConditionsRemove) {
    typename TestFixture::List list;
    counterRemover(list).append(this->note(1), 2);
    counterRemover(list).append(this->noteInt(2));
    conditionalRemover(list).append(this->noteInt(3), [](int n) { return n == 3; });
    EXPECT_EQ(this->callBoth(list), (Numbers{2, 3, 1}));
    EXPECT_EQ(this->callBoth(list), (Numbers{1}));
    EXPECT_EQ(this->callBoth(list), Numbers());
}

#if defined(__cpp_exceptions)

struct Brittle {
    explicit Brittle(int& left) : copiesLeft(&left) {}
    Brittle(const Brittle& other) : copiesLeft(other.copiesLeft) {
        if ((*copiesLeft)-- == 0) {
            throw std::runtime_error("of the test");
        }
    }
    void operator()(int) const {}
    int* copiesLeft;
};

TYPED_TEST(HeterCallbackListTest, FailedCopyAssignmentChangesNothing) {
    typename TestFixture::List source;
    int copies = 100;
    source.append(this->note(1));
    source.append(Brittle(copies));
    typename TestFixture::List target;
    const auto kept = target.append(this->note(2));
    copies = 0;
    EXPECT_THROW(target = source, std::runtime_error);
    EXPECT_TRUE(target.ownsHandle(kept));
    EXPECT_EQ(this->callBoth(target), (Numbers{2}));
}

#endif

}  // namespace
}  // namespace sluice
