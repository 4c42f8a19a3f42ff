#pragma once

#include <sluice/base/ring_positions.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/bus/bus_traits.hpp>

#include <atomic>
#include <type_traits>

namespace sluice::detail {

/// Up to which position a ring has let messages in; any number of publishers move it on.
///
/// Edges: E3 close: the closed mark is part of `admitted`. E4 order: claim release .. acquire next
/// claim: who sees a claim sees as much as its publisher did.
template <class Traits>
class SharedAdmission {
    using Index = typename Traits::Index;
    using Positions = RingPositions<Index>;
    using Atomic = typename Traits::Platform::template Atomic<Index>;

public:
    explicit SharedAdmission(Index first) noexcept : admitted_(first) {}

    /// Where the next claim begins; marked when closed.
    [[nodiscard]] Index next() const noexcept {
        return admitted_.load(std::memory_order_acquire);  // E4 order
    }

    /// Claims what lies from `position` to `end`. When it fails, `position` is where the next claim
    /// begins.
    bool tryClaim(Index& position, Index end) noexcept {
        return admitted_.compare_exchange_weak(position, end, std::memory_order_release,
                                               std::memory_order_acquire);  // E4 order
    }

    /// The end of all claims.
    [[nodiscard]] Index end() const noexcept { return Positions::unmarked(next()); }

    void close() noexcept { admitted_.fetch_or(Positions::mark, std::memory_order_release); }  // E3
    [[nodiscard]] bool isClosed() const noexcept { return Positions::isMarked(next()); }

    /// Whether it is closed and has no claims beyond `released`: for good.
    [[nodiscard]] bool isDrained(const Atomic& released) const noexcept {
        const Index admitted = next();
        return Positions::isMarked(admitted) &&
               Positions::unmarked(admitted) == released.load(std::memory_order_acquire);
    }

private:
    Atomic admitted_;
};

/// The same for one publisher: without an atomic read-modify-write, which would wait for all
/// earlier writes.
///
/// Edges: E3 close: claim written, light fence, closed read -- against -- closed written, heavy
/// fence, claim read: either the publisher takes its claim back, or who asks for the end sees it.
template <class Traits>
class SoleAdmission {
    using Platform = typename Traits::Platform;
    using Index = typename Traits::Index;
    using Positions = RingPositions<Index>;
    using Atomic = typename Platform::template Atomic<Index>;
    using Flag = typename Platform::template Atomic<bool>;

public:
    explicit SoleAdmission(Index first) noexcept : admitted_(first) {}

    [[nodiscard]] Index next() const noexcept {
        // Relaxed, both: its own variable, and tryClaim() asks again.
        const Index position = admitted_.load(std::memory_order_relaxed);
        return isClosed_.load(std::memory_order_relaxed) ? marked(position) : position;
    }

    bool tryClaim(Index& position, Index end) noexcept {
        const typename RoleCheck<Platform>::Scope publisher(role_, advice);
        admitted_.store(end, std::memory_order_release);  // E4 order
        Platform::Fence::light();                         // E3 close
        if (isClosed_.load(std::memory_order_relaxed)) {  // relaxed: the fence orders it
            admitted_.store(position, std::memory_order_release);
            position = marked(position);
            return false;
        }
        return true;
    }

    [[nodiscard]] Index end() const noexcept { return admitted_.load(std::memory_order_acquire); }

    void close() noexcept { isClosed_.store(true, std::memory_order_release); }
    [[nodiscard]] bool isClosed() const noexcept {
        return isClosed_.load(std::memory_order_acquire);
    }

    [[nodiscard]] bool isDrained(const Atomic& released) const noexcept {
        // Acquire: who sees the end may go on to free what handlers and publishers used.
        if (isDrained_.load(std::memory_order_acquire)) {
            return true;
        }
        if (!isClosed()) {
            return false;
        }
        Platform::Fence::heavy();  // E3 close
        const bool isOver = end() == released.load(std::memory_order_acquire);
        if (isOver) {
            // Kept: a later claim, taken back as it will be, is there for a moment.
            isDrained_.store(true, std::memory_order_release);
        }
        return isOver;
    }

private:
    static constexpr const char* advice = "a second publisher on a bus or a lane for one: take "
                                          "Producers::many, or a lane for each";

    static constexpr Index marked(Index position) noexcept {
        return static_cast<Index>(position | Positions::mark);
    }

    Atomic admitted_;
    Flag isClosed_{false};
    mutable Flag isDrained_{false};
    RoleCheck<Platform> role_;
};

template <class Traits, Producers Publishers>
using AdmissionFor = std::conditional_t<Publishers == Producers::one, SoleAdmission<Traits>,
                                        SharedAdmission<Traits>>;

}  // namespace sluice::detail
