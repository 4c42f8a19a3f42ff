#include <sluice/queue/blocking_queue.hpp>
#include <sluice/queue/mpmc_ring.hpp>
#include <sluice/queue/mpsc_lanes.hpp>
#include <sluice/queue/mpsc_ring.hpp>
#include <sluice/queue/spsc_ring.hpp>

#include <cstdint>

struct ByteTraits : sluice::QueueTraits {
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
    const bool accepted = largest.tryEmplace(1) == sluice::SendResult::ok &&
                          forMany.tryEmplace(1) == sluice::SendResult::ok &&
                          other.tryEmplace(1) == sluice::SendResult::ok &&
                          shared.tryPush(Named(2)) == sluice::SendResult::ok &&
                          single.tryPush(Named(2)) == sluice::SendResult::ok;
    return accepted ? largest.tryPop()->number : 0;
}
#elif CASE == 1
// EXPECT: the capacity of a ring must be at least 1
sluice::MpscRing<int, 0> ring;
#elif CASE == 2
// EXPECT: the capacity of a ring must be at most a quarter of its Index type's range
sluice::MpscRing<int, 65, ByteTraits> ring;
#elif CASE == 3
// EXPECT: ignoring returned value|nodiscard
void forgetTheResult(sluice::SpscRing<int, 8>& ring) {
    ring.tryPush(7);
}
#elif CASE == 4
// EXPECT: firstPosition of the traits must be even
sluice::MpscRing<int, 4, OddTraits> ring;
#elif CASE == 5
// EXPECT: firstPosition of the traits must be even
sluice::SpscRing<int, 4, OddTraits> ring;
#elif CASE == 6
// EXPECT: the Index of the traits must be an unsigned integer
sluice::MpscRing<int, 4, SignedTraits> ring;
#elif CASE == 7
// EXPECT: no matching (function for call to|constructor for initialization of) .*MpscRing
sluice::MpscRing<int, sluice::dynamicCapacity> ring;
#elif CASE == 8
// EXPECT: (use of deleted function|call to implicitly-deleted default constructor) .*SpscRing
sluice::SpscRing<int, sluice::dynamicCapacity> ring;
#elif CASE == 9
// EXPECT: no matching (function for call to|constructor for initialization of) .*MpscRing
sluice::MpscRing<int, 4> ring(4);
#elif CASE == 10
// EXPECT: no matching (function for call to|constructor for initialization of) .*SpscRing
sluice::SpscRing<int, 4> ring(4);
#elif CASE == 11
// EXPECT: invalid conversion|no matching function|cannot initialize|excess elements|no matching
// constructor
bool emplaceWhatCannotBeBuilt(sluice::MpscRing<Named, 4>& ring) {
    return ring.tryEmplace("a name") == sluice::SendResult::ok;
}
#elif CASE == 12
// EXPECT: invalid conversion|no matching function|cannot initialize|excess elements|no matching
// constructor
bool emplaceWithTooManyArguments(sluice::SpscRing<Named, 4>& ring) {
    return ring.tryEmplace(1, 2) == sluice::SendResult::ok;
}
#elif CASE == 13
// EXPECT: no matching (member )?function for call to .*tryPush
bool pushWhatNeedsAnExplicitConversion(sluice::MpscRing<Named, 4>& ring) {
    return ring.tryPush(1) == sluice::SendResult::ok;
}
#elif CASE == 14
// EXPECT: use of deleted function|call to deleted constructor
sluice::MpscRing<int, 8> copy(const sluice::MpscRing<int, 8>& ring) {
    return ring;
}
#elif CASE == 15
// EXPECT: ignoring returned value|nodiscard
void forgetTheResult(sluice::MpscRing<int, 8>& ring) {
    ring.tryPush(7);
}
#elif CASE == 16
// EXPECT: ignoring return value|nodiscard
void forgetTheMessage(sluice::MpscRing<int, 8>& ring) {
    ring.tryPop();
}
#elif CASE == 17
// EXPECT: use of deleted function|call to deleted constructor
sluice::SpscRing<int, 8> copy(const sluice::SpscRing<int, 8>& ring) {
    return ring;
}
#elif CASE == 18
// EXPECT: firstPosition of the traits must be even
sluice::MpmcRing<int, 4, OddTraits> ring;
#elif CASE == 19
// EXPECT: ignoring returned value|nodiscard
void forgetTheResult(sluice::MpmcRing<int, 8>& ring) {
    ring.tryPush(7);
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
#elif CASE == 22
// EXPECT: tryPop\(\) of MpscLanes would lose a message whose move constructor throws
bool popFragile(sluice::MpscLanes<Fragile>& lanes) {
    return lanes.tryPop().has_value();
}
#elif CASE == 23
// EXPECT: tryPop\(\) of MpscLanes would lose a message
struct OwnFragile : Fragile {
    OwnFragile(OwnFragile&& other) noexcept(false) : Fragile(static_cast<Fragile&&>(other)) {}
};
bool popFragile(sluice::BlockingQueue<sluice::MpscLanes<OwnFragile>>& queue) {
    return queue.pop().has_value();
}
#endif
