#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice {

/// A handler's stay in a bus; ends with this object.
///
/// Any thread may end it. When unsubscribe() or the destructor returns, the handler does not run
/// and never will again; what it captured has been destroyed. Two exceptions, as waiting would wait
/// for itself: called by the handler itself, directly or through what it calls, the handler ends
/// when it returns. So do not end a subscription while holding a lock that its handler takes, nor
/// inside a handler whose own subscription the other one ends.
///
/// An empty one belongs to no bus; subscribe() returns it when the table is full. The bus must
/// outlive its subscriptions.
class [[nodiscard]] Subscription {
public:
    Subscription() noexcept = default;
    Subscription(Subscription&& other) noexcept { swap(other); }
    Subscription& operator=(Subscription&& other) noexcept {
        Subscription(std::move(other)).swap(*this);
        return *this;
    }
    ~Subscription() { unsubscribe(); }

    void swap(Subscription& other) noexcept {
        std::swap(bus_, other.bus_);
        std::swap(remove_, other.remove_);
        std::swap(place_, other.place_);
        std::swap(life_, other.life_);
    }

    /// Ends it. May be called repeatedly; false when there was nothing to end.
    bool unsubscribe() noexcept {
        void* const bus = std::exchange(bus_, nullptr);
        return bus != nullptr && remove_(bus, place_, life_);
    }

    [[nodiscard]] bool isActive() const noexcept { return bus_ != nullptr; }
    [[nodiscard]] explicit operator bool() const noexcept { return isActive(); }

    /// Lets the handler stay for as long as the bus does.
    void release() noexcept { bus_ = nullptr; }

private:
    template <class MessageList, class Traits>
    friend class Bus;

    using Remove = bool (*)(void* bus, std::size_t place, std::uint64_t life) noexcept;

    Subscription(void* bus, Remove remove, std::size_t place, std::uint64_t life) noexcept
        : bus_(bus), remove_(remove), place_(place), life_(life) {}

    void* bus_ = nullptr;
    Remove remove_ = nullptr;
    std::size_t place_ = 0;
    std::uint64_t life_ = 0;
};

}  // namespace sluice
