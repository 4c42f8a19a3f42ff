#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace sluice::detail {

/// A number of buses with a consumer each: the common part of BroadcastBus and PartitionedBus.
template <class Bus, std::size_t Count>
class BusGroup {
public:
    using Clock = typename Bus::Clock;

    [[nodiscard]] static constexpr std::size_t size() noexcept { return Count; }

    /// One of the buses, with subscribe(), process(), run(), statistics() and the other members.
    [[nodiscard]] Bus& operator[](std::size_t index) noexcept { return buses_[index]; }
    [[nodiscard]] const Bus& operator[](std::size_t index) const noexcept { return buses_[index]; }

    /// Allocates the counters of the calling thread in each bus, so that its publications allocate
    /// nothing. Returns false if there is no memory. See Bus::attachThread.
    bool attachThread() noexcept {
        bool isAttached = true;
        for (Bus& bus : buses_) {
            isAttached = bus.attachThread() && isAttached;
        }
        return isAttached;
    }

    void close() noexcept {
        for (Bus& bus : buses_) {
            bus.close();
        }
    }

    /// Closes all buses, and waits until the consumers have handled all accepted messages. Returns
    /// false if the deadline came first. In a handler of any of the buses it does not wait, because
    /// the other consumers may be the same thread, or wait in a handler too.
    bool drain(typename Clock::time_point deadline) {
        close();
        const bool isHandler = std::any_of(buses_.begin(), buses_.end(),
                                           [](const Bus& bus) { return bus.isConsumedHere(); });
        bool areDrained = true;
        for (Bus& bus : buses_) {
            areDrained = (isHandler ? bus.isDrained() : bus.drain(deadline)) && areDrained;
        }
        return areDrained;
    }

protected:
    BusGroup() = default;

    template <class Observer>
    explicit BusGroup(Observer& observer)
        : buses_(observedBy(observer, std::make_index_sequence<Count>())) {}

    ~BusGroup() { end(); }

    /// Destroys all handlers and messages while all buses exist, because their destructors may
    /// publish in any of them.
    void end() noexcept {
        close();
        for (Bus& bus : buses_) {
            bus.end();
        }
    }

    std::array<Bus, Count> buses_;

private:
    template <class Observer, std::size_t... Is>
    static std::array<Bus, Count> observedBy(Observer& observer, std::index_sequence<Is...>) {
        // In place: a bus cannot be moved.
        return {{(static_cast<void>(Is), Bus(observer))...}};
    }
};

}  // namespace sluice::detail
