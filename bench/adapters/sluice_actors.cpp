/// \file
/// Our active objects, and our objects on a pool of threads.

#include "adapters/actor_subjects.hpp"

#include <sluice/actor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <vector>

namespace sluice::bench {

namespace {

constexpr std::size_t mailboxDepth = 4096;

struct ReceiverTraits : ActorTraits {
    static constexpr std::size_t depth = mailboxDepth;
};

/// A second type of message, so that finding the handler is work.
struct Other {};

template <class Message>
class Receiving
    : public ActiveObject<Receiving<Message>, Messages<Message, Other>, ReceiverTraits> {
public:
    explicit Receiving(Handled& handled) : handled_(handled) {}
    void handle(const Message& message) { handled_.take(message); }
    void handle(const Other& /*other*/) {}

private:
    Handled& handled_;
};

template <class Message>
class Receiver {
public:
    Receiver(std::size_t /*capacity*/, Handled& handled)
        : object_(std::make_unique<Running<Receiving<Message>>>(ThreadOptions{}, handled)) {}

    bool tryPush(const Message& message) { return object_->post(message) == SendResult::ok; }

private:
    std::unique_ptr<Running<Receiving<Message>>> object_;
};

using Question = Request<std::uint64_t, std::uint64_t>;

class Replying : public ActiveObject<Replying, Messages<Question>> {
public:
    void handle(const Question& request) { request.reply(request.question + 1); }
};

class Replier {
public:
    std::uint64_t ask(std::uint64_t number) {
        auto reply = object_->request<std::uint64_t>(number, std::chrono::seconds(10)).get();
        return reply ? *reply : 0;
    }

private:
    std::unique_ptr<Running<Replying>> object_ = std::make_unique<Running<Replying>>();
};

struct Token {
    std::uint64_t left;
    std::uint64_t made;
    std::promise<std::uint64_t>* done;
};

struct MemberTraits : PooledTraits {
    static constexpr std::uint32_t depth = 16;
};

class Member : public PooledObject<Member, Messages<Token>, MemberTraits> {
public:
    void handle(const Token& token) const {
        if (token.left == 0) {
            token.done->set_value(token.made);
        } else {
            (void)next->post(Token{token.left - 1, token.made + 1, token.done});
        }
    }
    Member* next = nullptr;
};

class Ring {
public:
    Ring(std::size_t objects, std::size_t threads) : pool_(threads) {
        for (std::size_t i = 0; i < objects; ++i) {
            members_.push_back(std::make_unique<Running<Member>>(pool_));
        }
        for (std::size_t i = 0; i < objects; ++i) {
            members_[i]->next = members_[(i + 1) % objects].get();
        }
    }

    std::uint64_t pass(std::uint64_t hops) {
        std::promise<std::uint64_t> done;
        (void)members_.front()->post(Token{hops, 0, &done});
        return done.get_future().get();
    }

private:
    ThreadPool pool_;
    std::vector<std::unique_ptr<Running<Member>>> members_;
};

}  // namespace

void addSluiceActors(ActorSubjects& subjects) {
    Subject info;
    info.library = "sluice";
    info.ours = true;
    info.features.topology = "any thread";
    info.features.order = "each producer";
    info.features.blocking = true;
    info.features.priority = true;
    info.features.statistics = true;

    Subject own = info;
    own.id = "sluice/ActiveObject";
    own.use = "a thread of its own, 4096 messages in the object";
    own.features.bound = "exact";
    own.features.inPlace = true;
    own.features.backPressure = true;
    subjects.push_back({own});
    addReceiver<Receiver<SmallActorMessage>, Receiver<ActorMessage>, Receiver<LargeActorMessage>>(
        subjects.back());
    addReplier<Replier>(subjects.back());

    Subject pooled = info;
    pooled.id = "sluice/PooledObject";
    pooled.use = "on a ThreadPool, 16 messages an object";
    pooled.features.bound = "exact";
    pooled.features.inPlace = true;
    subjects.push_back({pooled});
    addRing<Ring>(subjects.back());
}

}  // namespace sluice::bench
