#include <sluice/event/callback_list.hpp>

#include <sluice/event/event_dispatcher.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

// Features of a callback list that eventpp's does not have.

namespace sluice {
namespace {

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

TEST(CallbackPriorityTest, OfListeners) {
    EventDispatcher<int, void()> dispatcher;
    std::string order;
    dispatcher.appendListener(1, [&order] { order += 'n'; });
    dispatcher.insertListenerByPriority(
        1, [&order] { order += 'h'; }, 1);
    dispatcher.dispatch(1);
    EXPECT_EQ(order, "hn");
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

TEST(CallbackHandleTest, IsToldToACallbackThatAsksForIt) {
    CallbackList<void(int)> list;
    int sum = 0;
    const auto captured = std::make_shared<int>(1);
    const auto handle = list.appendWithHandle(
        [&sum, captured](const CallbackList<void(int)>::Handle& own, int value) {
            sum += value;
            EXPECT_TRUE(own.remove());
        });
    EXPECT_TRUE(handle);
    list(3);
    list(4);
    EXPECT_EQ(sum, 3);
    EXPECT_EQ(captured.use_count(), 1) << "the callback does not keep itself alive";
}

TEST(CallbackHandleTest, IsToldToListeners) {
    EventDispatcher<int, void()> dispatcher;
    int calls = 0;
    dispatcher.appendListenerWithHandle(1, [&calls](const auto& own) {
        ++calls;
        own.remove();
    });
    dispatcher.dispatch(1);
    dispatcher.dispatch(1);
    EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace sluice
