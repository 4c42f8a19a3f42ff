#include "adapters/queue_subjects.hpp"

#include <sluice/queue/mpmc_lanes.hpp>
#include <sluice/queue/mpsc_lanes.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sluice::bench {

namespace {

/// The lanes of all producers together have the capacity asked for.
template <class Queue, class Message>
class LanesQueue {
public:
    LanesQueue(std::size_t capacity, std::size_t producers)
        : queue_(std::max<std::size_t>(1, capacity / producers)) {}

    struct Producer {
        typename Queue::Producer lane;
        bool tryPush(const Message& message) { return lane.tryPush(message) == SendResult::ok; }
    };

    struct Consumer {
        Queue& queue;
        template <class Handler>
        std::size_t poll(Handler&& handler) {
            return queue.consume(handler);
        }
    };

    Producer producer() { return {queue_.producer()}; }
    Consumer consumer() { return {queue_}; }

private:
    Queue queue_;
};

template <class Message>
using MpscLanesQueue = LanesQueue<MpscLanes<Message>, Message>;
template <class Message>
using MpmcLanesQueue = LanesQueue<MpmcLanes<Message>, Message>;

}  // namespace

void addMpscLanes(QueueSubjects& subjects) {
    Subject info;
    info.id = "sluice/MpscLanes";
    info.use = "one lane per producer, the capacity divided among them; tryPush(), consume()";
    info.features = {"mpsc", "exact", "each producer", false, true};
    addOurs<MpscLanesQueue>(subjects, std::move(info));
}

void addMpmcLanes(QueueSubjects& subjects) {
    Subject info;
    info.id = "sluice/MpmcLanes";
    info.use = "one lane per producer, the capacity divided among them; tryPush(), consume()";
    info.features = {"mpmc", "exact", "each producer", false, true};
    addOurs<MpmcLanesQueue>(subjects, std::move(info));
}

}  // namespace sluice::bench
