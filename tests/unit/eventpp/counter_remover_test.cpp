#include <sluice/eventpp/counter_remover.hpp>

#include <support/crew.hpp>
#include <support/scale.hpp>

#include "listener_hubs.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using List = CallbackList<void(int)>;

template <class Hub>
class CounterRemoverTest : public ::testing::Test {};
TYPED_TEST_SUITE(CounterRemoverTest, test::Hubs, );

TYPED_TEST(CounterRemoverTest, ListenersRunExactlyAsOftenAsTheirCount) {
    using Counts = std::array<int, 4>;
    typename TypeParam::Target target;
    Counts counts{};
    TypeParam::append(target, [&counts](int) { ++counts[0]; });
    TypeParam::append(counterRemover(target), [&counts](int) { ++counts[1]; });
    TypeParam::append(
        counterRemover(target), [&counts](int) { ++counts[2]; }, 2);
    TypeParam::append(
        counterRemover(target), [&counts](int) { ++counts[3]; }, 3);
    TypeParam::fire(target);
    EXPECT_EQ(counts, (Counts{1, 1, 1, 1}));
    TypeParam::fire(target);
    EXPECT_EQ(counts, (Counts{2, 1, 2, 2}));
    TypeParam::fire(target);
    EXPECT_EQ(counts, (Counts{3, 1, 2, 3}));
    TypeParam::fire(target);
    EXPECT_EQ(counts, (Counts{4, 1, 2, 3}));
}

TYPED_TEST(CounterRemoverTest, AddsAtTheEndTheBeginningAndInFrontOfAnother) {
    typename TypeParam::Target target;
    std::vector<int> order;
    CounterRemover<typename TypeParam::Target> remover(target);
    const auto last = TypeParam::append(
        remover, [&order](int) { order.push_back(3); }, 2);
    TypeParam::prepend(
        remover, [&order](int) { order.push_back(1); }, 2);
    TypeParam::insert(
        remover, [&order](int) { order.push_back(2); }, last, 2);
    TypeParam::insert(
        remover, [&order](int) { order.push_back(9); }, last);
    TypeParam::fire(target);
    EXPECT_EQ(order, (std::vector<int>{1, 2, 9, 3}));
    TypeParam::fire(target);
    TypeParam::fire(target);
    EXPECT_EQ(order, (std::vector<int>{1, 2, 9, 3, 1, 2, 3}));
}

TYPED_TEST(CounterRemoverTest, TheListenerIsRemovedBeforeItsLastCall) {
    typename TypeParam::Target target;
    typename TypeParam::Handle handle;
    std::vector<bool> alive;
    handle = TypeParam::append(
        counterRemover(target), [&](int) { alive.push_back(static_cast<bool>(handle)); }, 2);
    EXPECT_TRUE(handle);
    TypeParam::fire(target);
    TypeParam::fire(target);
    EXPECT_EQ(alive, (std::vector<bool>{true, false}));
    EXPECT_TRUE(TypeParam::isEmpty(target));
}

TYPED_TEST(CounterRemoverTest, AListenerThatCallsTheTargetAgainStillHasItsCount) {
    typename TypeParam::Target target;
    int calls = 0;
    TypeParam::append(
        counterRemover(target),
        [&](int) {
            ++calls;
            TypeParam::fire(target);
        },
        4);
    TypeParam::fire(target);
    EXPECT_EQ(calls, 4);
}

TYPED_TEST(CounterRemoverTest, ACountBelowOneCountsAsOne) {
    typename TypeParam::Target target;
    std::array<int, 2> calls{};
    TypeParam::append(
        counterRemover(target), [&calls](int) { ++calls[0]; }, 0);
    TypeParam::append(
        counterRemover(target), [&calls](int) { ++calls[1]; }, std::numeric_limits<int>::min());
    TypeParam::fire(target);
    TypeParam::fire(target);
    EXPECT_EQ(calls, (std::array<int, 2>{1, 1}));
}

TYPED_TEST(CounterRemoverTest, TheHandleRemovesTheListenerEarly) {
    typename TypeParam::Target target;
    int calls = 0;
    const auto handle = TypeParam::append(
        counterRemover(target), [&calls](int) { ++calls; }, 5);
    TypeParam::fire(target);
    EXPECT_TRUE(TypeParam::remove(target, handle));
    TypeParam::fire(target);
    EXPECT_EQ(calls, 1);
}

TYPED_TEST(CounterRemoverTest, AMovedTargetRemovesListenersThatRunOut) {
    typename TypeParam::Target source;
    int calls = 0;
    TypeParam::append(
        counterRemover(source), [&calls](int) { ++calls; }, 2);
    TypeParam::fire(source);
    typename TypeParam::Target target(std::move(source));
    TypeParam::fire(target);
    TypeParam::fire(target);
    EXPECT_EQ(calls, 2);
    EXPECT_TRUE(TypeParam::isEmpty(target));
}

