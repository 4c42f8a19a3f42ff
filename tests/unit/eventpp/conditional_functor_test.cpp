#include <sluice/eventpp/conditional_functor.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {
namespace {

TEST(ConditionalFunctorTest, CallsTheFunctionOnlyWhenTheConditionHolds) {
    std::vector<int> seen;
    auto even =
        conditionalFunctor([&seen](int n) { seen.push_back(n); }, [](int n) { return n % 2 == 0; });
    for (int n = 1; n <= 6; ++n) {
        even(n);
    }
    EXPECT_EQ(seen, (std::vector<int>{2, 4, 6}));
}

TEST(ConditionalFunctorTest, TheConditionSeesLvaluesAndMovesNothing) {
    std::string got;
    // The condition takes its argument by value. If it got the forwarded argument, the function
    // would get a moved-from text.
    auto functor =
        conditionalFunctor([&got](std::string text) { got = std::move(text); },
                           [](std::string text) { return !std::string(std::move(text)).empty(); });
    functor(std::string("a text that is too long for the object itself"));
    EXPECT_EQ(got, "a text that is too long for the object itself");
    auto greedy = conditionalFunctor([](int&&) {}, [](int&&) { return true; });
    static_assert(!std::is_invocable_v<decltype(greedy)&, int>);
}

TEST(ConditionalFunctorTest, PassesMoveOnlyArgumentsOn) {
    std::unique_ptr<int> got;
    auto functor =
        conditionalFunctor([&got](std::unique_ptr<int> owned) { got = std::move(owned); },
                           [](const std::unique_ptr<int>& owned) { return *owned == 5; });
    functor(std::make_unique<int>(4));
    EXPECT_EQ(got, nullptr);
    functor(std::make_unique<int>(5));
    ASSERT_NE(got, nullptr);
}

TEST(ConditionalFunctorTest, FitsIntoAFunctionWrapperAndKeepsState) {
    int calls = 0;
    std::function<void(int)> wrapped = conditionalFunctor(
        [&calls](int) { ++calls; }, [seen = 0](int) mutable { return ++seen > 2; });
    for (int i = 0; i < 5; ++i) {
        wrapped(i);
    }
    EXPECT_EQ(calls, 3);
}

TEST(ConditionalFunctorTest, TakesOnlyArgumentsThatBothAccept) {
    auto functor = conditionalFunctor([](int) {}, [](int) { return true; });
    static_assert(std::is_invocable_v<decltype(functor)&, int>);
    static_assert(!std::is_invocable_v<decltype(functor)&>);
    static_assert(!std::is_invocable_v<decltype(functor)&, int, int>);
    functor(1);
    auto picky = conditionalFunctor([](int) {}, [](const auto&) { return true; });
    static_assert(!std::is_invocable_v<decltype(picky)&, std::string>);
    picky(1);
}

struct Answer {
    explicit operator bool() const { return true; }
};

TEST(ConditionalFunctorTest, TheConditionMayReturnWhateverAnIfTakes) {
    int calls = 0;
    conditionalFunctor([&calls] { ++calls; }, [] { return Answer(); })();
    EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace sluice
