#include "event_suites.hpp"

#include <sluice/event/callback_list.hpp>

#include <gtest/gtest.h>

#if defined(__cpp_exceptions)

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

// Exceptions from callbacks, from their copy constructors and from user code around them.

namespace sluice {
namespace {

using Numbers = std::vector<int>;

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

TYPED_TEST(CallbackListExceptionTest, ExceptionOfACallbackEndsTheCallAndKeepsTheList) {
    typename TestFixture::List list;
    Numbers called;
    bool fails = true;
    list.append([&called] { called.push_back(1); });
    list.append([&] {
        called.push_back(2);
        if (fails) {
            throw Failure();
        }
    });
    list.append([&called] { called.push_back(3); });
    EXPECT_THROW(list(), Failure);
    EXPECT_EQ(called, (Numbers{1, 2}));
    fails = false;
    called.clear();
    list();
    EXPECT_EQ(called, (Numbers{1, 2, 3}));
}

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

TYPED_TEST(CallbackListExceptionTest, ExceptionMayPassThroughNestedCallsAndADestroyedList) {
    auto list = std::make_unique<typename TestFixture::List>();
    const auto captured = std::make_shared<int>(0);
    int depth = 0;
    list->append([&, captured] {
        if (++depth == 3) {
            list.reset();
            throw Failure();
        }
        (*list)();
    });
    EXPECT_THROW((*list)(), Failure);
    EXPECT_EQ(captured.use_count(), 1);
}

TYPED_TEST(CallbackListExceptionTest, ExceptionOfForEachKeepsTheList) {
    typename TestFixture::List list;
    list.append([] {});
    list.append([] {});
    EXPECT_THROW(list.forEach([](typename TestFixture::List::Callback&) { throw Failure(); }),
                 Failure);
    EXPECT_EQ(this->sizeOf(list), 2U);
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

// Says when to go on by throwing.
template <class Policies>
struct ThrowingGate : Policies {
    static bool canContinueInvoking(int n) {
        if (n < 0) {
            throw Failure();
        }
        return n != 0;
    }
};

TYPED_TEST(CallbackListExceptionTest, ExceptionOfThePolicyEndsTheCall) {
    CallbackList<void(int), ThrowingGate<TypeParam>> list;
    int calls = 0;
    list.append([&calls](int) { ++calls; });
    list.append([&calls](int) { ++calls; });
    EXPECT_THROW(list(-1), Failure);
    EXPECT_EQ(calls, 1);
    list(1);
    EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace sluice

#endif
