#pragma once

#include "samples.hpp"

#include <sluice/queue/blocking_queue.hpp>
#include <sluice/queue/mpsc_lanes.hpp>

#include <cstddef>
#include <utility>

namespace hostwatch {

/// The way messages take: a lane of its own for each producer thread, harvested by one consumer.
/// The only file that knows which queue it is.
class Transport {
    using Queue = sluice::BlockingQueue<sluice::MpscLanes<Message>>;

public:
    /// Room for this many messages per producer.
    static constexpr std::size_t laneCapacity = 1024;

    /// One producer's end. Used by one thread at a time; its lane goes when it does.
    class Publisher {
    public:
        /// Stamps and hands over the message. False, and nothing kept, when the lane is full.
        bool publish(const Measurement& measurement) {
            return producer_.tryPush(Message{Clock::now(), measurement}) == sluice::PushResult::ok;
        }

    private:
        friend class Transport;
        explicit Publisher(Queue& queue) : producer_(queue.producer()) {}

        decltype(std::declval<Queue&>().producer()) producer_;
    };

    Publisher publisher() { return Publisher(queue_); }

    /// Waits up to `timeout` for messages, then handles what is there, at most `most` of them.
    template <class Handler>
    std::size_t consume(Handler&& handler, std::size_t most, Clock::duration timeout) {
        return queue_.consumeFor(timeout, std::forward<Handler>(handler), most);
    }

    /// Publishing fails from here on; what was accepted can still be consumed.
    void close() { queue_.close(); }

    /// Messages in the queue; exact while nobody publishes or consumes.
    std::size_t queued() const { return queue_.sizeApprox(); }

private:
    Queue queue_{laneCapacity};
};

}  // namespace hostwatch
