#include <sluice/eventpp/detail/heter/prototype_match.hpp>
#include <sluice/eventpp/heter_tuple.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

namespace sluice {
namespace {

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
