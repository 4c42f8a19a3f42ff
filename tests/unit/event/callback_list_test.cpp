#include "event_suites.hpp"

#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>
#include <sluice/fixed/fixed_function.hpp>

#include "support/testing.hpp"

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

// ---- arguments

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

// ---- Features of a callback list that eventpp's does not have.

using List = CallbackList<void()>;

TEST(CallbackPriorityTest, HigherOnesComeFirstAndEqualOnesInOrder) {
    List list;
    std::string order;
    const auto adding = [&order](char name) { return [&order, name] { order += name; }; };
    list.insertByPriority(adding('c'), 0);
    list.insertByPriority(adding('a'), 5);
    list.insertByPriority(adding('e'), -1);
    list.append(adding('f'));
    list.insertByPriority(adding('b'), 5);
    list.insertByPriority(adding('d'), 0);
    list();
    EXPECT_EQ(order, "abcefd") << "append() puts a callback behind lower ones, too";
}

TEST(CallbackHandleTest, IsEnoughToRemove) {
    List list;
    const auto handle = list.append([] {});
    List moved(std::move(list));
    EXPECT_TRUE(handle.remove()) << "from where the callback is now";
    EXPECT_TRUE(moved.empty());
    EXPECT_FALSE(handle.remove());
    EXPECT_FALSE(List::Handle().remove());
}

// ---- Lists as values: copied, moved, swapped, assigned.

template <class Policies>
class CallbackListValueTest : public testing::Test {
protected:
    using List = CallbackList<void(Numbers&), Policies>;
    using Handle = typename List::Handle;

    static auto note(int number) {
        return [number](Numbers& called) { called.push_back(number); };
    }

    static List make(int first, int last) {
        List list;
        for (int i = first; i <= last; ++i) {
            list.append(note(i));
        }
        return list;
    }

    static Numbers call(const List& list) {
        Numbers called;
        list(called);
        return called;
    }

    static std::vector<Handle> handlesOf(const List& list) {
        std::vector<Handle> handles;
        list.forEach([&handles](const Handle& handle, typename List::Callback&) {
            handles.push_back(handle);
        });
        return handles;
    }
};
TYPED_TEST_SUITE(CallbackListValueTest, test::CommonPolicies, test::PolicyNames);

TYPED_TEST(CallbackListValueTest, CopyIsDeepAndIndependent) {
    auto original = this->make(1, 3);
    auto copy = original;
    EXPECT_EQ(this->call(copy), (Numbers{1, 2, 3}));
    copy.append(this->note(4));
    original.remove(this->handlesOf(original).front());
    EXPECT_EQ(this->call(original), (Numbers{2, 3}));
    EXPECT_EQ(this->call(copy), (Numbers{1, 2, 3, 4}));
    EXPECT_FALSE(copy.remove(this->handlesOf(original).front()));
}

TYPED_TEST(CallbackListValueTest, CopyKeepsThePriorities) {
    typename TestFixture::List original;
    original.insertByPriority(this->note(1), 1);
    original.insertByPriority(this->note(5), 5);
    original.insertByPriority(this->note(-1), -1);
    auto copy = original;
    copy.insertByPriority(this->note(3), 3);
    EXPECT_EQ(this->call(copy), (Numbers{5, 3, 1, -1}));
}

TYPED_TEST(CallbackListValueTest, AssigningToItselfKeepsTheVeryNodes) {
    auto list = this->make(1, 3);
    const auto handles = this->handlesOf(list);
    auto& self = list;
    list = self;
    EXPECT_EQ(this->handlesOf(list), handles);
    list = std::move(self);
    EXPECT_EQ(this->handlesOf(list), handles);
    EXPECT_EQ(this->call(list), (Numbers{1, 2, 3}));
}

TYPED_TEST(CallbackListValueTest, MovedFromIsEmptyAndUsable) {
    auto source = this->make(1, 2);
    auto target = std::move(source);
    EXPECT_TRUE(source.empty());
    EXPECT_EQ(this->call(source), Numbers());
    EXPECT_EQ(this->call(target), (Numbers{1, 2}));
    source.append(this->note(5));
    EXPECT_EQ(this->call(source), (Numbers{5}));
    target = std::move(source);
    EXPECT_TRUE(source.empty());
    EXPECT_EQ(this->call(target), (Numbers{5}));
    source.prepend(this->note(6));
    EXPECT_EQ(this->call(source), (Numbers{6}));
}

