#include "adapters/queue_subjects.hpp"
#include "adapters/sluice_queue.hpp"

#include <sluice/queue/mpmc_ring.hpp>

#include <array>
#include <cstddef>
#include <utility>

namespace sluice::bench {

namespace {

template <class Message>
using MpmcRingQueue = SluiceQueue<MpmcRing<Message, dynamicCapacity>, Message>;

/// Its consumers take several messages with one claim.
template <class Message>
class MpmcRingBulk : public MpmcRingQueue<Message> {
    using Ring = MpmcRing<Message, dynamicCapacity>;

public:
    using SluiceQueue<Ring, Message>::SluiceQueue;

    struct Consumer {
        Ring& ring;
        std::array<Message, 256> taken;
        template <class Handler>
        std::size_t poll(Handler&& handler) {
            const std::size_t count = ring.tryPopAll(taken.begin(), taken.size());
            for (std::size_t i = 0; i < count; ++i) {
                handler(taken[i]);
            }
            return count;
        }
    };
    Consumer consumer() { return {MpmcRingQueue<Message>::consumer().queue, {}}; }
};

}  // namespace

void addMpmcRing(QueueSubjects& subjects) {
    Subject info;
    info.id = "sluice/MpmcRing";
    info.use = "run-time capacity; tryPush(), consume()";
    info.features = {"mpmc", "exact", "all producers", false, true};
    Subject bulk = info;
    bulk.id += "/bulk";
    bulk.use = "run-time capacity; tryPush(), tryPopAll() of 256";
    addOurs<MpmcRingQueue>(subjects, std::move(info));
    addOurs<MpmcRingBulk>(subjects, std::move(bulk));
}

}  // namespace sluice::bench
