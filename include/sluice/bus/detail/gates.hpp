#pragma once

#include <sluice/base/store_max.hpp>
#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/detail/arrival_ring.hpp>
#include <sluice/bus/detail/slot_list.hpp>

#include <array>
#include <atomic>
#include <cstddef>

namespace sluice::detail {

/// The ways into a bus: gate 0, which all publishers share, and a lane for each producer that has
/// asked for one. Each is an ArrivalRing with slots of its own; here they have one numbering.
///
/// A lane belongs to one producer at a time. When it lets go, the next one goes on behind what the
/// former has left in it.
///
/// Edges: E1 lane: lane let go release .. acquire taken: what the next owner finds is what the
/// former has left.
template <class Envelope, class Traits>
class Gates {
    template <class T>
    using Atomic = typename Traits::Platform::template Atomic<T>;
    static constexpr std::size_t lanes = Traits::lanes;
    static constexpr std::size_t laneDepth = Traits::laneDepth;

public:
    using Shared = ArrivalRing<Envelope, Traits, Traits::depth, Traits::producers>;
    using Lane = ArrivalRing<Envelope, Traits, laneDepth, Producers::one>;

    static constexpr std::size_t slots = Traits::depth + lanes * laneDepth;
    using Slot = SlotNumber<slots>;

    /// The number of a slot whose number in its gate is `slot`.
    template <class Number>
    static constexpr Slot numberOf(std::size_t gate, Number slot) noexcept {
        const std::size_t before = gate == 0 ? 0 : Traits::depth + (gate - 1) * laneDepth;
        return static_cast<Slot>(before + slot);
    }

    static constexpr std::size_t depthOf(std::size_t gate) noexcept {
        return gate == 0 ? Traits::depth : laneDepth;
    }

    /// f(ring), with the gate's.
    template <class F>
    decltype(auto) at(std::size_t gate, F&& f) {
        return atGateOf(*this, gate, f);
    }
    template <class F>
    decltype(auto) at(std::size_t gate, F&& f) const {
        return atGateOf(*this, gate, f);
    }

    /// f(ring, number of the slot in it).
    template <class F>
    [[gnu::always_inline]] decltype(auto) atSlot(Slot slot, F&& f) {
        if constexpr (lanes != 0) {
            if (slot >= Traits::depth) {
                const std::size_t n = slot - Traits::depth;
                return f(lanes_[n / laneDepth], static_cast<typename Lane::Slot>(n % laneDepth));
            }
        }
        return f(shared_, static_cast<typename Shared::Slot>(slot));
    }

    [[nodiscard]] Envelope& operator[](Slot slot) noexcept {
        return atSlot(
            slot, [](auto& ring, auto number) __attribute__((always_inline))->Envelope &
                      { return ring[number]; });
    }

    [[nodiscard]] Shared& shared() noexcept { return shared_; }
    [[nodiscard]] const Shared& shared() const noexcept { return shared_; }

    // ---- Producers

    /// The gate of a free lane, which is the caller's from now on; 0 when there is none.
    std::size_t takeLane() noexcept {
        for (std::size_t i = 0; i < lanes; ++i) {
            bool isTaken = false;
            if (isTaken_[i].compare_exchange_strong(isTaken, true, std::memory_order_acquire,
                                                    std::memory_order_relaxed)) {  // E1 lane
                storeMax(used_, i + 1);
                return i + 1;
            }
        }
        return 0;
    }

    void returnLane(std::size_t gate) noexcept {
        isTaken_[gate - 1].store(false, std::memory_order_release);  // E1 lane
    }

    // ---- Anybody

    /// The gates that messages may come from: those that have ever been used, and before them.
    [[nodiscard]] std::size_t count() const noexcept {
        // Relaxed: who sees it later sees the message later.
        return lanes == 0 ? 1 : 1 + used_.load(std::memory_order_relaxed);
    }

    template <class Predicate>
    [[nodiscard]] bool all(Predicate holds) const {
        for (std::size_t gate = 0; gate <= lanes; ++gate) {
            if (!at(gate, holds)) {
                return false;
            }
        }
        return true;
    }

    void close() noexcept {
        for (std::size_t gate = 0; gate <= lanes; ++gate) {
            at(gate, [](auto& ring) { ring.close(); });
        }
    }

private:
    template <class Self, class F>
    [[gnu::always_inline]] static decltype(auto) atGateOf(Self& self, std::size_t gate, F& f) {
        if constexpr (lanes != 0) {
            if (gate != 0) {
                return f(self.lanes_[gate - 1]);
            }
        }
        return f(self.shared_);
    }

    Shared shared_;
    std::array<Lane, lanes> lanes_;
    std::array<Atomic<bool>, lanes> isTaken_{};
    Atomic<std::size_t> used_{0};
};

}  // namespace sluice::detail