TYPED_TEST(CallbackListValueTest, SwapsWithItselfEmptyAndFull) {
    auto full = this->make(1, 3);
    const auto handles = this->handlesOf(full);
    full.swap(full);
    EXPECT_EQ(this->handlesOf(full), handles);
    typename TestFixture::List empty;
    swap(full, empty);
    EXPECT_TRUE(full.empty());
    EXPECT_EQ(this->handlesOf(empty), handles);
    auto other = this->make(7, 8);
    using std::swap;
    swap(empty, other);
    EXPECT_EQ(this->call(empty), (Numbers{7, 8}));
    EXPECT_EQ(this->handlesOf(other), handles);
    empty.append(this->note(9));
    other.prepend(this->note(0));
    EXPECT_EQ(this->call(empty), (Numbers{7, 8, 9}));
    EXPECT_EQ(this->call(other), (Numbers{0, 1, 2, 3}));
}

TYPED_TEST(CallbackListValueTest, CopyMadeInACallHasWhatIsThereThen) {
    typename TestFixture::List list;
    typename TestFixture::List copy;
    list.append([&](Numbers&) {
        list.append(this->note(2));
        copy = list;
        list.clear();
    });
    Numbers called;
    list(called);
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(called, Numbers());
    EXPECT_EQ(this->handlesOf(copy).size(), 2U) << "the copying began after the addition";
}

template <class Policies>
class CallbackListHandleTest : public testing::Test {
protected:
    using List = CallbackList<void(), Policies>;
    using Handle = typename List::Handle;

    static std::size_t sizeOf(const List& list) {
        std::size_t size = 0;
        list.forEach([&size](typename List::Callback&) { ++size; });
        return size;
    }
};
TYPED_TEST_SUITE(CallbackListHandleTest, test::CommonPolicies, test::PolicyNames);

TYPED_TEST(CallbackListHandleTest, SpeaksTheVocabularyOfWeakPointers) {
    typename TestFixture::List list;
    auto first = list.append([] {});
    typename TestFixture::Handle second = list.append([] {});
    typename TestFixture::Handle none;
    std::set<typename TestFixture::Handle> handles{first, second, first};
#if defined(__GLIBCXX__)  // other libraries pass only their own pointers
    EXPECT_TRUE(std::owner_less<>()(none, first));
#endif
    EXPECT_EQ(handles.size(), 2U);
    EXPECT_EQ(handles.count(none), 0U);
    EXPECT_EQ(first.use_count(), 1);
    EXPECT_TRUE(first.lock() != nullptr);
    EXPECT_TRUE(none.lock() == nullptr);
    first.swap(none);
    EXPECT_FALSE(first);
    EXPECT_TRUE(list.remove(none));
    EXPECT_EQ(none.use_count(), 0);
    EXPECT_TRUE(none.lock() == nullptr);
}

TYPED_TEST(CallbackListHandleTest, ForeignHandlesAreRefusedAndCorruptNothing) {
    typename TestFixture::List mine;
    typename TestFixture::List other;
    mine.append([] {});
    const auto foreign = other.append([] {});
    other.append([] {});
    EXPECT_FALSE(mine.remove(foreign));
    EXPECT_FALSE(mine.ownsHandle(foreign));
    EXPECT_TRUE(foreign);
    EXPECT_TRUE(mine.insert([] {}, foreign));
    EXPECT_EQ(this->sizeOf(mine), 2U);
    EXPECT_EQ(this->sizeOf(other), 2U);
    EXPECT_TRUE(other.remove(foreign));
    EXPECT_EQ(this->sizeOf(other), 1U);
}

TYPED_TEST(CallbackListHandleTest, MovesWithTheCallbackToAnotherList) {
    typename TestFixture::List source;
    const auto handle = source.append([] {});
    typename TestFixture::List target(std::move(source));
    EXPECT_TRUE(handle);
    EXPECT_FALSE(source.remove(handle));
    EXPECT_TRUE(target.ownsHandle(handle));
    EXPECT_TRUE(target.insert([] {}, handle));
    EXPECT_TRUE(target.remove(handle));
    EXPECT_EQ(this->sizeOf(target), 1U);
}

