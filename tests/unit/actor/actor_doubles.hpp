#pragma once

#include "support/watchdog.hpp"

#include <sluice/actor/active_object.hpp>
#include <sluice/actor/pooled_object.hpp>

#include "support/testing.hpp"
#include <thread>

// Messages and objects of the tests of active objects.

namespace sluice::test {

/// Ends a test that hangs.
class GuardedTest : public testing::Test {
    const Watchdog watchdog_{[](std::FILE*) {}};
};

struct Add {
    int value;
};
struct Note {
    std::string text;
};
/// Asks the handler to wait until the test opens the gate.
struct Hold {};

using Notes = Messages<Add, Note, Hold>;

/// Messages of a program whose names mean something inside of the library, too.
namespace names {
struct Message {};
struct State {};
struct Task {};
struct Alarm {};
struct Mailbox {};
using All = Messages<Message, State, Task, Alarm, Mailbox>;
}  // namespace names

/// Far beyond any honest run: a test that gets there has failed.
inline std::chrono::steady_clock::time_point late() {
    return std::chrono::steady_clock::now() + std::chrono::minutes(2);
}

template <std::size_t Depth>
struct Holds : ActorTraits {
    static constexpr std::size_t depth = Depth;
};

/// Remembers the messages that it has handled, and holds its thread at a gate.
template <class Traits = ActorTraits>
class Keeper : public ActiveObject<Keeper<Traits>, Notes, Traits> {
public:
    using Base = ActiveObject<Keeper, Notes, Traits>;
    using Header = typename Base::Header;

    void handle(const Add& add) { log.push_back(std::to_string(add.value)); }
    void handle(const Note& note, const Header& header) {
        log.push_back(note.text + " " + toString(header.priority));
    }
    void handle(const Hold&) {
        isHeld.store(true, std::memory_order_release);
        while (!isOpen.load(std::memory_order_acquire)) {
            std::this_thread::yield();
        }
    }

    void awaitHeld() const {
        while (!isHeld.load(std::memory_order_acquire)) {
            std::this_thread::yield();
        }
    }
    void open() { isOpen.store(true, std::memory_order_release); }

    std::vector<std::string> log;  ///< written by the object's thread, read after join()
    std::atomic<bool> isHeld{false};
    std::atomic<bool> isOpen{false};
};

struct Act {};
struct OneTimer : PooledTraits {
    static constexpr std::size_t maxTimers = 1;
};

/// Calls a function of the test for each message.
class Acting : public PooledObject<Acting, Messages<Act>, OneTimer> {
public:
    explicit Acting(std::function<void()> action) : action_(std::move(action)) {}
    void handle(const Act& /*act*/) { action_(); }

private:
    std::function<void()> action_;
};

}  // namespace sluice::test
