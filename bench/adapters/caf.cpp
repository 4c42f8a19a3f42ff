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

// Messages of one process, never serialised.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::bench::SmallActorMessage)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::bench::ActorMessage)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::bench::LargeActorMessage)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::bench::Token)

namespace sluice::bench {

namespace {

template <class Message>
class Receiver {
public:
    Receiver(std::size_t /*capacity*/, Handled& handled)
        : system_(config_), object_(system_.spawn<caf::detached>([&handled] {
              return caf::behavior{[&handled](const Message& message) { handled.take(message); }};
          })) {}
    Receiver(const Receiver&) = delete;
    Receiver& operator=(const Receiver&) = delete;
    ~Receiver() { caf::anon_send_exit(object_, caf::exit_reason::user_shutdown); }

    bool tryPush(const Message& message) {
        caf::anon_send(object_, message);
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
    ~Replier() { caf::anon_send_exit(object_, caf::exit_reason::user_shutdown); }

    std::uint64_t ask(std::uint64_t number) {
        std::uint64_t reply = 0;
        self_->request(object_, caf::infinite, number)
            .receive([&reply](std::uint64_t value) { reply = value; }, [](const caf::error&) {});
        return reply;
    }

private:
    caf::actor_system_config config_;
    caf::actor_system system_;
    caf::actor object_;
    caf::scoped_actor self_;
};

/// The next member comes as a message, as all of them must be there before.
caf::behavior member(caf::stateful_actor<caf::actor>* self) {
    return {[self](const caf::actor& next) { self->state = next; },
            [self](const Token& token) {
                if (token.left == 0) {
                    token.done->set_value(token.made);
                } else {
                    self->send(self->state, Token{token.left - 1, token.made + 1, token.done});
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
            caf::anon_send(members_[i], members_[(i + 1) % objects]);
        }
    }
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;
    ~Ring() {
        for (caf::actor& each : members_) {
            caf::anon_send_exit(each, caf::exit_reason::user_shutdown);
        }
    }

    std::uint64_t pass(std::uint64_t hops) {
        std::promise<std::uint64_t> done;
        caf::anon_send(members_.front(), Token{hops, 0, &done});
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
    Subject info;
    info.library = "CAF";
    info.prebuilt = true;
    info.version = std::to_string(CAF_VERSION / 10000) + "." +
                   std::to_string(CAF_VERSION / 100 % 100) + "." +
                   std::to_string(CAF_VERSION % 100);
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
