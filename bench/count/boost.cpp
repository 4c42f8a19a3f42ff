#include "adapters/boost_queue.hpp"
#include "adapters/boost_spsc.hpp"
#include "event_rows.hpp"
#include "pool_rows.hpp"
#include "queue_rows.hpp"
#include "rows.hpp"

#include <boost/pool/pool.hpp>

// g++ 12 takes the storage of a small boost::function for uninitialised when it is moved.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <boost/signals2.hpp>
#pragma GCC diagnostic pop

namespace sluice::count {

namespace {

class Signal {
public:
    template <class Slot>
    void add(Slot slot) {
        signal_.connect(slot);
    }
    void call(std::uint64_t value) { signal_(value); }

private:
    boost::signals2::signal<void(std::uint64_t)> signal_;
};

/// For one thread: it has no lock.
class Pool {
public:
    void* allocate() { return pool_.malloc(); }
    void deallocate(void* block) { pool_.free(block); }

private:
    boost::pool<> pool_{sizeof(Message)};
};

}  // namespace

void addBoost(Rows& rows) {
    addQueue<bench::BoostSpsc<Message>>(rows, "boost/spsc_queue", {"SpscRing"});
    addQueue<bench::BoostQueue<Message>>(rows, "boost/queue",
                                         {"MpscRing", "MpmcRing", "MpscLanes", "SegmentQueue"});
    addList<Signal>(rows, "boost/signals2");
    addPool<Pool>(rows, "boost/pool (one thread)", {"BlockPool", "ObjectPool"});
}

}  // namespace sluice::count
