#pragma once

#include <sluice/base/ring_positions.hpp>

namespace sluice::detail {

/// A slot of a ring with several producers: the message, and beside it a word that says for which
/// position the slot holds one.
template <class T, class Platform, class Index>
struct SequenceSlot {
    using Sequence = typename Platform::template Atomic<Index>;
    using Cell = typename Platform::template Cell<T>;

    Sequence sequence;
    Cell cell;

    /// The sequence when the message of position `p` is in the slot: odd, all other sequences are
    /// even.
    static constexpr Index filled(Index p) noexcept {
        return static_cast<Index>(p | RingPositions<Index>::mark);
    }
    /// The sequence when the producer of position `p` gave up: its constructor threw, for example.
    static constexpr Index skipped(Index p) noexcept { return RingPositions<Index>::next(p); }
    /// Whether it is one of the two, by one comparison: the second follows the first.
    static constexpr bool isFilledOrSkipped(Index sequence, Index p) noexcept {
        return static_cast<Index>(sequence - filled(p)) <= Index{1};
    }
};

}  // namespace sluice::detail
