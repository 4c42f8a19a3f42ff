#include "support/watchdog.hpp"

#include <sluice/actor/active_object.hpp>
#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/actor/thread_pool.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

// `ended()` of a class tells its parent.

namespace sluice {
namespace {

struct ChildEnded {
    int number;
};

class Parent : public PooledObject<Parent, Messages<ChildEnded>> {
public:
    void handle(const ChildEnded& child) { ended.push_back(child.number); }
    std::vector<int> ended;
};

class Child : public PooledObject<Child, Messages<int>> {
public:
    Child(Parent& parent, int number) : parent_(parent), number_(number) {}
    void handle(const int& value) {
        if (value == 0) {
            stop();
        }
        ++handled;
    }
    void ended() noexcept {
        EXPECT_TRUE(isHere());
        EXPECT_FALSE(hasEnded());
        EXPECT_EQ(post(1), SendResult::closed);
        (void)parent_.post(ChildEnded{number_});
    }
    int handled = 0;

private:
    Parent& parent_;
    const int number_;
};

TEST(EndedTest, TheParentIsToldAfterTheLastMessage) {
    ManualExecutor executor;
    Running<Parent> parent(executor);
    Running<Child> first(executor, parent, 1);
    Running<Child> second(executor, parent, 2);
    (void)first.post(5);
    (void)first.post(0);
    (void)first.post(6);
    (void)second.post(5);
    (void)executor.runAll();
    EXPECT_TRUE(first.hasEnded());
    EXPECT_EQ(first.handled, 2);
    EXPECT_EQ(parent.ended, (std::vector<int>{1}));
    second.stop();
    (void)executor.runAll();
    EXPECT_EQ(parent.ended, (std::vector<int>{1, 2}));
}

TEST(EndedTest, AnObjectThatNeverStartedTellsNobody) {
    ManualExecutor executor;
    Running<Parent> parent(executor);
    {
        Child child(parent, 1);
        child.stop();
        EXPECT_FALSE(child.start(executor));
        EXPECT_TRUE(child.hasEnded());
    }
    (void)executor.runAll();
    EXPECT_TRUE(parent.ended.empty());
}

TEST(EndedTest, WhoJoinsComesAfterIt) {
    const test::Watchdog watchdog([](std::FILE*) {});
    ThreadPool pool(2);
    for (int round = 0; round < 200; ++round) {
        auto parent = std::make_unique<Running<Parent>>(pool);
        auto child = std::make_unique<Running<Child>>(pool, *parent, round);
        (void)child->post(1);
        (void)child->post(0);
        EXPECT_TRUE(child->join());
        child.reset();
        EXPECT_TRUE(parent->stopAfterDrain(StdPlatform::Clock::time_point::max()));
        EXPECT_EQ(parent->ended, (std::vector<int>{round}));
    }
}

class Alone : public ActiveObject<Alone, Messages<int>> {
public:
    explicit Alone(std::string& told) : told_(told) {}
    void handle(const int& value) { told_ += std::to_string(value); }
    void ended() noexcept {
        EXPECT_TRUE(isHere());
        told_ += "!";
    }

private:
    std::string& told_;
};

TEST(EndedTest, AnObjectWithAThreadTells) {
    const test::Watchdog watchdog([](std::FILE*) {});
    std::string told;
    {
        Running<Alone> object(ThreadOptions{}, told);
        (void)object.post(1);
        (void)object.post(2);
        EXPECT_TRUE(object.stopAfterDrain(StdPlatform::Clock::time_point::max()));
        EXPECT_TRUE(object.join());
        EXPECT_EQ(told, "12!");
    }
    EXPECT_EQ(told, "12!");
}

}  // namespace
}  // namespace sluice
