#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace sluice::detail {

/// The consumer's look at what has arrived: it counts messages at one gate after the other, and
/// knows where a harvest is to end.
///
/// At a gate it looks for one message first, then for a few, in their slots. To ask for the slot
/// after the last one costs as much as several messages: a publisher may be writing it, and the
/// processor, used to the direction, fetches the next ones as well, which then are all taken away
/// from publishers. So where messages come densely it asks the gates how far they have let messages
/// in, once in a harvest, and goes no further. What comes later is for the next harvest, which
/// begins far behind the publishers again.
///
/// It rests for a batch at each gate, so a flood through one delays those of the others by little.
template <class Gates, class Traits>
class Lookout {
    using Index = typename Traits::Index;

public:
    /// Arrivals that are counted at a time, so that their slots are still near when they are
    /// passed.
    static constexpr std::size_t batch = std::min<std::size_t>(
        {64, Traits::depth, Traits::lanes == 0 ? Traits::depth : Traits::laneDepth});

    explicit Lookout(const Gates& gates) noexcept : gates_(gates) {}

    /// Begins a harvest. `isMoreKnown`: besides what has been counted, so that slots come back
    /// before the next look.
    void begin(bool isMoreKnown) noexcept {
        gateCount_ = gates_.count();
        ends_ = 0;
        hasHorizons_ = false;
        mostUsed_ = 0;
        if (Traits::statistics && (counted_ != 0 || isMoreKnown)) {
            takeHorizons();
        }
    }

    /// Whether there are arrivals at gate(); it moves on to find some, until all gates have come to
    /// their ends one after the other.
    [[gnu::always_inline]] bool hasCounted() noexcept { return counted_ != 0 || countMore(); }
    [[nodiscard]] std::size_t gate() const noexcept { return gate_; }

    /// So many of those that were counted at this gate have been passed.
    void notePassed(std::size_t gate, std::size_t count) noexcept {
        counted_ -= gate == gate_ ? std::min(counted_, count) : 0;
    }
    /// All have.
    void noteAllPassed() noexcept { counted_ = 0; }

    /// So many messages were seen in use at a gate.
    void noteUsed(std::size_t used) noexcept { mostUsed_ = std::max(mostUsed_, used); }
    /// The most that were in this harvest.
    [[nodiscard]] std::size_t mostUsed() const noexcept { return mostUsed_; }

    /// Whether everything has been counted and passed that had arrived when it looked last.
    [[nodiscard]] bool isAtEnd() const noexcept {
        return counted_ == 0 && !hasHorizons_ && ends_ == gates_.count();
    }

private:
    /// How many it looks for at first, then, then again and again.
    static constexpr std::array<std::size_t, 3> sights{1, std::min<std::size_t>(8, batch), batch};
    static constexpr std::size_t dense = sights.size() - 1;

    [[gnu::noinline]] bool countMore() noexcept {
        while (counted_ == 0 && ends_ < gateCount_) {
            if (isToMoveOn_) {
                gate_ = gate_ + 1 < gateCount_ ? gate_ + 1 : 0;
            }
            gates_.at(gate_, [&](const auto& ring) { countAt(ring); });
        }
        return counted_ != 0;
    }

    template <class Ring>
    void countAt(const Ring& ring) noexcept {
        if (stage_ == dense && !hasHorizons_) {
            takeHorizons();
        }
        const std::size_t most = hasHorizons_
                                     ? std::min(sights[stage_], ring.notPassed(horizons_[gate_]))
                                     : sights[stage_];
        counted_ = most == 0 ? 0 : ring.countArrived(most);
        noteUsed(ring.usedUpToCounted(counted_));
        const bool isEnd = counted_ != sights[stage_];
        ends_ = isEnd ? ends_ + 1 : 0;
        isToMoveOn_ = isEnd || stage_ == dense;
        stage_ = isEnd ? 0 : std::min(stage_ + 1, dense);
        if (Traits::statistics && stage_ == dense && !hasHorizons_) {
            takeHorizons();  // the accounts are to know how many there were before the first goes
        }
    }

    void takeHorizons() noexcept {
        hasHorizons_ = true;
        for (std::size_t gate = 0; gate != gateCount_; ++gate) {
            gates_.at(gate, [&](const auto& ring) {
                horizons_[gate] = ring.end();
                noteUsed(ring.usedUpTo(horizons_[gate]));
            });
        }
    }

    const Gates& gates_;

    std::size_t counted_ = 0;  ///< arrivals at `gate_` that have not been passed
    std::size_t gate_ = 0;
    std::size_t stage_ = 0;    ///< of `sights`, of the next look
    bool isToMoveOn_ = false;  ///< before the next look

    // Of this harvest.
    std::size_t gateCount_ = 0;
    std::size_t ends_ = 0;  ///< of gates, found one after the other
    std::size_t mostUsed_ = 0;
    bool hasHorizons_ = false;
    std::array<Index, Traits::lanes + 1> horizons_{};  ///< up to where it looks
};

}  // namespace sluice::detail
