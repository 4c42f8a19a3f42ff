#include <sluice/event/event_queue.hpp>
#include <sluice/eventpp/argument_adapter.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace sluice {
namespace {

struct Event {
    virtual ~Event() = default;
};
struct KeyEvent : Event {
    explicit KeyEvent(int theKey) : key(theKey) {}
    int key;
};

enum class Level { low, high };

using BaseList = std::function<void(const Event&)>;
using SharedList = std::function<void(std::shared_ptr<Event>)>;

int lastKey = 0;

void takeKey(const KeyEvent& event) {
    lastKey = event.key;
}

TEST(ArgumentAdapterTest, CastsAReferenceToTheDerivedClass) {
    int key = 0;
    BaseList listener =
        argumentAdapter<void(const KeyEvent&)>([&key](const KeyEvent& event) { key = event.key; });
    listener(KeyEvent(5));
    EXPECT_EQ(key, 5);
}

TEST(ArgumentAdapterTest, TheCastReferenceIsTheArgumentItself) {
    const Event* seen = nullptr;
    std::function<void(Event&)> listener =
        argumentAdapter<void(KeyEvent&)>([&seen](KeyEvent& event) {
            ++event.key;
            seen = &event;
        });
    KeyEvent event(5);
    listener(event);
    EXPECT_EQ(event.key, 6);
    EXPECT_EQ(seen, &event);
}

TEST(ArgumentAdapterTest, TakesThePrototypeFromAFunctionPointer) {
    BaseList listener = argumentAdapter(takeKey);
    listener(KeyEvent(6));
    EXPECT_EQ(lastKey, 6);
}

TEST(ArgumentAdapterTest, TakesThePrototypeFromAFunctionWrapper) {
    BaseList listener = argumentAdapter(std::function<void(const KeyEvent&)>(takeKey));
    listener(KeyEvent(7));
    EXPECT_EQ(lastKey, 7);
}

TEST(ArgumentAdapterTest, CastsASharedPointerByValue) {
    int key = 0;
    SharedList listener = argumentAdapter<void(std::shared_ptr<KeyEvent>)>(
        [&key](const std::shared_ptr<KeyEvent>& event) { key = event->key; });
    listener(std::make_shared<KeyEvent>(8));
    EXPECT_EQ(key, 8);
}

TEST(ArgumentAdapterTest, CastsASharedPointerByConstReference) {
    int key = 0;
    std::function<void(const std::shared_ptr<Event>&)> listener =
        argumentAdapter<void(const std::shared_ptr<KeyEvent>&)>(
            [&key](const std::shared_ptr<KeyEvent>& event) { key = event->key; });
    const std::shared_ptr<Event> event = std::make_shared<KeyEvent>(9);
    listener(event);
    EXPECT_EQ(key, 9);
    EXPECT_EQ(event.use_count(), 1);
}

TEST(ArgumentAdapterTest, AnUnchangedSharedPointerIsPassedAsItIs) {
    const std::shared_ptr<Event>* seen = nullptr;
    auto adapter = argumentAdapter<void(const std::shared_ptr<Event>&, const KeyEvent&)>(
        [&seen](const std::shared_ptr<Event>& event, const KeyEvent&) { seen = &event; });
    const std::shared_ptr<Event> event = std::make_shared<KeyEvent>(1);
    adapter(event, *event);
    EXPECT_EQ(seen, &event);
}

TEST(ArgumentAdapterTest, MixesSharedPointersAndOthers) {
    int sum = 0;
    std::function<void(std::shared_ptr<Event>, const Event&, int)> listener =
        argumentAdapter<void(std::shared_ptr<KeyEvent>, const KeyEvent&, Level)>(
            [&sum](const std::shared_ptr<KeyEvent>& shared, const KeyEvent& event, Level level) {
                sum = shared->key + event.key + (level == Level::high ? 100 : 0);
            });
    listener(std::make_shared<KeyEvent>(1), KeyEvent(2), 1);
    EXPECT_EQ(sum, 103);
}

TEST(ArgumentAdapterTest, ConvertsToNumbersAndEnumeratorsExplicitly) {
    Level seen = Level::low;
    std::function<void(int)> listener =
        argumentAdapter<void(Level)>([&seen](Level level) { seen = level; });
    listener(1);
    EXPECT_EQ(seen, Level::high);
}

TEST(ArgumentAdapterTest, WhatTheCastCreatesLivesDuringTheCall) {
    std::string seen;
    auto adapter = argumentAdapter<void(const std::string&)>(
        [&seen](const std::string& text) { seen = text; });
    adapter("a text that is too long for the object itself");
    EXPECT_EQ(seen, "a text that is too long for the object itself");
}

TEST(ArgumentAdapterTest, MovesWhatTheCallerGaveAway) {
    std::unique_ptr<int> got;
    auto adapter = argumentAdapter<void(std::unique_ptr<int>)>(
        [&got](std::unique_ptr<int> owned) { got = std::move(owned); });
    adapter(std::make_unique<int>(3));
    ASSERT_NE(got, nullptr);
    EXPECT_EQ(*got, 3);
}

TEST(ArgumentAdapterTest, AdaptsListenersOfAQueue) {
    EventQueue<int, void(const std::shared_ptr<Event>&)> queue;
    int key = 0;
    queue.appendListener(3,
                         argumentAdapter<void(const std::shared_ptr<KeyEvent>&)>(
                             [&key](const std::shared_ptr<KeyEvent>& event) { key = event->key; }));
    queue.enqueue(3, std::make_shared<KeyEvent>(5));
    queue.process();
    EXPECT_EQ(key, 5);
}

TEST(ArgumentAdapterTest, TakesOnlyArgumentsThatCanBeCast) {
    using Adapter = decltype(argumentAdapter(takeKey));
    static_assert(std::is_invocable_v<Adapter&, const Event&>);
    static_assert(std::is_invocable_v<Adapter&, Event>);
    static_assert(!std::is_invocable_v<Adapter&>);
    static_assert(!std::is_invocable_v<Adapter&, const Event&, int>);
    static_assert(!std::is_invocable_v<Adapter&, std::string>);
    using Shared =
        ArgumentAdapter<void (*)(std::shared_ptr<KeyEvent>), void(std::shared_ptr<KeyEvent>)>;
    static_assert(std::is_invocable_v<Shared&, std::shared_ptr<Event>>);
    static_assert(!std::is_invocable_v<Shared&, std::shared_ptr<std::string>>);
    EXPECT_EQ(argumentAdapter(takeKey).func, &takeKey);
}

}  // namespace
}  // namespace sluice
