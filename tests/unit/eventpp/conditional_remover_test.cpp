#include <sluice/eventpp/conditional_remover.hpp>

#include <support/crew.hpp>
#include <support/rendezvous.hpp>

#include "listener_hubs.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using List = CallbackList<void(int)>;

template <class Hub>
class ConditionalRemoverTest : public ::testing::Test {};
TYPED_TEST_SUITE(ConditionalRemoverTest, test::Hubs, );

TYPED_TEST(ConditionalRemoverTest, TheCallOnWhichTheConditionHoldsIsTheLast) {
    using Counts = std::array<int, 4>;
    typename TypeParam::Target target;
    Counts counts{};
    // True on the given call.
    const auto onCall = [](int number) {
        return [number, calls = 0]() mutable { return ++calls == number; };
    };
    TypeParam::append(target, [&counts](int) { ++counts[0]; });
    for (std::size_t i = 1; i < counts.size(); ++i) {
        TypeParam::append(
            conditionalRemover(target), [&counts, i](int) { ++counts[i]; },
            onCall(static_cast<int>(i) + 1));
    }
    TypeParam::fire(target);
    EXPECT_EQ(counts, (Counts{1, 1, 1, 1}));
    TypeParam::fire(target);
    EXPECT_EQ(counts, (Counts{2, 2, 2, 2}));
    TypeParam::fire(target);
    EXPECT_EQ(counts, (Counts{3, 2, 3, 3}));
    TypeParam::fire(target);
    EXPECT_EQ(counts, (Counts{4, 2, 3, 4}));
    TypeParam::fire(target);
    EXPECT_EQ(counts, (Counts{5, 2, 3, 4}));
}

TYPED_TEST(ConditionalRemoverTest, TheConditionSeesTheArgumentsIfItTakesThem) {
    typename TypeParam::Target target;
    std::vector<int> seen;
    TypeParam::append(
        conditionalRemover(target), [&seen](int n) { seen.push_back(n); },
        [](int n) { return n == 3; });
    for (int n = 1; n < 6; ++n) {
        TypeParam::fire(target, n);
    }
    EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
}

TYPED_TEST(ConditionalRemoverTest, AddsAtTheEndTheBeginningAndInFrontOfAnother) {
    typename TypeParam::Target target;
    std::vector<int> order;
    ConditionalRemover<typename TypeParam::Target> remover(target);
    const auto never = [] { return false; };
    const auto last = TypeParam::append(
        remover, [&order](int) { order.push_back(3); }, never);
    TypeParam::prepend(
        remover, [&order](int) { order.push_back(1); }, never);
    TypeParam::insert(
        remover, [&order](int) { order.push_back(2); }, last, never);
    TypeParam::fire(target);
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TYPED_TEST(ConditionalRemoverTest, TheListenerIsRemovedBeforeItsLastCall) {
    typename TypeParam::Target target;
    typename TypeParam::Handle handle;
    std::vector<bool> alive;
    int calls = 0;
    handle = TypeParam::append(
        conditionalRemover(target),
        [&](int) {
            ++calls;
            alive.push_back(static_cast<bool>(handle));
            TypeParam::fire(target, 2);
        },
        [](int n) { return n == 2; });
    TypeParam::fire(target, 1);
    EXPECT_EQ(alive, (std::vector<bool>{true, false}));
    EXPECT_EQ(calls, 2);
    EXPECT_TRUE(TypeParam::isEmpty(target));
}

TYPED_TEST(ConditionalRemoverTest, ANullListenerIsNotAdded) {
    typename TypeParam::Target target;
    const auto never = [] { return false; };
    EXPECT_FALSE(TypeParam::append(conditionalRemover(target), std::function<void(int)>(), never));
    EXPECT_TRUE(TypeParam::isEmpty(target));
}

TEST(ConditionalRemoverListTest, TheConditionIsAskedWithLvaluesAndMovesNothing) {
    CallbackList<void(std::string)> list;
    std::string seen;
    conditionalRemover(list).append(
        [&seen](std::string text) { seen = std::move(text); },
        [](std::string text) { return std::string(std::move(text)).empty(); });
    list("a text that is too long for the object itself");
    EXPECT_EQ(seen, "a text that is too long for the object itself");
}

TEST(ConditionalRemoverListTest, AConditionThatTakesBothGetsTheArguments) {
    List list;
    int calls = 0;
    conditionalRemover(list).append([&calls](int) { ++calls; },
                                    [](const auto&... args) { return sizeof...(args) == 1; });
    list(0);
    list(0);
    EXPECT_EQ(calls, 1);
}

TEST(ConditionalRemoverListTest, ACopyOfTheTargetSharesTheEnd) {
    int calls = 0;
    int asked = 0;
    List copy;
    {
        List list;
        conditionalRemover(list).append([&calls](int) { ++calls; },
                                        [&asked] { return ++asked > 1; });
        copy = list;
        list(0);
        copy(0);
    }
    copy(0);
    copy(0);
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(asked, 2);
}

TEST(ConditionalRemoverListTest, ThreadsThatCallAtOnceEndTheListenerOnce) {
    List list;
    std::atomic<int> calls{0};
    test::Rendezvous bothAsked;
    conditionalRemover(list).append([&calls](int) { ++calls; },
                                    [&bothAsked] {
                                        bothAsked.arrive();
                                        return true;
                                    });
    {
        test::Crew crew;
        crew.add([&list] { list(0); });
        crew.add([&list] { list(0); });
    }
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(list.empty());
}

#if defined(__cpp_exceptions)
TEST(ConditionalRemoverListTest, AThrowingConditionLeavesTheListenerUncalled) {
    List list;
    int calls = 0;
    conditionalRemover(list).append(
        [&calls](int) { ++calls; },
        [](int n) -> bool { return n == 0 ? throw std::runtime_error("condition") : false; });
    EXPECT_THROW(list(0), std::runtime_error);
    EXPECT_EQ(calls, 0);
    list(1);
    EXPECT_EQ(calls, 1);
}
#endif

TEST(ConditionalRemoverOfAListTest, ANullFunctionPointerIsNotAdded) {
    List list;
    void (*const nothing)(int) = nullptr;
    EXPECT_FALSE(conditionalRemover(list).append(nothing, [] { return true; }));
    EXPECT_TRUE(list.empty());
}

}  // namespace
}  // namespace sluice
