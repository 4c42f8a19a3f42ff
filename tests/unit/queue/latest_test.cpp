#include "unit/queue/queue_doubles.hpp"

#include <sluice/queue/latest.hpp>
#include <sluice/wait/event_fd_wait.hpp>

#include "support/testing.hpp"

#if defined(__linux__)
#include <poll.h>
#endif

namespace sluice {
namespace {

using namespace test;

static_assert(std::is_same_v<Latest<int, 1>::value_type, int>);
static_assert(std::is_nothrow_default_constructible_v<Latest<Building, 4>>);
static_assert(!std::is_copy_constructible_v<Latest<int, 1>>);
static_assert(!std::is_copy_assignable_v<Latest<int, 1>>);
static_assert(alignof(Latest<int, 1>) == cacheLineSize);
static_assert(sizeof(Latest<int, 1>) == (3 + 3) * cacheLineSize, "each of three values has a line");
static_assert(sizeof(Latest<int, 1, CompactTraits>) <= 64);

TEST(LatestTest, IsEmptyUntilTheFirstValue) {
    Latest<int, 1> latest;
    EXPECT_FALSE(latest.hasNew());
    EXPECT_EQ(latest.update(), nullptr);
    ASSERT_TRUE(latest.set(0));
    EXPECT_TRUE(latest.hasNew());
    ASSERT_NE(latest.update(), nullptr);
    EXPECT_EQ(*latest.update(), 0);
    EXPECT_FALSE(latest.hasNew());
    EXPECT_EQ(*latest.update(), 0) << "the same one again";
}

TEST(LatestTest, ValueStaysValidUntilTheNextUpdate) {
    Latest<std::string, 2> latest;
    ASSERT_TRUE(latest.emplace(100U, 'a'));
    std::string* const held = latest.update();
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(latest.emplace(100U, 'b'));
        ASSERT_EQ(*held, std::string(100, 'a'));
    }
    held->assign("the reader may change it");
    EXPECT_EQ(*latest.update(), std::string(100, 'b'));
}

TEST(LatestTest, DestroysEachValueOnce) {
    {
        Latest<Tracked, 1> latest;
        ASSERT_TRUE(latest.emplace(1));
        ASSERT_TRUE(latest.emplace(2));
        EXPECT_EQ(Tracked::alive, 1) << "the overwritten value is gone";
        ASSERT_EQ(latest.update()->value, 2);
        ASSERT_TRUE(latest.emplace(3));
        EXPECT_EQ(Tracked::alive, 2) << "the held one and the newest one";
        ASSERT_EQ(latest.update()->value, 3);
        EXPECT_EQ(Tracked::alive, 1) << "the reader holds one value only";
        ASSERT_TRUE(latest.emplace(4));
    }
    EXPECT_EQ(Tracked::alive, 0);
}

TEST(LatestTest, RefusedValueStaysWithTheCaller) {
    struct Owner {
        Owner(std::unique_ptr<int>&& number) : value(std::move(number)) {}
        Owner(std::unique_ptr<int>&& number, const std::function<void()>& call)
            : value(std::move(number)) {
            call();
        }
        std::unique_ptr<int> value;
    };
    Latest<Owner, 1> latest;
    auto kept = std::make_unique<int>(5);
    ASSERT_TRUE(latest.emplace(nullptr, [&] { EXPECT_FALSE(latest.emplace(std::move(kept))); }));
    ASSERT_NE(kept, nullptr);
    EXPECT_EQ(*kept, 5);
}

#if defined(__linux__)
TEST(LatestTest, ALoopIsWokenByAWaitBesideIt) {
    Latest<int, 1> latest;
    EventFdWait written;
    pollfd wanted{written.descriptor(), POLLIN, 0};
    std::vector<int> values;
    const auto readAll = [&] {
        while (written.waitUntil([&] { return latest.hasNew(); }, EventFdWait::Clock::now())) {
            values.push_back(*latest.update());
        }
    };
    readAll();
    EXPECT_EQ(::poll(&wanted, 1, 0), 0);
    for (int value = 1; value <= 2; ++value) {
        ASSERT_TRUE(latest.set(value));
        written.notifyAll();
    }
    EXPECT_EQ(::poll(&wanted, 1, 0), 1);
    readAll();
    EXPECT_EQ(values, std::vector<int>{2});
    EXPECT_EQ(::poll(&wanted, 1, 0), 0);
}
#endif

/// Writes a value of its own when it is destroyed, if it has somewhere to write.
struct LastWords {
    Latest<LastWords, 1>* latest = nullptr;
    int value = 0;
    LastWords(Latest<LastWords, 1>* target, int number) : latest(target), value(number) {}
    LastWords(const LastWords&) = delete;
    LastWords& operator=(const LastWords&) = delete;
    ~LastWords() {
        if (latest != nullptr) {
            EXPECT_TRUE(latest->emplace(nullptr, value + 1));
        }
    }
};

TEST(LatestTest, DestructorInUpdateMayWrite) {
    Latest<LastWords, 1> latest;
    ASSERT_TRUE(latest.emplace(&latest, 10));
    ASSERT_EQ(latest.update()->value, 10);
    ASSERT_TRUE(latest.emplace(nullptr, 1));
    EXPECT_EQ(latest.update()->value, 11) << "what the destructor wrote is newer";
}

/// Calls a function when it is destroyed.
struct Calling {
    std::function<void()> atEnd;
    explicit Calling(std::function<void()> function) : atEnd(std::move(function)) {}
    Calling(const Calling&) = delete;
    Calling& operator=(const Calling&) = delete;
    ~Calling() { atEnd(); }
};

TEST(LatestTest, DestroysEachValueOnceIfDestructorsReadWhileItIsDestroyed) {
    auto latest = std::make_unique<Latest<Calling, 2>>();
    Latest<Calling, 2>* const address = latest.get();
    int destroyed = 0;
    const auto read = [&] {
        ++destroyed;
        (void)address->update();
    };
    ASSERT_TRUE(latest->emplace(read));
    ASSERT_NE(latest->update(), nullptr);
    ASSERT_TRUE(latest->emplace(read));
    latest.reset();
    EXPECT_EQ(destroyed, 2);
}

TEST(LatestTest, RefusesValuesWhileItIsDestroyed) {
    for (const bool isHeld : {false, true}) {
        auto latest = std::make_unique<Latest<Calling, 2>>();
        Latest<Calling, 2>* const address = latest.get();
        int destroyed = 0;
        const auto write = [&] {
            ++destroyed;
            EXPECT_FALSE(address->emplace([&] { ++destroyed; }));
        };
        if (isHeld) {
            ASSERT_TRUE(latest->emplace(write));
            ASSERT_NE(latest->update(), nullptr);
        }
        ASSERT_TRUE(latest->emplace(write));
        latest.reset();
        EXPECT_EQ(destroyed, isHeld ? 2 : 1);
    }
}

#if defined(__cpp_exceptions)
TEST(LatestTest, ThrowingConstructorChangesNothing) {
    Latest<Building, 1> latest;
    const auto fail = [] { throw std::runtime_error("no value"); };
    EXPECT_THROW((void)latest.emplace(1, fail), std::runtime_error);
    EXPECT_FALSE(latest.hasNew());
    ASSERT_TRUE(latest.emplace(2));
    for (int i = 0; i < 5; ++i) {
        EXPECT_THROW((void)latest.emplace(3, fail), std::runtime_error);
    }
    EXPECT_EQ(latest.update()->value, 2);
    EXPECT_TRUE(latest.emplace(4));
}
#endif

#if !defined(NDEBUG)
/// Its destructor reads the Latest that it lies in.
struct Reading {
    Latest<Reading, 1>* latest;
    explicit Reading(Latest<Reading, 1>* target) : latest(target) {}
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    ~Reading() {
        if (latest != nullptr) {
            (void)latest->update();
        }
    }
};

TEST(LatestDeathTest, ReportsASecondReader) {
    Latest<Reading, 1> latest;
    ASSERT_TRUE(latest.emplace(&latest));
    Reading* const held = latest.update();
    ASSERT_TRUE(latest.emplace(nullptr));
    EXPECT_DEATH((void)latest.update(), "a second reader");
    held->latest = nullptr;
}
#endif

}  // namespace
}  // namespace sluice
