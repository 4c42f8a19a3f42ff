#pragma once

#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/detail/published.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/queue/mpsc_ring.hpp>
#include <sluice/queue/spsc_ring.hpp>

#include <cstddef>
#include <type_traits>

namespace sluice::detail {

/// Messages in one ring, which is filled to the brim: the bus without priorities.
template <class Envelope, class Traits>
class PlainStore {
    using Ring = std::conditional_t<Traits::producers == Producers::one,
                                    SpscRing<Envelope, Traits::depth, Traits>,
                                    MpscRing<Envelope, Traits::depth, Traits>>;

public:
    static constexpr std::size_t slots = Traits::depth;
    static constexpr std::size_t depthOf(std::size_t) noexcept { return Traits::depth; }

    /// Lets in as many of `count` messages as there is room for, and has fill(envelope) build
    /// each.
    template <class Fill>
    Published publish(std::size_t, Priority, std::size_t count, Fill&& fill) {
        for (std::size_t i = 0; i < count; ++i) {
            auto place = ring_.tryReserve();
            if (!place) {
                const bool isClosed = place.result() == PushResult::closed;
                return {i != 0     ? PublishResult::ok
                        : isClosed ? PublishResult::closed
                                   : PublishResult::full,
                        i, Traits::depth};
            }
            Envelope& envelope = place.emplace();
            (void)fill(envelope);
            if constexpr (Traits::ids) {
                envelope.id = place.number();
            }
            place.commit();
        }
        return {PublishResult::ok, count, Traits::depth};
    }

    std::size_t refreshUsed(std::size_t gate) noexcept { return used(gate); }
    [[nodiscard]] static constexpr std::size_t gateCount() noexcept { return 1; }

    /// Calls arrived(envelope) and handle(envelope) for each message that is there, at most `max`.
    /// Returns how many.
    template <class Arrived, class Handle>
    std::size_t serve(const Arrived& arrived, const Handle& handle, std::size_t max, bool) {
        return ring_.consume(
            [&](Envelope& envelope) {
                arrived(envelope);
                handle(envelope);
            },
            max);
    }

    void begin() noexcept {}
    [[nodiscard]] std::size_t mostUsed() const noexcept { return 0; }

    [[nodiscard]] bool hasMessage() noexcept { return ring_.hasArrival(); }

    void close() noexcept { ring_.close(); }
    [[nodiscard]] bool isClosed() const noexcept { return ring_.isClosed(); }
    [[nodiscard]] bool isDrained() const noexcept { return ring_.isDrained(); }
    [[nodiscard]] std::size_t used(std::size_t) const noexcept { return ring_.sizeAtOnce(); }

private:
    Ring ring_;
};

}  // namespace sluice::detail