// The memory of a callback is not used for another one as long as a handle names it.
TYPED_TEST(CallbackListHandleTest, NeverNamesALaterCallback) {
    typename TestFixture::List list;
    std::vector<typename TestFixture::Handle> old;
    for (int i = 0; i < 200; ++i) {
        old.push_back(list.append([] {}));
        EXPECT_TRUE(list.remove(old.back()));
        const auto next = list.append([] {});
        for (const auto& handle : old) {
            EXPECT_FALSE(handle);
            EXPECT_NE(handle, next);
        }
        EXPECT_TRUE(list.remove(next));
    }
}

// ---- Callbacks that add callbacks and call lists.

template <class Policies>
class CallbackListReentrancyTest : public testing::Test {
protected:
    using List = CallbackList<void(), Policies>;
    using Handle = typename List::Handle;
};
TYPED_TEST_SUITE(CallbackListReentrancyTest, test::AllPolicies, test::PolicyNames);

TYPED_TEST(CallbackListReentrancyTest, CopiedCallbackMayUseTheListItIsCopiedInto) {
    struct Adder {
        explicit Adder(typename TestFixture::List& ownList) : list(&ownList) {}
        Adder(const Adder& other) : list(other.list) {
            list->append([] {});
        }
        void operator()() const {}
        typename TestFixture::List* list;
    };
    typename TestFixture::List list;
    const typename TestFixture::List::Callback callback{Adder(list)};
    list.clear();
    list.append(callback);
    int count = 0;
    list.forEach([&count](typename TestFixture::List::Callback&) { ++count; });
    EXPECT_EQ(count, 2);
}

}  // namespace
}  // namespace sluice

#if defined(__cpp_exceptions)

// Exceptions from callbacks, from their copy constructors and from user code around them.

namespace sluice {
namespace {

struct Failure : std::runtime_error {
    Failure() : std::runtime_error("of the test") {}
};

/// A callback that throws when it is copied as often as it was told to.
struct Brittle {
    explicit Brittle(int& ownCopies) : copiesLeft(&ownCopies) {}
    Brittle(const Brittle& other) : copiesLeft(other.copiesLeft) {
        if ((*copiesLeft)-- == 0) {
            throw Failure();
        }
    }
    Brittle(Brittle&&) noexcept = default;
    void operator()() const {}
    int* copiesLeft;
};

template <class Policies>
class CallbackListExceptionTest : public testing::Test {
protected:
    using List = CallbackList<void(), Policies>;

    static std::size_t sizeOf(const List& list) {
        std::size_t size = 0;
        list.forEach([&size](typename List::Callback&) { ++size; });
        return size;
    }
};
TYPED_TEST_SUITE(CallbackListExceptionTest, test::CommonPolicies, test::PolicyNames);

TYPED_TEST(CallbackListExceptionTest, WhatWasRemovedBeforeTheExceptionIsDestroyed) {
    typename TestFixture::List list;
    const auto captured = std::make_shared<int>(0);
    typename TestFixture::List::Handle handle;
    handle = list.append([&, captured] {
        list.remove(handle);
        throw Failure();
    });
    EXPECT_THROW(list(), Failure);
    EXPECT_EQ(captured.use_count(), 1);
    EXPECT_TRUE(list.empty());
}

TYPED_TEST(CallbackListExceptionTest, CallbackThatCannotBeCopiedIsNotAdded) {
    typename TestFixture::List list;
    int copies = 10;
    const typename TestFixture::List::Callback callback{Brittle(copies)};
    const auto present = list.append([] {});
    copies = 0;
    EXPECT_THROW(list.append(callback), Failure);
    copies = 0;
    EXPECT_THROW(list.prepend(callback), Failure);
    copies = 0;
    EXPECT_THROW(list.insert(callback, present), Failure);
    EXPECT_EQ(this->sizeOf(list), 1U);
    copies = 10;
    list.append(callback);
    EXPECT_EQ(this->sizeOf(list), 2U);
}

TYPED_TEST(CallbackListExceptionTest, FailedCopyOfAListChangesNeitherSide) {
    typename TestFixture::List source;
    int copies = 100;
    for (int i = 0; i < 3; ++i) {
        source.append(Brittle(copies));
    }
    typename TestFixture::List target;
    const auto kept = target.append([] {});
    copies = 2;
    EXPECT_THROW(target = source, Failure);
    EXPECT_TRUE(target.ownsHandle(kept));
    EXPECT_EQ(this->sizeOf(target), 1U);
    copies = 1;
    EXPECT_THROW(typename TestFixture::List{source}, Failure);
    EXPECT_EQ(this->sizeOf(source), 3U);
}

}  // namespace
}  // namespace sluice

#endif
