/// \file
/// SObjectizer. Its mailboxes have no bound unless message limits are set.

#include "adapters/actor_subjects.hpp"

#if defined(SLUICE_PEER_SOBJECTIZER)
#include <so_5/all.hpp>
#include <so_5/version.hpp>
#endif

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sluice::bench {

namespace {

#if defined(SLUICE_PEER_SOBJECTIZER)

template <class Message>
class Receiver {
public:
    Receiver(std::size_t /*capacity*/, Handled& handled) {
        system_.environment().introduce_coop(
            so_5::disp::active_obj::make_dispatcher(system_.environment()).binder(),
            [&](so_5::coop_t& coop) {
                box_ = coop.template make_agent<Agent>(handled)->so_direct_mbox();
            });
    }
    bool tryPush(const Message& message) {
        so_5::send<Message>(box_, message);
        return true;
    }

private:
    class Agent final : public so_5::agent_t {
    public:
        Agent(context_t context, Handled& handled)
            : agent_t(std::move(context)), handled_(handled) {}
        void so_define_agent() override {
            so_subscribe_self().event(
                [this](so_5::mhood_t<Message> message) { handled_.take(*message); });
        }

    private:
        Handled& handled_;
    };

    so_5::wrapped_env_t system_;
    so_5::mbox_t box_;
};

struct Token {
    std::uint64_t left;
    std::uint64_t made;
    std::promise<std::uint64_t>* done;
};

class Ring {
public:
    Ring(std::size_t objects, std::size_t threads) {
        namespace pool = so_5::disp::thread_pool;
        const auto dispatcher = pool::make_dispatcher(system_.environment(), threads);
        system_.environment().introduce_coop(
            dispatcher.binder(pool::bind_params_t{}.fifo(pool::fifo_t::individual)),
            [&](so_5::coop_t& coop) {
                std::vector<Member*> members;
                for (std::size_t i = 0; i < objects; ++i) {
                    members.push_back(coop.make_agent<Member>());
                }
                for (std::size_t i = 0; i < objects; ++i) {
                    members[i]->next = members[(i + 1) % objects]->so_direct_mbox();
                }
                first_ = members.front()->so_direct_mbox();
            });
    }

    std::uint64_t pass(std::uint64_t hops) {
        std::promise<std::uint64_t> done;
        so_5::send<Token>(first_, hops, 0U, &done);
        return done.get_future().get();
    }

private:
    class Member final : public so_5::agent_t {
    public:
        explicit Member(context_t context) : agent_t(std::move(context)) {}
        void so_define_agent() override {
            so_subscribe_self().event([this](so_5::mhood_t<Token> token) {
                if (token->left == 0) {
                    token->done->set_value(token->made);
                } else {
                    so_5::send<Token>(next, token->left - 1, token->made + 1, token->done);
                }
            });
        }
        so_5::mbox_t next;
    };

    so_5::wrapped_env_t system_;
    so_5::mbox_t first_;
};

#endif

}  // namespace

void addSobjectizer(ActorSubjects& subjects) {
    Subject info;
    info.library = "SObjectizer";
    info.features.topology = "any thread";
    info.features.order = "each producer";
    info.features.bound = "unbounded";
    info.features.allocates = true;
    info.features.inPlace = true;
    info.features.blocking = true;
    info.features.typeErasure = true;

    Subject own = info;
    own.id = "sobjectizer/active_obj";
    own.use = "active_obj dispatcher, direct mbox";
    Subject pooled = info;
    pooled.id = "sobjectizer/thread_pool";
    pooled.use = "thread_pool dispatcher, individual fifo, direct mboxes";
#if defined(SLUICE_PEER_SOBJECTIZER)
    own.version = pooled.version =
        "5." + std::to_string(SO_5_VERSION_MAJOR) + "." + std::to_string(SO_5_VERSION_MINOR);
    subjects.push_back({own});
    addReceiver<Receiver<SmallActorMessage>, Receiver<ActorMessage>, Receiver<LargeActorMessage>>(
        subjects.back());
    subjects.push_back({pooled});
    addRing<Ring>(subjects.back());
#else
    own.absentBecause = notCompiledIn("SLUICE_PEER_SOBJECTIZER_INCLUDE");
    pooled.absentBecause = own.absentBecause;
    subjects.push_back({own});
    subjects.push_back({pooled});
#endif
}

}  // namespace sluice::bench
