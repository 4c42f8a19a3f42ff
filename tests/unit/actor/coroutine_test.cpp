#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/coroutine.hpp>
#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/manual_traits.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

// Objects that may have coroutines, as programs of C++17 see them. The coroutines are tested in
// tests/cpp20.

namespace sluice {
namespace {

using test::Add;

struct Both : PooledTraits {
    static constexpr std::uint32_t depth = 4;
    static constexpr std::size_t maxCoroutines = 4;
    static constexpr bool awaitedPosts = true;
};
class Shared : public PooledObject<Shared, Messages<Add>, Both> {
public:
    void handle(const Add& add) { sum += add.value; }
    int sum = 0;
};

struct OwnBoth : ManualTraits<ActorTraits, OwnBoth> {
    static constexpr std::size_t maxCoroutines = 4;
    static constexpr bool awaitedPosts = true;
};
class Own : public ActiveObject<Own, Messages<Add>, OwnBoth> {
public:
    void handle(const Add& add) { sum += add.value; }
    using ActiveObject::handleQueued;
    int sum = 0;
};

TEST(CoroutineTest, ObjectsThatMayHaveThemHandleMessages) {
    ManualExecutor executor;
    Running<Shared> shared(executor);
    Own own;
    for (int i = 1; i < 3; ++i) {
        ASSERT_EQ(shared.post(Add{i}), SendResult::ok);
        ASSERT_EQ(own.post(Add{i}), SendResult::ok);
    }
    executor.runAll();
    EXPECT_EQ(own.handleQueued(), 2U);
    EXPECT_EQ(shared.sum, 3);
    EXPECT_EQ(own.sum, 3);
    EXPECT_EQ(shared.resumptions() + own.resumptions(), 0U);
    own.stop();
}

TEST(CoroutineTest, RoomIsToldWhenMessagesHaveBeenHandled) {
    ManualExecutor executor;
    Running<Shared> shared(executor);
    ASSERT_EQ(shared.post(Add{1}), SendResult::ok);
    auto room = shared.room();
    EXPECT_FALSE(room.isReady());
    executor.runAll();
    EXPECT_TRUE(room.isReady());
    EXPECT_TRUE(room.get());
}

TEST(CoroutineTest, RoomThatNobodyTellsIsCancelled) {
    ManualExecutor executor;
    Own own;
    auto room = own.room();
    own.stop();
    EXPECT_TRUE(room.isReady());
}

}  // namespace
}  // namespace sluice