TYPED_TEST(CounterRemoverTest, ANullListenerIsNotAdded) {
    typename TypeParam::Target target;
    EXPECT_FALSE(TypeParam::append(counterRemover(target), std::function<void(int)>()));
    EXPECT_FALSE(TypeParam::append(counterRemover(target), static_cast<void (*)(int)>(nullptr)));
    EXPECT_TRUE(TypeParam::isEmpty(target));
    TypeParam::fire(target);
}

void countTwice(int& count) {
    count += 2;
}

TEST(CounterRemoverListTest, TakesFunctionsAndMovesListenersIn) {
    CallbackList<void(int&)> list;
    counterRemover(list).append(countTwice);
    auto owned = std::make_shared<int>(10);
    auto listener = [owned](int& count) { count += *owned; };
    counterRemover(list).append(std::move(listener));
    EXPECT_EQ(owned.use_count(), 2);
    int count = 0;
    list(count);
    list(count);
    EXPECT_EQ(count, 12);
    EXPECT_EQ(owned.use_count(), 1) << "the removed listener has gone";
}

TEST(CounterRemoverListTest, ACopyOfTheTargetSharesTheCount) {
    int calls = 0;
    List copy;
    {
        List list;
        counterRemover(list).append([&calls](int) { ++calls; }, 3);
        copy = list;
        list(0);
        copy(0);
    }
    for (int i = 0; i < 5; ++i) {
        copy(0);
    }
    EXPECT_EQ(calls, 3);
}

/// Calls each added callback before it returns the handle, as another thread might.
struct EagerList : TagCallbackList {
    using Handle = List::Handle;

    template <class Callback>
    Handle append(const Callback& callback) {
        static_assert(std::is_invocable_v<const Callback&, char>);
        static_assert(!std::is_invocable_v<const Callback&, std::string>);
        callback(1);
        callback(2);
        return inner.append(callback);
    }
    template <class Callback>
    Handle prepend(const Callback& callback) {
        return append(callback);
    }
    template <class Callback>
    Handle insert(const Callback& callback, const Handle&) {
        return append(callback);
    }

    List inner;
};

TEST(CounterRemoverListTest, AListenerThatRunsOutBeforeItsHandleIsKnownIsRemoved) {
    EagerList list;
    std::vector<int> seen;
    EXPECT_FALSE(counterRemover(list).append([&seen](int n) { seen.push_back(n); }));
    EXPECT_EQ(seen, (std::vector<int>{1}));
    EXPECT_TRUE(list.inner.empty());
    EXPECT_TRUE(counterRemover(list).append([&seen](int n) { seen.push_back(n); }, 3));
    list.inner(3);
    EXPECT_TRUE(list.inner.empty());
    EXPECT_EQ(seen, (std::vector<int>{1, 1, 2, 3}));
}

TEST(CounterRemoverListTest, ThreadsThatCallAtOnceShareTheCountExactly) {
    constexpr int count = static_cast<int>(test::scaled(400'000));
    List list;
    std::atomic<int> calls{0};
    counterRemover(list).append([&calls](int) { ++calls; }, count);
    {
        test::Crew crew;
        for (int thread = 0; thread < 2; ++thread) {
            crew.add([&list] {
                for (int i = 0; i < count; ++i) {
                    list(i);
                }
            });
        }
    }
    EXPECT_EQ(calls, count);
    EXPECT_TRUE(list.empty());
}

TEST(CounterRemoverListTest, ListenersMayBeAddedWhileThreadsCall) {
    List list;
    std::atomic<int> calls{0};
    std::atomic<bool> isDone{false};
    const int listeners = static_cast<int>(test::scaled(20'000));
    {
        test::Crew crew;
        crew.add([&] {
            while (!isDone) {
                list(0);
            }
        });
        crew.start();
        for (int i = 0; i < listeners; ++i) {
            counterRemover(list).append([&calls](int) { ++calls; });
        }
        isDone = true;
    }
    list(0);
    EXPECT_EQ(calls, listeners);
    EXPECT_TRUE(list.empty());
}

#if defined(__cpp_exceptions)
TEST(CounterRemoverListTest, ACallThatThrowsCounts) {
    List list;
    counterRemover(list).append([](int) { throw std::runtime_error("listener"); }, 2);
    EXPECT_THROW(list(0), std::runtime_error);
    EXPECT_THROW(list(0), std::runtime_error);
    EXPECT_NO_THROW(list(0));
    EXPECT_TRUE(list.empty());
}
#endif

TEST(CounterRemoverOfAListTest, ANullFunctionPointerIsNotAdded) {
    List list;
    void (*const nothing)(int) = nullptr;
    EXPECT_FALSE(counterRemover(list).append(nothing));
    EXPECT_TRUE(list.empty());
}

}  // namespace
}  // namespace sluice
