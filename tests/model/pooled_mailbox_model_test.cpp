#include "support/model/expectations.hpp"

#include <sluice/actor/detail/pooled_mailbox.hpp>

#include "support/testing.hpp"

// The states of an object on an executor, under the model checker. Two consumers at a time show as
// a data race on `state`. So does a consumer that misses the writes of the one before. A message
// that no consumer takes is missing at the end.

namespace sluice::model {
namespace {

using Mailbox = detail::PooledMailbox<ModelPlatform>;

using Node = detail::MailboxNode<ModelPlatform>;

struct Message : Node {
    Plain<int> content;
};

struct Object {
    Object() { mailbox.begin(); }

    /// Posts a message. The thread that finds the object idle is its consumer, as if an executor
    /// had run the object at once.
    bool post(std::size_t index) {
        messages[index].content.set(1);
        const auto pushed = mailbox.push(messages[index]);
        if (pushed == Mailbox::Pushed::first) {
            serve();
        }
        return pushed != Mailbox::Pushed::refused;
    }

    /// Has the consumer look at the news.
    void tell(int more) {
        news.fetch_add(more, relaxed);
        if (signal.send(mailbox)) {
            serve();
        }
    }

    void serve() {
        bool isEnding = false;
        do {
            mailbox.takeAll([&](Node& node) {
                if (signal.is(node)) {
                    signal.clear();
                    seen.set(news.load(relaxed));
                    return;
                }
                auto& message = static_cast<Message&>(node);
                check(message.content.get() == 1, "the message is complete");
                isEnding = isEnding || &message == &messages[last];
                state.set(state.get() + 1);
            });
        } while (!(isEnding ? mailbox.end() : mailbox.goIdle()));
    }

    static constexpr std::size_t last = 3;

    Mailbox mailbox;
    std::array<Message, 4> messages;
    Plain<int> state;
    detail::MailboxSignal<ModelPlatform> signal;
    Atomic<int> news{0};
    Plain<int> seen;
};

void twoPosters() {
    Object object;
    parallel([&] { object.post(0), object.post(1); }, [&] { object.post(2); });
    check(object.state.get() == 3, "each message is taken");
}

void threePosters() {
    Object object;
    parallel([&] { object.post(0); }, [&] { object.post(1); }, [&] { object.post(2); });
    check(object.state.get() == 3, "each message is taken");
}

/// The object may be destroyed after its end.
void endBesideAPoster() {
    Object object;
    bool isPosted = false;
    parallel([&] { isPosted = object.post(0); }, [&] { object.post(Object::last); },
             [&] {
                 if (object.mailbox.hasEnded()) {
                     object.state.set(-10);
                 }
             });
    const int state = object.state.get();
    check(state == (isPosted ? 2 : 1) || state == -10, "accepted messages are taken");
}

void twoTellers() {
    Object object;
    parallel([&] { object.tell(1), object.tell(10); }, [&] { object.tell(100); });
    check(object.seen.get() == 111, "the last look sees all news");
}

void tellerBesideAPoster() {
    Object object;
    parallel([&] { object.tell(1), object.post(0); }, [&] { object.tell(10), object.post(1); });
    check(object.seen.get() == 11 && object.state.get() == 2, "news and messages are seen");
}

TEST(PooledMailboxModelTest, OneConsumerTakesEachMessage) {
    EXPECT_TRUE(holds(twoPosters));
    EXPECT_TRUE(holds(threePosters));
    EXPECT_TRUE(holds(endBesideAPoster));
    EXPECT_TRUE(holds(twoTellers));
    EXPECT_TRUE(holds(tellerBesideAPoster));
}

TEST(PooledMailboxModelTest, EveryOrderIsNeeded) {
    EXPECT_TRUE(survive({}, ordersOf("pooled_mailbox.hpp", {},
                                     {twoPosters, threePosters, endBesideAPoster, twoTellers,
                                      tellerBesideAPoster})));
}

}  // namespace
}  // namespace sluice::model
