#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace sluice::detail {

/// How many messages of high priority have been announced, and how many of them the consumer has
/// found: what tells it to look before it serves anything else.
template <class Traits, std::size_t Slots>
class UrgentCount {
    using Index = typename Traits::Index;
    // What is to be found may fill all slots: half the range must count as many.
    using Count =
        std::conditional_t<(Slots <= std::numeric_limits<Index>::max() / 2), Index, std::uint32_t>;
    using Atomic = typename Traits::Platform::template Atomic<Count>;

public:
    /// By a publisher, before the message can be found: or the announcement of another message
    /// could stand in for this one's.
    void announce() noexcept {
        // Relaxed: a hint that there is something to find; the message's own edge carries it.
        announced_.fetch_add(1, std::memory_order_relaxed);
    }

    /// Whether there is one to be found. By the consumer, as what follows.
    [[nodiscard]] bool isPending() const noexcept {
        const Count announced = announced_.load(std::memory_order_relaxed);  // relaxed: see above
        return static_cast<std::make_signed_t<Count>>(announced - found_) > 0;
    }
    void noteFound() noexcept { ++found_; }

private:
    // Written by publishers of high priority.
    alignas(Traits::cacheLineSize) alignas(Atomic) Atomic announced_{0};

    // The consumer's own.
    alignas(Traits::cacheLineSize) Count found_{0};
};

}  // namespace sluice::detail
