#include <sluice/queue/blocking_queue.hpp>
#include <sluice/queue/mpmc_lanes.hpp>
#include <sluice/queue/mpmc_ring.hpp>
#include <sluice/queue/mpsc_lanes.hpp>
#include <sluice/queue/mpsc_ring.hpp>
#include <sluice/queue/overwrite_ring.hpp>
#include <sluice/queue/spsc_ring.hpp>
#include <sluice/wait/wait_set.hpp>

#include <cstdint>
#include <iterator>
#include <vector>

struct ByteTraits : sluice::QueueTraits {
    using Index = std::uint8_t;
};
struct ByteOverwriteTraits : sluice::OverwriteRingTraits {
    using Index = std::uint8_t;
};
struct OddTraits : sluice::QueueTraits {
    static constexpr std::uint64_t firstPosition = 7;
};
struct SignedTraits : sluice::QueueTraits {
    using Index = std::int32_t;
};
struct Named {
    explicit Named(int n) : number(n) {}
    int number;
};
struct Fragile {
    explicit Fragile(int n) : number(n) {}
    Fragile(Fragile&& other) : number(other.number) {}
    int number;
};

#if CASE == 0
int allThatTheOtherCasesNearlyAre() {
    sluice::MpscRing<Named, 64, ByteTraits> largest;
    sluice::SpscRing<Named, 64, ByteTraits> other;
    sluice::MpscRing<Named, sluice::dynamicCapacity> shared(3);
    sluice::MpmcRing<Named, 64, ByteTraits> forMany;
    sluice::SpscRing<Named, sluice::dynamicCapacity> single(3);
    sluice::OverwriteRing<Named, 31, ByteOverwriteTraits> newest;
    const bool accepted = largest.tryEmplace(1) == sluice::SendResult::ok &&
                          forMany.tryEmplace(1) == sluice::SendResult::ok &&
                          newest.tryEmplace(1) == sluice::SendResult::ok &&
                          other.tryEmplace(1) == sluice::SendResult::ok &&
                          shared.tryPush(Named(2)) == sluice::SendResult::ok &&
                          single.tryPush(Named(2)) == sluice::SendResult::ok;
    return accepted ? largest.tryPop()->number : 0;
}
#elif CASE == 2
// EXPECT: the capacity of a ring must be at most a quarter of its Index type's range
sluice::MpscRing<int, 65, ByteTraits> ring;
#elif CASE == 6
// EXPECT: the Index of the traits must be an unsigned integer
sluice::MpscRing<int, 4, SignedTraits> ring;
#elif CASE == 7
// EXPECT: the capacity of an OverwriteRing must be below an eighth of its Index's range
sluice::OverwriteRing<int, 32, ByteOverwriteTraits> ring;
#elif CASE == 8
// EXPECT: OverwriteRing moves each message out: declare its move constructor noexcept
sluice::OverwriteRing<Fragile, 8> ring;
#elif CASE == 9
// EXPECT: writable\(\) gives raw memory: for messages with constructors, use tryPushAll\(\) or
std::size_t fillInPlace(sluice::SpscRing<Fragile, 8>& ring) {
    return ring.writable()[0].size;
}
#elif CASE == 20
// EXPECT ONLY: each producer of this queue has a handle: push through .producer\(\).
bool pushWithoutAHandle(sluice::BlockingQueue<sluice::MpscLanes<int>>& queue) {
    return queue.push(3) == sluice::SendResult::ok;
}
#elif CASE == 21
// EXPECT: tryPop\(\) of an MpmcRing would lose a message whose move constructor throws
bool popFragile(sluice::MpmcRing<Fragile, 8>& ring) {
    return ring.tryPop().has_value();
}
#elif CASE == 23
// EXPECT: tryPop\(\) of MpscLanes would lose a message
struct OwnFragile : Fragile {
    OwnFragile(OwnFragile&& other) noexcept(false) : Fragile(static_cast<Fragile&&>(other)) {}
};
bool popFragile(sluice::BlockingQueue<sluice::MpscLanes<OwnFragile>>& queue) {
    return queue.pop().has_value();
}
#elif CASE == 24
// EXPECT: WaitSet::add\(\): the wait strategy of a source is WaitSet::Member
void addWithoutMember(sluice::WaitSet& set,
                      sluice::BlockingQueue<sluice::SpscRing<int, 8>>& queue) {
    set.add(queue, [&] { return queue.tryPop().has_value(); });
}
#elif CASE == 25
// EXPECT: tryPop\(\) of MpmcLanes would lose a message whose move constructor throws
bool popFragile(sluice::MpmcLanes<Fragile>& lanes) {
    return lanes.tryPop().has_value();
}
#elif CASE == 27
// EXPECT: tryPopAll\(\) would lose messages if an assignment throws
std::size_t popInto(sluice::MpmcRing<int, 8>& ring, std::vector<int>& messages) {
    return ring.tryPopAll(std::back_inserter(messages), 8);
}
#elif CASE == 28
// EXPECT: consumeBatch\(\) is for SpscRing, MpscRing and SegmentQueue
std::size_t batchOfMany(sluice::BlockingQueue<sluice::MpmcRing<int, 8>>& queue) {
    return queue.consumeBatch(2, std::chrono::seconds(1), [](int) {});
}
#elif CASE == 29
// EXPECT: tryPushAll\(\) needs forward iterators
std::size_t pushInput(sluice::SpscRing<int, 8>& ring, std::istream_iterator<int> input) {
    return ring.tryPushAll(input, std::istream_iterator<int>());
}
#elif CASE == 30
// EXPECT: tryPushAll\(\) needs forward iterators
std::size_t pushInput(sluice::MpmcRing<long, 8>& ring, std::istream_iterator<long> input) {
    return ring.tryPushAll(input, std::istream_iterator<long>());
}
#endif
