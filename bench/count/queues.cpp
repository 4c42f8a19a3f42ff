#include "adapters/sluice_queue.hpp"
#include "queue_rows.hpp"
#include "rows.hpp"

#include <sluice/queue/latest.hpp>
#include <sluice/queue/mpmc_lanes.hpp>
#include <sluice/queue/mpmc_ring.hpp>
#include <sluice/queue/mpsc_lanes.hpp>
#include <sluice/queue/mpsc_ring.hpp>
#include <sluice/queue/overwrite_ring.hpp>
#include <sluice/queue/segment_queue.hpp>
#include <sluice/queue/spsc_ring.hpp>

namespace sluice::count {

namespace {

template <class Queue>
using Adapter = bench::SluiceQueue<Queue, Message>;

/// One producer with a lane of its own.
template <class Queue>
class Lanes {
public:
    Lanes(std::size_t capacity, std::size_t) : queue_(capacity) {}

    struct Producer {
        typename Queue::Producer lane;
        bool tryPush(const Message& message) { return lane.tryPush(message) == SendResult::ok; }
    };

    Producer producer() { return {queue_.producer()}; }
    typename Adapter<Queue>::Consumer consumer() { return {queue_}; }

private:
    Queue queue_;
};

struct OneProducer : OverwriteRingTraits {
    static constexpr bool manyProducers = false;
};

/// Counts a value that is written, and read before the next one.
void countLatest(const Counting& counting) {
    Latest<Message, 2> latest;
    counting.each([] {},
                  [&] {
                      forEachMessage([&](const Message& message) {
                          expect(latest.set(message), "a writer was refused");
                          use(latest.update()->first());
                      });
                  });
}

}  // namespace

void addQueues(Rows& rows) {
    addQueue<Adapter<SpscRing<Message, dynamicCapacity>>>(rows, ours, {"SpscRing"});
    addQueue<Adapter<MpscRing<Message, dynamicCapacity>>>(rows, ours, {"MpscRing"});
    addQueue<Adapter<MpmcRing<Message, dynamicCapacity>>>(rows, ours, {"MpmcRing"});
    addQueue<Adapter<OverwriteRing<Message, dynamicCapacity>>>(rows, ours, {"OverwriteRing"});
    addQueue<Adapter<OverwriteRing<Message, dynamicCapacity, OneProducer>>>(
        rows, ours, {"OverwriteRing-one-producer"});
    addQueue<Lanes<MpscLanes<Message>>>(rows, ours, {"MpscLanes"});
    addQueue<Lanes<MpmcLanes<Message>>>(rows, ours, {"MpmcLanes"});
    addQueue<Adapter<SegmentQueue<Message>>>(rows, ours, {"SegmentQueue"});
    rows.push_back({"queue/Latest/set+update", ours, &countLatest});
}

}  // namespace sluice::count
