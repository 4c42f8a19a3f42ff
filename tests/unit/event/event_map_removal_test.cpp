#include <sluice/event/detail/dispatch/event_map.hpp>
#include <sluice/event/event_dispatcher.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <map>
#include <utility>

namespace sluice {
namespace {

/// A key that calls a function when a key of value 1 is destroyed.
struct EndingKey {
    explicit EndingKey(int number) : value(number) {}
    EndingKey(const EndingKey&) = default;
    EndingKey& operator=(const EndingKey&) = delete;
    ~EndingKey() {
        if (value == 1 && atEnd != nullptr) {
            std::exchange(atEnd, nullptr)();
        }
    }
    friend bool operator==(const EndingKey& a, const EndingKey& b) { return a.value == b.value; }
    friend bool operator<(const EndingKey& a, const EndingKey& b) { return a.value < b.value; }

    int value;
    inline static std::function<void()> atEnd;
};

}  // namespace
}  // namespace sluice

template <>
struct std::hash<sluice::EndingKey> {
    std::size_t operator()(const sluice::EndingKey& key) const {
        return static_cast<std::size_t>(key.value);
    }
};

namespace sluice {
namespace {

struct OrderedPolicies {
    template <class Key, class Mapped>
    using Map = std::map<Key, Mapped>;
};

template <class Policies>
class EventMapRemovalTest : public testing::Test {
protected:
    static constexpr int keys = 40;

    static bool isZero(int value) { return value == 0; }

    detail::EventMap<EndingKey, int, Policies> map;
};
using HashedAndOrdered = testing::Types<DefaultPolicies, OrderedPolicies>;
TYPED_TEST_SUITE(EventMapRemovalTest, HashedAndOrdered);

TYPED_TEST(EventMapRemovalTest, KeepsWhatDestructorsAdd) {
    for (int key = 0; key < this->keys; ++key) {
        this->map.findOrAdd(EndingKey(key)) = key == 1 ? 0 : 7;
    }
    EndingKey::atEnd = [this] {
        for (int key = 0; key < 4 * this->keys; ++key) {
            this->map.findOrAdd(EndingKey(key)) = key;
        }
    };
    EXPECT_EQ(this->map.removeIf(this->isZero), 1U);
    for (int key = 0; key < 4 * this->keys; ++key) {
        const int* const found = this->map.find(EndingKey(key));
        ASSERT_NE(found, nullptr) << key;
        EXPECT_EQ(*found, key);
    }
}

TYPED_TEST(EventMapRemovalTest, DestructorsMayMakeOtherEntriesUnused) {
    for (int key = 0; key < this->keys; ++key) {
        this->map.findOrAdd(EndingKey(key)) = key == 1 ? 0 : 7;
    }
    EndingKey::atEnd = [this] {
        for (int key = 2; key < this->keys; ++key) {
            *this->map.find(EndingKey(key)) = 0;
        }
    };
    EXPECT_EQ(this->map.removeIf(this->isZero), 1U);
    EXPECT_EQ(this->map.removeIf(this->isZero), static_cast<std::size_t>(this->keys - 2));
}

TYPED_TEST(EventMapRemovalTest, DestructorsMayRemoveOtherEntries) {
    for (int key = 0; key < this->keys; ++key) {
        this->map.findOrAdd(EndingKey(key)) = key == 1 ? 0 : 7;
    }
    std::size_t inner = 0;
    EndingKey::atEnd = [&] {
        *this->map.find(EndingKey(0)) = 0;
        inner = this->map.removeIf(this->isZero);
    };
    EXPECT_EQ(this->map.removeIf(this->isZero), 1U);
    EXPECT_EQ(inner, 1U);
    EXPECT_EQ(this->map.find(EndingKey(0)), nullptr);
}

TYPED_TEST(EventMapRemovalTest, TrimKeepsTheListenersThatDestructorsAdd) {
    EventDispatcher<EndingKey, void(), TypeParam> dispatcher;
    const EndingKey event(2);
    {
        const EndingKey ended(1);
        dispatcher.removeListener(ended, dispatcher.appendListener(ended, [] {}));
    }
    bool isCalled = false;
    EndingKey::atEnd = [&] { dispatcher.appendListener(event, [&isCalled] { isCalled = true; }); };
    EXPECT_EQ(dispatcher.trimEvents(), 1U);
    dispatcher.dispatch(event);
    EXPECT_TRUE(isCalled);
}

}  // namespace
}  // namespace sluice
