/// \file
/// CAF, the C++ Actor Framework. Its mailboxes have no bound.

#include "adapters/actor_subjects.hpp"

#include <caf/all.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sluice::bench {

namespace {

struct Token {
    std::uint64_t left;
    std::uint64_t made;
    std::promise<std::uint64_t>* done;
};

}  // namespace

}  // namespace sluice::bench

// CAF since 1.0 numbers its message types and has another call to send.
#if defined(CAF_VERSION_MAJOR) && CAF_VERSION_MAJOR >= 1
#define SLUICE_CAF_1
CAF_BEGIN_TYPE_ID_BLOCK(sluice_bench, first_custom_type_id)
CAF_ADD_TYPE_ID(sluice_bench, (sluice::bench::SmallActorMessage))
CAF_ADD_TYPE_ID(sluice_bench, (sluice::bench::ActorMessage))
CAF_ADD_TYPE_ID(sluice_bench, (sluice::bench::LargeActorMessage))
CAF_ADD_TYPE_ID(sluice_bench, (sluice::bench::Token))
CAF_END_TYPE_ID_BLOCK(sluice_bench)
#endif

// Messages of one process, never serialised.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::bench::SmallActorMessage)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::bench::ActorMessage)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::bench::LargeActorMessage)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::bench::Token)

namespace sluice::bench {

namespace {

template <class Message>
void sendTo(const caf::actor& object, Message&& message) {
#if defined(SLUICE_CAF_1)
    caf::anon_mail(std::forward<Message>(message)).send(object);
#else
    caf::anon_send(object, std::forward<Message>(message));
#endif
}

void endOf(const caf::actor& object) {
    sendTo(object, caf::exit_msg{{}, caf::exit_reason::user_shutdown});
}

template <class Message>
class Receiver {
public:
    Receiver(std::size_t /*capacity*/, Handled& handled)
        : system_(config_), object_(system_.spawn<caf::detached>([&handled] {
              return caf::behavior{[&handled](const Message& message) { handled.take(message); }};
          })) {}
    Receiver(const Receiver&) = delete;
    Receiver& operator=(const Receiver&) = delete;
    ~Receiver() { endOf(object_); }

    bool tryPush(const Message& message) {
        sendTo(object_, message);
        return true;
    }

private:
    caf::actor_system_config config_;
    caf::actor_system system_;
    caf::actor object_;
};

class Replier {
public:
    Replier()
        : system_(config_),
          object_(system_.spawn<caf::detached>(
              [] { return caf::behavior{[](std::uint64_t number) { return number + 1; }}; })),
          self_(system_) {}
    Replier(const Replier&) = delete;
    Replier& operator=(const Replier&) = delete;
    ~Replier() { endOf(object_); }

    std::uint64_t ask(std::uint64_t number) {
        std::uint64_t reply = 0;
#if defined(SLUICE_CAF_1)
        auto request = self_->mail(number).request(object_, caf::infinite);
#else
        auto request = self_->request(object_, caf::infinite, number);
#endif
        std::move(request).receive([&reply](std::uint64_t value) { reply = value; },
                                   [](const caf::error&) {});
        return reply;
    }

private:
    caf::actor_system_config config_;
    caf::actor_system system_;
    caf::actor object_;
    caf::scoped_actor self_;
};

struct Member {
    caf::actor next;
};

/// The next member is sent as a message, because all members must exist before.
caf::behavior member(caf::stateful_actor<Member>* self) {
#if defined(SLUICE_CAF_1)
    Member& state = self->state();
    const auto send = [self](const caf::actor& to, const Token& token) {
        self->mail(token).send(to);
    };
#else
    Member& state = self->state;
    const auto send = [self](const caf::actor& to, const Token& token) { self->send(to, token); };
#endif
    return {[&state](const caf::actor& next) { state.next = next; },
            [&state, send](const Token& token) {
                if (token.left == 0) {
                    token.done->set_value(token.made);
                } else {
                    send(state.next, Token{token.left - 1, token.made + 1, token.done});
                }
            }};
}

class Ring {
public:
    Ring(std::size_t objects, std::size_t threads)
        : config_(configFor(threads)), system_(std::make_unique<caf::actor_system>(*config_)) {
        for (std::size_t i = 0; i < objects; ++i) {
            members_.push_back(system_->spawn(member));
        }
        for (std::size_t i = 0; i < objects; ++i) {
            sendTo(members_[i], members_[(i + 1) % objects]);
        }
    }
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;
    ~Ring() {
        for (caf::actor& each : members_) {
            endOf(each);
        }
    }

    std::uint64_t pass(std::uint64_t hops) {
        std::promise<std::uint64_t> done;
        sendTo(members_.front(), Token{hops, 0, &done});
        return done.get_future().get();
    }

private:
    static std::unique_ptr<caf::actor_system_config> configFor(std::size_t threads) {
        auto config = std::make_unique<caf::actor_system_config>();
        config->set("scheduler.max-threads", threads);
        return config;
    }

    std::unique_ptr<caf::actor_system_config> config_;
    std::unique_ptr<caf::actor_system> system_;
    std::vector<caf::actor> members_;
};

}  // namespace

void addCaf(ActorSubjects& subjects) {
#if defined(SLUICE_CAF_1)
    caf::init_global_meta_objects<caf::id_block::sluice_bench>();
    caf::core::init_global_meta_objects();
#endif
    Subject info;
    info.library = "CAF";
#if !defined(SLUICE_CAF_GIVEN)
    info.prebuilt = true;
#endif
#if defined(CAF_VERSION_STR)
    info.version = CAF_VERSION_STR;  // CAF 1.1.0 writes the number CAF_VERSION as 0100
#else
    info.version = std::to_string(CAF_VERSION / 10000) + "." +
                   std::to_string(CAF_VERSION / 100 % 100) + "." +
                   std::to_string(CAF_VERSION % 100);
#endif
    info.features.topology = "any thread";
    info.features.order = "each producer";
    info.features.bound = "unbounded";
    info.features.allocates = true;
    info.features.inPlace = true;
    info.features.blocking = true;
    info.features.priority = true;
    info.features.typeErasure = true;

    Subject detached = info;
    detached.id = "caf/detached";
    detached.use = "event-based actor with a thread of its own";
    subjects.push_back({detached});
    addReceiver<Receiver<SmallActorMessage>, Receiver<ActorMessage>, Receiver<LargeActorMessage>>(
        subjects.back());
    addReplier<Replier>(subjects.back());

    Subject pooled = info;
    pooled.id = "caf/pooled";
    pooled.use = "event-based actors, work stealing";
    subjects.push_back({pooled});
    addRing<Ring>(subjects.back());
}

}  // namespace sluice::bench
