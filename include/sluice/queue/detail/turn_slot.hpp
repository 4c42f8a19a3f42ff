#pragma once

#include <sluice/base/ring_positions.hpp>

namespace sluice::detail {

/// A slot of a ring with several producers: the message, and beside it a word that says for which
/// position the slot holds one.
template <class T, class Platform, class Index>
struct TurnSlot {
    using Turn = typename Platform::template Atomic<Index>;
    using Cell = typename Platform::template Cell<T>;

    Turn turn;
    Cell cell;

    /// The turn when the message of position `p` is in the slot: odd, all other turns are even.
    static constexpr Index filled(Index p) noexcept {
        return static_cast<Index>(p | RingPositions<Index>::mark);
    }
    /// The turn when the producer of position `p` gave up: its constructor threw, for example.
    static constexpr Index skipped(Index p) noexcept { return RingPositions<Index>::next(p); }
};

}  // namespace sluice::detail
