#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/active_object.hpp>
#include <sluice/actor/manual_executor.hpp>
#include <sluice/actor/manual_traits.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <type_traits>

// A limit in flight for one type of message.

namespace sluice {
namespace {

using namespace std::chrono_literals;
using test::Add;
using test::Note;

struct Fragile {
    explicit Fragile(bool isBroken) {
#if defined(__cpp_exceptions)
        if (isBroken) {
            throw 1;
        }
#else
        (void)isBroken;
#endif
    }
};

template <class Base>
struct TwoAdds : Base {
    template <class Message>
    static constexpr std::uint32_t maxInFlight = std::is_same_v<Message, Add>       ? 2
                                                 : std::is_same_v<Message, Fragile> ? 1
                                                                                    : 0;
    static constexpr std::size_t maxTimers = 4;
};

struct OwnTraits : ManualTraits<TwoAdds<ActorTraits>, OwnTraits> {};
struct SharedTraits : TwoAdds<PooledTraits> {};

class Own : public ActiveObject<Own, Messages<Note, Add, Fragile>, OwnTraits> {
public:
    void handle(const Note& /*note*/) {}
    void handle(const Add& add) {
        sum += add.value;
#if defined(__cpp_exceptions)
        if (add.value == 100) {
            throw 1;
        }
#endif
    }
    void handle(const Fragile& /*fragile*/) {}
    using ActiveObject::handleQueued;
    int sum = 0;
};

class Shared : public PooledObject<Shared, Messages<Note, Add, Fragile>, SharedTraits> {
public:
    void handle(const Note& /*note*/) {}
    void handle(const Add& add) { sum += add.value; }
    void handle(const Fragile& /*fragile*/) {}
    int sum = 0;
};

struct CountedTraits : SharedTraits {
    static constexpr bool statistics = true;
};
class Counted : public PooledObject<Counted, Messages<Add>, CountedTraits> {
public:
    void handle(const Add& /*add*/) {}
};

TEST(InFlightTest, OneMoreIsRefusedUntilOneHasBeenHandled) {
    Own object;
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(object.post(Add{1}), SendResult::ok);
        EXPECT_EQ(object.emplace<Add>(Add{1}), SendResult::ok);
        EXPECT_EQ(object.post(Add{1}), SendResult::full);
        EXPECT_EQ(object.post(Add{1}, Priority::high), SendResult::full);
        EXPECT_EQ(object.tryPost(Add{1}), SendResult::full);
        EXPECT_EQ(object.postFor(1h, Add{1}), SendResult::full) << "at once";
        EXPECT_EQ(object.post(Note{"others have none"}), SendResult::ok);
        EXPECT_EQ(object.handleQueued(), 3U);
    }
    EXPECT_EQ(object.sum, 6);
    object.stop();
    EXPECT_EQ(object.post(Add{1}), SendResult::closed);
}

TEST(InFlightTest, RefusalsAreInTheAccounts) {
    Own object;
    for (int i = 0; i < 5; ++i) {
        (void)object.post(Add{1});
    }
    EXPECT_EQ(object.statistics().total().attempted(), 5U);
    EXPECT_EQ(object.statistics().total().full, 3U);
    object.stop();
    EXPECT_EQ(object.post(Add{1}), SendResult::closed) << "discarded ones are in no flight";
    EXPECT_EQ(object.statistics().total().closed, 1U);
    ManualExecutor executor;
    Running<Counted> shared(executor);
    for (int i = 0; i < 5; ++i) {
        (void)shared.post(Add{1});
    }
    EXPECT_EQ(shared.statistics().full, 3U);
    shared.stop();
    EXPECT_EQ(shared.post(Add{1}), SendResult::closed);
    EXPECT_EQ(shared.statistics().closed, 1U);
}

TEST(InFlightTest, MessagesOfTimersDoNotCount) {
    OwnTraits::Platform::Clock::reset();
    Own object;
    for (int i = 0; i < 4; ++i) {
        EXPECT_TRUE(object.postAfter(1ms, Add{1}));
    }
    OwnTraits::Platform::Clock::advance(1ms);
    EXPECT_EQ(object.handleQueued(), 4U);
    EXPECT_EQ(object.post(Add{1}), SendResult::ok);
    EXPECT_EQ(object.post(Add{1}), SendResult::ok);
    EXPECT_EQ(object.post(Add{1}), SendResult::full);
    object.stop();
}

TEST(InFlightTest, HoldsForObjectsOnAnExecutor) {
    ManualExecutor executor;
    Running<Shared> object(executor);
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(object.post(Add{1}), SendResult::ok);
        EXPECT_EQ(object.post(Add{1}), SendResult::ok);
        EXPECT_EQ(object.post(Add{1}), SendResult::full);
        EXPECT_EQ(object.post(Note{"others have none"}), SendResult::ok);
        EXPECT_TRUE(object.postAfter(1ms, Add{10}));
        executor.runFor(1ms);
    }
    EXPECT_EQ(object.sum, 36);
}

#if defined(__cpp_exceptions)
TEST(InFlightTest, WhatThrowsIsNotInFlight) {
    Own object;
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(object.post(Add{100}), SendResult::ok);
        object.handleQueued();
        EXPECT_THROW((void)object.emplace<Fragile>(true), int);
    }
    EXPECT_EQ(object.emplace<Fragile>(false), SendResult::ok);
    EXPECT_EQ(object.emplace<Fragile>(false), SendResult::full);
    object.stop();
    ManualExecutor executor;
    Running<Shared> shared(executor);
    for (int round = 0; round < 3; ++round) {
        EXPECT_THROW((void)shared.emplace<Fragile>(true), int);
    }
    EXPECT_EQ(shared.emplace<Fragile>(false), SendResult::ok);
    EXPECT_EQ(shared.emplace<Fragile>(false), SendResult::full);
}
#endif

}  // namespace
}  // namespace sluice
