#pragma once

#include <sluice/queue/detail/lane.hpp>

#include <cstddef>

namespace sluice::detail {

/// The limits from which on a sweep pays. A sweep takes idle lanes out. It costs a heavy fence,
/// some microseconds. The visits to empty lanes since the last sweep have then cost as much.
template <class Traits>
struct SweepLimits {
    static constexpr std::size_t fewestLanes = 16;
    static constexpr std::size_t emptyVisits = 4096;
};

/// The lanes that the consumer visits in turn, as a ring of links. Only the consumer uses it.
template <class T, class Traits>
class RoundRobin {
    using Lane = detail::Lane<T, Traits>;
    using Announced = AnnouncedLanes<T, Traits>;
    using Sweep = SweepLimits<Traits>;

public:
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// The lane whose turn it is. There must be one.
    [[nodiscard]] Lane& current() const noexcept { return *last_->linked(); }

    void advance() noexcept { last_ = last_->linked(); }

    /// Takes the current lane out of the round.
    void removeCurrent() noexcept {
        Lane* const lane = last_->linked();
        last_->setLink(lane->linked());
        last_ = --size_ == 0 ? nullptr : last_;
    }

    /// Adds the announced lanes behind the others, in the order in which they were announced.
    void takeAnnounced(Announced& announced) noexcept {
        Lane* oldest = nullptr;
        for (Lane* lane = announced.takeAll(); lane != nullptr;) {
            Lane* const following = lane->linked();
            lane->setLink(oldest);
            oldest = lane;
            lane = following;
        }
        while (oldest != nullptr) {
            Lane* const lane = oldest;
            oldest = lane->linked();
            append(*lane);
        }
    }

    void countEmptyVisit() noexcept { ++emptyVisits_; }

    /// Takes idle lanes out when visits to them have cost enough. Their producers will announce
    /// them again.
    void sweepIfItPays() noexcept {
        if (size_ >= Sweep::fewestLanes && emptyVisits_ >= Sweep::emptyVisits) {
            sweep();
        }
    }

private:
    void append(Lane& lane) noexcept {
        if (last_ == nullptr) {
            lane.setLink(&lane);
        } else {
            lane.setLink(last_->linked());
            last_->setLink(&lane);
        }
        last_ = &lane;
        ++size_;
    }

    [[gnu::noinline]] void sweep() noexcept {
        emptyVisits_ = 0;
        Lane* idle = nullptr;
        for (std::size_t left = size_; left != 0; --left) {
            Lane& lane = current();
            if (lane.hasNews()) {
                advance();
            } else {
                removeCurrent();
                lane.nextIdle = idle;
                idle = &lane;
            }
        }
        for (Lane* lane = idle; lane != nullptr; lane = lane->nextIdle) {
            lane->state.store(LaneState::idle, std::memory_order_release);  // E6 unlist
        }
        Traits::Platform::Fence::heavy();  // E6 unlist
        for (Lane* lane = idle; lane != nullptr; lane = lane->nextIdle) {
            // A producer that has not seen `idle` does not announce its lane: this loop finds it.
            // Relaxed: only this thread writes `idle`.
            if (lane->hasNews() &&
                lane->state.exchange(LaneState::listed, std::memory_order_relaxed) ==
                    LaneState::idle) {
                append(*lane);
            }
        }
    }

    Lane* last_ = nullptr;  // the lane before the current one
    std::size_t size_ = 0;
    std::size_t emptyVisits_ = 0;  // since the last sweep
};

}  // namespace sluice::detail
