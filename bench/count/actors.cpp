#include "rows.hpp"

#include <sluice/actor/active_object.hpp>
#include <sluice/actor/pooled_object.hpp>
#include <sluice/actor/running.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice::count {

namespace {

/// A second type of message, as for the bus.
struct Other {
    std::uint64_t word = 0;
};

/// Room for a round.
struct RoundTraits : ActorTraits {
    static constexpr std::size_t depth = 4096;
};

/// Handles on the counting thread, so that no wait is counted.
class Receiver : public ActiveObject<Receiver, Messages<Message, Other>, RoundTraits> {
public:
    void handle(const Message& message) { use(message.first()); }
    void handle(const Other& other) { use(other.word); }

    using ActiveObject::handleQueued;
};

[[gnu::noinline]] void postRound(Receiver& receiver) {
    forEachMessage([&](const Message& message) {
        expect(receiver.post(message) == SendResult::ok, "a message was refused");
    });
}

[[gnu::noinline]] void handleRound(Receiver& receiver) {
    expect(receiver.handleQueued() == roundSize, "an active object lost messages");
}

void countPostAndHandle(const Counting& counting) {
    Receiver receiver;
    counting.each([] {},
                  [&] {
                      postRound(receiver);
                      handleRound(receiver);
                  });
}

/// Runs objects on the counting thread, one after the other. One of them has messages at a time.
class OneAtATime final : public Executor {
public:
    explicit OneAtATime(const ExecutorOptions& options) : Executor(options) {}

    void schedule(ExecutorTask& task) override { ready_ = &task; }
    void scheduleLast(ExecutorTask& task) override { ready_ = &task; }
    [[nodiscard]] TimePoint now() const override { return {}; }
    void addAlarm(TimedExecutorTask& /*task*/) override {}
    void setAlarm(TimedExecutorTask& /*task*/, TimePoint /*time*/) override {}
    void removeAlarm(TimedExecutorTask& /*task*/) override {}
    void beforeWait() override { run(); }

    void run() {
        while (ExecutorTask* const task = std::exchange(ready_, nullptr)) {
            task->run();
        }
    }

private:
    ExecutorTask* ready_ = nullptr;
};

struct PooledRoundTraits : PooledTraits {
    static constexpr std::uint32_t depth = 4096;
};

/// Passes the number of hops that are left on to the next object.
struct Token {
    std::size_t left;
};

class Member : public PooledObject<Member, Messages<Message, Token>, PooledRoundTraits> {
public:
    void handle(const Message& message) { use(message.first()); }
    void handle(const Token& token) const {
        if (token.left != 0) {
            (void)next->post(Token{token.left - 1});
        }
    }
    Member* next = nullptr;
};

void countPooledPostAndHandle(const Counting& counting) {
    OneAtATime executor{ExecutorOptions{}};
    Running<Member> member(executor);
    counting.each([] {},
                  [&] {
                      forEachMessage([&](const Message& message) {
                          expect(member.post(message) == SendResult::ok, "it was refused");
                      });
                      executor.run();
                  });
}

void countHops(const Counting& counting) {
    OneAtATime executor{ExecutorOptions{}};
    Running<Member> first(executor);
    Running<Member> second(executor);
    first.next = &second;
    second.next = &first;
    counting.each([] {},
                  [&] {
                      (void)first.post(Token{roundSize - 1});
                      executor.run();
                  });
}

}  // namespace

void addActors(Rows& rows) {
    rows.push_back({"actor/post+handle", ours, &countPostAndHandle});
    rows.push_back({"actor/pooled/post+handle", ours, &countPooledPostAndHandle});
    rows.push_back({"actor/pooled/hop", ours, &countHops});
}

}  // namespace sluice::count
