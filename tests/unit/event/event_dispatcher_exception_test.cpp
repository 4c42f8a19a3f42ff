#include "event_suites.hpp"

#include <sluice/event/event_dispatcher.hpp>

#include <gtest/gtest.h>

#if defined(__cpp_exceptions)

#include <memory>
#include <stdexcept>
#include <vector>

namespace sluice {
namespace {

struct Failure : std::runtime_error {
    Failure() : std::runtime_error("of the test") {}
};

template <class Policies>
class EventDispatcherExceptionTest : public testing::Test {};
TYPED_TEST_SUITE(EventDispatcherExceptionTest, test::CommonPolicies, test::PolicyNames);

TYPED_TEST(EventDispatcherExceptionTest, ExceptionOfAListenerKeepsTheOthers) {
    EventDispatcher<int, void(), TypeParam> dispatcher;
    std::vector<int> called;
    bool fails = true;
    dispatcher.appendListener(3, [&called] { called.push_back(1); });
    dispatcher.appendListener(3, [&] {
        if (fails) {
            throw Failure();
        }
    });
    dispatcher.appendListener(3, [&called] { called.push_back(2); });
    EXPECT_THROW(dispatcher.dispatch(3), Failure);
    EXPECT_EQ(called, (std::vector<int>{1}));
    fails = false;
    dispatcher.dispatch(3);
    EXPECT_EQ(called, (std::vector<int>{1, 1, 2}));
}

TYPED_TEST(EventDispatcherExceptionTest, ListenerMayDestroyTheDispatcherAndThrow) {
    auto dispatcher = std::make_unique<EventDispatcher<int, void(), TypeParam>>();
    const auto captured = std::make_shared<int>(0);
    dispatcher->appendListener(3, [&dispatcher, captured] {
        dispatcher.reset();
        throw Failure();
    });
    EXPECT_THROW(dispatcher->dispatch(3), Failure);
    EXPECT_EQ(captured.use_count(), 1);
}

/// An event whose comparison fails when it is told to.
struct FragileEvent {
    int number;
    friend bool operator<(const FragileEvent& a, const FragileEvent& b) {
        if (fails) {
            throw Failure();
        }
        return a.number < b.number;
    }
    inline static bool fails = false;
};

TYPED_TEST(EventDispatcherExceptionTest, ExceptionOfAnEventComesThroughAndLosesNothing) {
    EventDispatcher<FragileEvent, void(), TypeParam> dispatcher;
    int calls = 0;
    const auto handle = dispatcher.appendListener({3}, [&calls] { ++calls; });
    dispatcher.appendListener({4}, [&calls] { ++calls; });
    FragileEvent::fails = true;
    EXPECT_THROW(dispatcher.dispatch(FragileEvent{3}), Failure);
    EXPECT_THROW(dispatcher.appendListener({5}, [] {}), Failure);
    EXPECT_THROW(dispatcher.removeListener({3}, handle), Failure);
    EXPECT_THROW(dispatcher.removeAllListeners({3}), Failure);
    FragileEvent::fails = false;
    EXPECT_FALSE(dispatcher.hasAnyListener({5}));
    dispatcher.dispatch(FragileEvent{3});
    dispatcher.dispatch(FragileEvent{4});
    EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace sluice

#endif
