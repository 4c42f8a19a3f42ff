#include "unit/event/event_suites.hpp"

#include <sluice/event/scoped_connection.hpp>
#include <sluice/eventpp/heter_callback_list.hpp>

#include "support/testing.hpp"

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

TYPED_TEST(HeterCallbackListTest, AddsAmongTheCallbacksOfThePrototype) {
    typename TestFixture::List list;
    EXPECT_TRUE(list.empty());
    list.append(this->noteInt(3));
    EXPECT_FALSE(list.empty());
    list.append(this->note(1));
    list.append(this->note(2));
    list.prepend(this->noteInt(4));
    list.prepend(this->note(5));
    EXPECT_EQ(this->callBoth(list), (Numbers{4, 3, 5, 1, 2}));
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

// ---- removal and handles

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
    const auto inner = CallbackList<void()>().append([] {});
    EXPECT_EQ(
        detail::HeterHandle<std::decay_t<decltype(inner)>>(std::in_place_index<0>, inner).index, 0)
        << "one that is removed is not an empty one";
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
    EXPECT_TRUE(handle == typename TestFixture::List::Handle());
    EXPECT_FALSE(list.insert(empty, handle));
    EXPECT_TRUE(list.empty());
}

// ---- as a value

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

// ---- policies

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

// ---- the end

template <class Use>
auto atEnd(Use use) {
    return [kept = std::shared_ptr<void>(nullptr, [use](void*) { use(); })] {};
}

TYPED_TEST(HeterCallbackListTest, TheEndTakesAlongWhatDestructorsAdd) {
    const auto captured = std::make_shared<int>(1);
    auto list = std::make_unique<typename TestFixture::List>();
    const auto addToBoth = [address = list.get(), &captured] {
        address->append([inner = captured] {});
        address->append([inner = captured](int) {});
    };
    list->append(atEnd(addToBoth));
    list->append([kept = atEnd(addToBoth)](int) { kept(); });
    list.reset();
    EXPECT_EQ(captured.use_count(), 1);
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

// ---- which prototype

template <class... P>
using Match = detail::Prototypes<HeterTuple<P...>>;

struct FromInt {
    FromInt(int n) : number(n) {}
    int number;
};

// Asked of the prototypes void(), void(int), void(const std::string&), void(int&, char).
using Four = Match<void(), void(int), void(const std::string&), void(int&, char)>;

TEST(HeterTupleTest, CallableBelongsToTheFirstPrototypeThatCanCallIt) {
    const auto none = [] {};
    const auto number = [](long) {};
    const auto made = [](const FromInt&) {};
    const auto text = [](std::string) {};  // NOLINT(performance-unnecessary-value-param)
    const auto two = [](int&, int) {};
    const auto any = [](auto&&...) {};
    EXPECT_EQ(Four::ofCallable<decltype(none)>(), 0U);
    EXPECT_EQ(Four::ofCallable<decltype(number)>(), 1U);
    EXPECT_EQ(Four::ofCallable<decltype(made)>(), 1U);
    EXPECT_EQ(Four::ofCallable<decltype(text)>(), 2U);
    EXPECT_EQ(Four::ofCallable<decltype(two)&>(), 3U);
    EXPECT_EQ(Four::ofCallable<const decltype(any)&>(), 0U);
    EXPECT_EQ(Four::ofCallable<void (*)(char)>(), 1U);
    EXPECT_EQ(Four::ofCallable<std::function<void(double)>>(), 1U);
}

TEST(HeterTupleTest, CallableThatAnswersWronglyBelongsToALaterOne) {
    using Mixed = Match<bool(int), void(int)>;
    const auto silent = [](int) {};
    const auto answering = [](int) { return true; };
    EXPECT_EQ(Mixed::ofCallable<decltype(silent)>(), 1U);
    EXPECT_EQ(Mixed::ofCallable<decltype(answering)>(), 0U);
}

TEST(HeterTupleTest, ArgumentsBelongToTheFirstPrototypeThatAcceptsThem) {
    EXPECT_EQ(Four::ofArguments<>(), 0U);
    EXPECT_EQ(Four::ofArguments<int>(), 1U);
    EXPECT_EQ(Four::ofArguments<double>(), 1U) << "conversions count";
    EXPECT_EQ(Four::ofArguments<const char*>(), 2U);
    EXPECT_EQ((Four::ofArguments<const char(&)[4]>()), 2U);
    EXPECT_EQ((Four::ofArguments<int&, int>()), 3U);
    using Overlapping = Match<void(long), void(int)>;
    EXPECT_EQ(Overlapping::ofArguments<int>(), 0U) << "the first match, not the best one";
}

TEST(HeterTupleTest, ReferencesAreHonoured) {
    using References = Match<void(int&), void(const int&)>;
    EXPECT_EQ(References::ofArguments<int&>(), 0U);
    EXPECT_EQ(References::ofArguments<int>(), 1U);
    EXPECT_EQ(References::ofArguments<const int&>(), 1U);
    const auto writes = [](int&) {};
    const auto reads = [](const int&) {};
    EXPECT_EQ(References::ofCallable<decltype(writes)>(), 0U);
    EXPECT_EQ(References::ofCallable<decltype(reads)>(), 0U);
}

TEST(HeterTupleTest, PrototypeIsFoundByItselfFirst) {
    using Overlapping = Match<void(long), void(int), void(std::string)>;
    EXPECT_EQ(Overlapping::ofPrototype<void(int)>(), 1U);
    EXPECT_EQ(Overlapping::ofPrototype<void(long)>(), 0U);
    EXPECT_EQ(Overlapping::ofPrototype<void(char)>(), 0U) << "the first that could call it";
    EXPECT_EQ(Overlapping::ofPrototype<int(const std::string&)>(), 2U);
}

}  // namespace
}  // namespace sluice
