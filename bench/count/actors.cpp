#include "rows.hpp"

#include <sluice/actor/active_object.hpp>

#include <cstdint>

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
        expect(receiver.post(message) == PublishResult::ok, "a message was refused");
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

}  // namespace

void addActors(Rows& rows) {
    rows.push_back({"actor/post+handle", ours, &countPostAndHandle});
}

}  // namespace sluice::count
