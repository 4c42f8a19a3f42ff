#include <sluice/queue/spsc_ring.hpp>

#include <cstdint>

struct SmallIndexTraits : sluice::QueueTraits {
    using Index = std::uint8_t;
};

#if CASE == 0
int roundTrip() {
    sluice::SpscRing<int, 32, SmallIndexTraits> ring;
    if (ring.tryPush(7) != sluice::SendResult::ok) {
        return 0;
    }
    return ring.tryPop().value_or(0);
}
#elif CASE == 1
// EXPECT: the capacity of a ring must be at least 1
sluice::SpscRing<int, 0> ring;
#elif CASE == 2
// EXPECT: the capacity of a ring must be at most a quarter of its Index type's range
sluice::SpscRing<int, 200, SmallIndexTraits> ring;
#elif CASE == 3
// EXPECT: ignoring returned value|nodiscard
void forgetTheResult(sluice::SpscRing<int, 8>& ring) {
    ring.tryPush(7);
}
#elif CASE == 4
// EXPECT: use of deleted function
sluice::SpscRing<int, 8> copy(const sluice::SpscRing<int, 8>& ring) {
    return ring;
}
#endif
