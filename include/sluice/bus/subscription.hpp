#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice {

namespace detail {

/// How a request to end a subscription came out.
enum class UnsubscribeResult : unsigned char {
    alreadyOver,  ///< it had ended before, and its handler does not run
    done,         ///< it has ended, and its handler does not run
    atReturn,     ///< it ends when its handler, which made the request, returns
    refused,      ///< its handler did not make the request: nothing has happened
};

/// Which callers may end a subscription.
enum class UnsubscribeCaller : unsigned char { anybody, ownHandler };

}  // namespace detail

/// A handler's stay in a bus; ends with this object.
///
/// Any thread may end it. When unsubscribe() or the destructor returns, the handler does not run
/// and never will again, and its captures have been destroyed. One exception: a handler that ends
/// its own subscription, directly or through a function that it calls, ends when it returns. A
/// thread that calls unsubscribe() elsewhere after that, or destroys this object, waits for it. So
/// do not end a subscription while holding a lock that its handler takes, nor inside a handler
/// whose own subscription the other one ends.
///
/// An empty one belongs to no bus; subscribe() returns it when the table is full. The bus must
/// outlive its subscriptions, those that have ended themselves as well.
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
        std::swap(slot_, other.slot_);
        std::swap(generation_, other.generation_);
        std::swap(hasEnded_, other.hasEnded_);
    }

    /// Ends it. May be called repeatedly; false when there was nothing to end.
    bool unsubscribe() noexcept {
        const bool wasActive = isActive();
        return end(detail::UnsubscribeCaller::anybody) != detail::UnsubscribeResult::alreadyOver &&
               wasActive;
    }

    [[nodiscard]] bool isActive() const noexcept { return bus_ != nullptr && !hasEnded_; }
    [[nodiscard]] explicit operator bool() const noexcept { return isActive(); }

    /// Lets the handler stay for as long as the bus does.
    void release() noexcept { bus_ = nullptr; }

private:
    template <class MessageList, class Traits>
    friend class Bus;
    template <class Owner, std::size_t MaxSubscriptions>
    friend class Component;

    using Remove = detail::UnsubscribeResult (*)(void* bus, std::uint32_t slot,
                                                 std::uint64_t generation,
                                                 detail::UnsubscribeCaller caller) noexcept;

    Subscription(void* bus, Remove remove, std::uint32_t slot, std::uint64_t generation) noexcept
        : bus_(bus), remove_(remove), generation_(generation), slot_(slot) {}

    detail::UnsubscribeResult end(detail::UnsubscribeCaller caller) noexcept {
        // Before the end: the captures of the handler may own this object, and are destroyed.
        void* const bus = std::exchange(bus_, nullptr);
        if (bus == nullptr) {
            return detail::UnsubscribeResult::alreadyOver;
        }
        const detail::UnsubscribeResult result = remove_(bus, slot_, generation_, caller);
        if (result == detail::UnsubscribeResult::atReturn ||
            result == detail::UnsubscribeResult::refused) {
            // Nothing has gone yet. A later caller must be able to wait for the handler.
            bus_ = bus;
            hasEnded_ = hasEnded_ || result == detail::UnsubscribeResult::atReturn;
        }
        return result;
    }

    void* bus_ = nullptr;
    Remove remove_ = nullptr;
    std::uint64_t generation_ = 0;
    std::uint32_t slot_ = 0;
    bool hasEnded_ = false;  ///< in its own handler, which may still run
};

}  // namespace sluice
