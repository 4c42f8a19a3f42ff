#include <sluice/event/member_listener.hpp>

#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace sluice {
namespace {

struct Window {
    int resize(int width) { return size = width; }
    void show(const std::string& text) const { *shown += text; }
    int size = 0;
    std::string* shown = nullptr;
};

TEST(MemberListenerTest, CallsAMemberFunctionOfAnObject) {
    CallbackList<void(int)> list;
    Window window;
    list.append(memberListener(window, &Window::resize));
    list(7);
    EXPECT_EQ(window.size, 7);
}

TEST(MemberListenerTest, CallsAConstMemberFunctionOfAConstObject) {
    EventDispatcher<int, void(const std::string&)> dispatcher;
    std::string shown;
    const Window window{0, &shown};
    dispatcher.appendListener(1, memberListener(window, &Window::show));
    dispatcher.dispatch(1, std::string("x"));
    EXPECT_EQ(shown, "x");
}

TEST(MemberListenerTest, SharedPointerKeepsItsObject) {
    CallbackList<void(int)> list;
    auto window = std::make_shared<Window>();
    const std::weak_ptr<Window> watch = window;
    list.append(memberListener(std::move(window), &Window::resize));
    list(3);
    ASSERT_FALSE(watch.expired());
    EXPECT_EQ(watch.lock()->size, 3);
    list.clear();
    EXPECT_TRUE(watch.expired());
}

TEST(MemberListenerTest, WeakPointerDoesNotAndIsNotFollowedWhenItHasExpired) {
    CallbackList<void(int)> list;
    auto window = std::make_shared<Window>();
    list.append(memberListener(std::weak_ptr<Window>(window), &Window::resize));
    list(3);
    EXPECT_EQ(window->size, 3);
    EXPECT_EQ(window.use_count(), 1);
    window.reset();
    list(4);
}

}  // namespace
}  // namespace sluice
