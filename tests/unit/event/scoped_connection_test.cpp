#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>
#include <sluice/event/scoped_connection.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

using List = CallbackList<void()>;
using Connection = ScopedConnection<List::Handle>;

static_assert(!std::is_copy_constructible_v<Connection>);

TEST(ScopedConnectionTest, RemovesItsListenerAtTheEndOfItsScope) {
    List list;
    int calls = 0;
    {
        const Connection connection(list.append([&calls] { ++calls; }));
        list();
        EXPECT_TRUE(connection.handle());
    }
    list();
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(list.empty());
}

TEST(ScopedConnectionTest, MovingHandsTheListenerOn) {
    List list;
    Connection target(list.append([] {}));
    Connection source(list.append([] {}));
    const List::Handle moved = source.handle();
    target = std::move(source);
    EXPECT_TRUE(moved) << "it belongs to the target now";
    const Connection other(std::move(target));
    EXPECT_TRUE(other.handle() == moved);
    int count = 0;
    list.forEach([&count](List::Callback&) { ++count; });
    EXPECT_EQ(count, 1) << "the target's own listener has gone";
}

TEST(ScopedConnectionTest, DisconnectsOnceAndReleases) {
    EventDispatcher<int, void()> dispatcher;
    ScopedConnection connection(dispatcher.appendListener(1, [] {}));
    EXPECT_TRUE(connection.disconnect());
    EXPECT_FALSE(connection.disconnect());
    EXPECT_FALSE(dispatcher.hasAnyListener(1));

    connection = ScopedConnection(dispatcher.appendListener(1, [] {}));
    const auto handle = connection.release();
    EXPECT_FALSE(connection.disconnect());
    EXPECT_TRUE(handle);
}

static_assert(!std::is_copy_constructible_v<AnyScopedConnection>);
static_assert(std::is_nothrow_move_constructible_v<AnyScopedConnection>);

/// A class that names no list.
struct Display {
    AnyScopedConnection one;
    AnyScopedConnection two;
    int calls = 0;
};

TEST(AnyScopedConnectionTest, MembersRemoveListenersOfAnyList) {
    CallbackList<void(int)> list;
    EventDispatcher<int, void()> dispatcher;
    {
        Display display;
        display.one = list.append([&display](int) { ++display.calls; });
        display.two = dispatcher.appendListener(3, [&display] { ++display.calls; });
        list(1);
        dispatcher.dispatch(3);
        EXPECT_EQ(display.calls, 2);
    }
    EXPECT_TRUE(list.empty());
    list(1);
    dispatcher.dispatch(3);
}

TEST(AnyScopedConnectionTest, DisconnectsOnceAndMoves) {
    CallbackList<void()> list;
    int calls = 0;
    AnyScopedConnection first(list.append([&calls] { ++calls; }));
    AnyScopedConnection second(std::move(first));
    list();
    EXPECT_EQ(calls, 1);
    second = list.append([&calls] { calls += 10; });
    list();
    EXPECT_EQ(calls, 11) << "the former listener has gone";
    EXPECT_TRUE(second.disconnect());
    EXPECT_FALSE(second.disconnect());
    EXPECT_FALSE(AnyScopedConnection().disconnect());
    list();
    EXPECT_EQ(calls, 11);
}

TEST(AnyScopedConnectionTest, DisconnectMayEndTheObjectThatHasTheConnection) {
    struct Session {
        AnyScopedConnection connection;
        std::shared_ptr<int> life = std::make_shared<int>();
    };
    CallbackList<void()> list;
    std::weak_ptr<int> life;
    Session* session = nullptr;
    {
        const auto owner = std::make_shared<Session>();
        life = owner->life;
        session = owner.get();
        session->connection = list.append([owner] {});
    }
    EXPECT_TRUE(session->connection.disconnect());
    EXPECT_TRUE(life.expired());
    EXPECT_TRUE(list.empty());
}

}  // namespace
}  // namespace sluice
