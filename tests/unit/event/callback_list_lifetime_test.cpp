#include "event_suites.hpp"

#include <sluice/event/callback_list.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

// When callbacks are destroyed, and lists that end inside their own calls.

namespace sluice {
namespace {

template <class Policies>
class CallbackListLifetimeTest : public testing::Test {
protected:
    using List = CallbackList<void(), Policies>;
    using Handle = typename List::Handle;
};
TYPED_TEST_SUITE(CallbackListLifetimeTest, test::CommonPolicies, test::PolicyNames);

/// Calls a function when it is destroyed; copies of it share that.
class AtEnd {
public:
    explicit AtEnd(std::function<void()> work)
        : work_(new std::function<void()>(std::move(work)), [](std::function<void()>* ended) {
              const std::unique_ptr<std::function<void()>> owner(ended);
              (*owner)();
          }) {}
    void operator()() const {}

private:
    std::shared_ptr<std::function<void()>> work_;
};

// ---- when a callback is destroyed

TYPED_TEST(CallbackListLifetimeTest, RemovedCallbackIsDestroyedAtOnceOutsideOfCalls) {
    typename TestFixture::List list;
    const auto captured = std::make_shared<int>(1);
    const auto handle = list.append([captured] {});
    EXPECT_EQ(captured.use_count(), 2);
    EXPECT_TRUE(list.remove(handle));
    EXPECT_EQ(captured.use_count(), 1);
}

TYPED_TEST(CallbackListLifetimeTest, SoIsItAfterTheListWasCalled) {
    typename TestFixture::List list;
    const auto captured = std::make_shared<int>(1);
    for (int i = 0; i < 10; ++i) {
        const auto handle = list.append([captured] {});
        list();
        EXPECT_TRUE(list.remove(handle));
        EXPECT_EQ(captured.use_count(), 1);
    }
}

TYPED_TEST(CallbackListLifetimeTest, CallbackThatRemovesItselfIsDestroyedWhenTheCallEnds) {
    typename TestFixture::List list;
    const auto captured = std::make_shared<int>(1);
    typename TestFixture::Handle handle;
    handle = list.append([&list, &handle, captured] {
        EXPECT_TRUE(list.remove(handle));
        EXPECT_EQ(captured.use_count(), 2);
    });
    list();
    EXPECT_EQ(captured.use_count(), 1);
}

TYPED_TEST(CallbackListLifetimeTest, InnerCallDestroysNothingThatTheOuterOneUses) {
    typename TestFixture::List list;
    const auto captured = std::make_shared<int>(1);
    typename TestFixture::Handle handle;
    int depth = 0;
    handle = list.append([&, captured] {
        if (++depth == 1) {
            list();
            EXPECT_FALSE(handle);
            EXPECT_EQ(captured.use_count(), 2);
        } else {
            EXPECT_TRUE(list.remove(handle));
        }
    });
    list();
    EXPECT_EQ(captured.use_count(), 1);
}

TYPED_TEST(CallbackListLifetimeTest, ClearAssignmentAndDestructionDestroyTheCallbacks) {
    const auto captured = std::make_shared<int>(1);
    std::optional<typename TestFixture::List> list(std::in_place);
    const auto add = [&] {
        for (int i = 0; i < 3; ++i) {
            list->append([captured] {});
        }
    };
    add();
    list->clear();
    EXPECT_EQ(captured.use_count(), 1);
    add();
    *list = {};
    EXPECT_EQ(captured.use_count(), 1);
    add();
    *list = typename TestFixture::List(*list);
    EXPECT_EQ(captured.use_count(), 4);
    list.reset();
    EXPECT_EQ(captured.use_count(), 1);
}

TYPED_TEST(CallbackListLifetimeTest, RvaluesAreMovedInAndLvaluesCopiedOnce) {
    typename TestFixture::List list;
    const auto captured = std::make_shared<int>(1);
    typename TestFixture::List::Callback callback = [captured] {};
    list.append(callback);
    EXPECT_EQ(captured.use_count(), 3);
    list.append(std::move(callback));
    EXPECT_EQ(captured.use_count(), 3);
}

// ---- lists that end inside their own calls

TYPED_TEST(CallbackListLifetimeTest, CallbackMayDestroyItsList) {
    auto list = std::make_unique<typename TestFixture::List>();
    const auto captured = std::make_shared<int>(0);
    list->append([&list, captured] {
        list.reset();
        EXPECT_GE(captured.use_count(), 2) << "a callback that runs is kept";
        ++*captured;
    });
    list->append([captured] { *captured += 100; });
    (*list)();
    EXPECT_EQ(*captured, 1);
    EXPECT_EQ(captured.use_count(), 1);
}

TYPED_TEST(CallbackListLifetimeTest, InnerCallMayDestroyTheListOfTheOuterOne) {
    auto list = std::make_unique<typename TestFixture::List>();
    const auto captured = std::make_shared<int>(0);
    int depth = 0;
    list->append([&, captured] {
        if (++depth == 1) {
            (*list)();
        } else {
            list.reset();
        }
        ++*captured;
    });
    list->append([captured] { *captured += 100; });
    (*list)();
    EXPECT_EQ(*captured, 2);
    EXPECT_EQ(captured.use_count(), 1);
}

TYPED_TEST(CallbackListLifetimeTest, ForEachMayDestroyItsList) {
    auto list = std::make_unique<typename TestFixture::List>();
    list->append([] {});
    list->append([] {});
    int visits = 0;
    list->forEach([&](typename TestFixture::List::Callback&) {
        ++visits;
        list.reset();
    });
    EXPECT_EQ(visits, 1);
}

TYPED_TEST(CallbackListLifetimeTest, CallbackMayAssignToItsList) {
    typename TestFixture::List list;
    typename TestFixture::List other;
    int calls = 0;
    other.append([&calls] { calls += 10; });
    list.append([&] {
        ++calls;
        list = other;
    });
    list.append([&calls] { calls += 100; });
    list();
    EXPECT_EQ(calls, 1);
    list();
    EXPECT_EQ(calls, 11);
}

// A list that is owned by its own callbacks lives until the last of them is destroyed.
TYPED_TEST(CallbackListLifetimeTest, ListMayBeOwnedByItsOwnCallback) {
    const auto captured = std::make_shared<int>(0);
    auto list = std::make_shared<typename TestFixture::List>();
    std::weak_ptr<typename TestFixture::List> watched = list;
    list->append([list, captured] { list->clear(); });
    typename TestFixture::List& reference = *list;
    list.reset();
    EXPECT_FALSE(watched.expired());
    reference();
    EXPECT_TRUE(watched.expired());
    EXPECT_EQ(captured.use_count(), 1);
}

// ---- destructors of callbacks

TYPED_TEST(CallbackListLifetimeTest, DestructorsOfCallbacksMayUseTheList) {
    typename TestFixture::List list;
    int calls = 0;
    const auto other = list.append([&calls] { ++calls; });
    const auto handle = list.append(AtEnd([&] {
        list();
        EXPECT_TRUE(list.remove(other));
        list.append([&calls] { calls += 10; });
    }));
    EXPECT_TRUE(list.remove(handle));
    EXPECT_EQ(calls, 1);
    EXPECT_FALSE(other);
    list();
    EXPECT_EQ(calls, 11);
}

TYPED_TEST(CallbackListLifetimeTest, DestructorsOfCallbacksMayAddDuringClear) {
    typename TestFixture::List list;
    int calls = 0;
    list.append(AtEnd([&] { list.append([&calls] { ++calls; }); }));
    list.append([] {});
    list.clear();
    EXPECT_FALSE(list.empty());
    list();
    EXPECT_EQ(calls, 1);
}

TYPED_TEST(CallbackListLifetimeTest, DestructorsOfCallbacksMayDestroyTheList) {
    auto list = std::make_unique<typename TestFixture::List>();
    const auto handle = list->append(AtEnd([&] { list.reset(); }));
    list->append([] {});
    EXPECT_TRUE(list->remove(handle));
    EXPECT_EQ(list, nullptr);
}

TYPED_TEST(CallbackListLifetimeTest, LongChainOfRemovingDestructorsNeedsNoDeepStack) {
    constexpr std::size_t length = 100000;
    typename TestFixture::List list;
    std::vector<typename TestFixture::Handle> handles(length);
    std::size_t destroyed = 0;
    for (std::size_t i = 0; i < length; ++i) {
        handles[i] = list.append(AtEnd([&, i] {
            ++destroyed;
            if (i + 1 < length) {
                list.remove(handles[i + 1]);
            }
        }));
    }
    EXPECT_TRUE(list.remove(handles[0]));
    EXPECT_EQ(destroyed, length);
    EXPECT_TRUE(list.empty());
}

TYPED_TEST(CallbackListLifetimeTest, LongChainOfListsThatOwnListsNeedsNoDeepStack) {
    std::shared_ptr<typename TestFixture::List> first;
    for (int i = 0; i < 100000; ++i) {
        auto next = std::make_shared<typename TestFixture::List>();
        next->append([owned = std::move(first)] {});
        first = std::move(next);
    }
    first.reset();
}

TYPED_TEST(CallbackListLifetimeTest, CallThatRemovesAllFrontToBackAndStopsLeavesNoChain) {
    constexpr int length = 100000;
    typename TestFixture::List list;
    std::vector<typename TestFixture::Handle> handles;
    const auto captured = std::make_shared<int>(0);
    for (int i = 0; i < length; ++i) {
        handles.push_back(list.append([captured] {}));
    }
    EXPECT_FALSE(list.forEachIf([&](typename TestFixture::List::Callback&) {
        for (const auto& handle : handles) {
            EXPECT_TRUE(list.remove(handle));
        }
        return false;
    }));
    EXPECT_EQ(captured.use_count(), 1);
}

// ---- waiting for a callback

TYPED_TEST(CallbackListLifetimeTest, RemoveAndWaitReturnsAtOnceWhenNobodyCalls) {
    typename TestFixture::List list;
    const auto handle = list.append([] {});
    EXPECT_TRUE(list.removeAndWait(handle));
    EXPECT_FALSE(list.removeAndWait(handle));
    EXPECT_FALSE(list.removeAndWait(typename TestFixture::Handle()));
}

}  // namespace
}  // namespace sluice
