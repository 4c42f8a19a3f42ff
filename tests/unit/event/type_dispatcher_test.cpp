#include <sluice/event/type_dispatcher.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice {
namespace {

struct Connected {
    std::string peer;
};
struct Closed {
    int reason;
};

TEST(TypeDispatcherTest, ListenersGetTheEventsOfTheirType) {
    TypeDispatcher<> dispatcher;
    std::vector<std::string> seen;
    dispatcher.appendListener<Connected>([&](const Connected& e) { seen.push_back(e.peer); });
    dispatcher.appendListener<Closed>(
        [&](const Closed& e) { seen.push_back(std::to_string(e.reason)); });
    dispatcher.prependListener<Connected>([&](const Connected&) { seen.emplace_back("first"); });
    dispatcher.dispatch(Connected{"north"});
    dispatcher.dispatch(Closed{5});
    dispatcher.dispatch(std::string("nobody asked"));
    EXPECT_EQ(seen, (std::vector<std::string>{"first", "north", "5"}));
}

TEST(TypeDispatcherTest, ListenersAreRemovedByTypeOrByTheirHandleAlone) {
    TypeDispatcher<> dispatcher;
    const auto first = dispatcher.appendListener<Closed>([](const Closed&) {});
    const auto second = dispatcher.appendListener<Closed>([](const Closed&) {});
    EXPECT_FALSE(dispatcher.removeListener<Connected>(first));
    EXPECT_TRUE(dispatcher.removeListener<Closed>(first));
    EXPECT_TRUE(dispatcher.hasAnyListener<Closed>());
    EXPECT_TRUE(second.remove());
    EXPECT_FALSE(dispatcher.hasAnyListener<Closed>());
}

}  // namespace
}  // namespace sluice
