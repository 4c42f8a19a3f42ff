/// \file
/// The active object that programs build on eventpp: a thread that processes an EventQueue, whose
/// messages are shared pointers. Compiled as peer.cpp is, with SLUICE_EVENTPP_ADD_ACTOR for the
/// function's name.

#include "adapters/actor_subjects.hpp"

#include <eventpp/eventqueue.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>

namespace sluice::bench {

namespace {

template <class Message>
class Receiver {
public:
    Receiver(std::size_t /*capacity*/, Handled& handled) {
        queue_.appendListener(message,
                              [&handled](const Pointer& pointer) { handled.take(*pointer); });
        queue_.appendListener(end, [this](const Pointer& /*pointer*/) { isOver_ = true; });
        thread_ = std::thread([this] {
            while (!isOver_) {
                queue_.wait();
                queue_.process();
            }
        });
    }
    Receiver(const Receiver&) = delete;
    Receiver& operator=(const Receiver&) = delete;
    ~Receiver() {
        queue_.enqueue(end, Pointer());
        thread_.join();
    }

    bool tryPush(const Message& content) {
        queue_.enqueue(message, std::make_shared<const Message>(content));
        return true;
    }

private:
    using Pointer = std::shared_ptr<const Message>;
    static constexpr int message = 1;
    static constexpr int end = 2;

    eventpp::EventQueue<int, void(const Pointer&)> queue_;
    std::atomic<bool> isOver_{false};
    std::thread thread_;
};

}  // namespace

void SLUICE_EVENTPP_ADD_ACTOR(ActorSubjects& subjects) {
    Subject info;
    info.library = SLUICE_EVENTPP_ID;
    info.version = SLUICE_EVENTPP_VERSION;
    info.id = info.library + "/active object";
    info.use = "a thread, EventQueue, std::shared_ptr, listeners in std::function";
    info.features.topology = "any thread";
    info.features.order = "each producer";
    info.features.bound = "unbounded";
    info.features.allocates = true;
    info.features.inPlace = true;
    info.features.blocking = true;
    info.features.typeErasure = true;
    subjects.push_back({info});
    addReceiver<Receiver<SmallActorMessage>, Receiver<ActorMessage>, Receiver<LargeActorMessage>>(
        subjects.back());
}

}  // namespace sluice::bench
