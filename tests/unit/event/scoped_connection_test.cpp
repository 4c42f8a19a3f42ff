#include <sluice/event/scoped_connection.hpp>

#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_dispatcher.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <type_traits>
#include <utility>

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

TEST(ScopedConnectionTest, MayOutliveTheList) {
    auto list = std::make_unique<List>();
    const Connection connection(list->append([] {}));
    list.reset();
    EXPECT_FALSE(connection.handle());
}

}  // namespace
}  // namespace sluice
