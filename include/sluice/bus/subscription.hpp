#pragma once

#include <sluice/base/counter.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice {

namespace detail {

enum class UnsubscribeResult : unsigned char {
    alreadyOver,  ///< the subscription had already ended, and its handler is not running
    done,         ///< this call ended the subscription, and its handler is not running
    atReturn,     ///< the caller is the handler; the subscription ends when the handler returns
    refused,      ///< the step did not end the subscription
};

enum class UnsubscribeStep : unsigned char {
    none,             ///< only a check: the result is `refused` while the subscription is active
    any,              ///< all steps
    ownHandler,       ///< like `any`, but refused outside the subscription's own handler
    keepCaptures,     ///< ends the subscription and waits for its handler; keeps the captures
    destroyCaptures,  ///< destroys the captures, after keepCaptures returned `done`
};

}  // namespace detail

/// Keeps a handler subscribed until the Subscription is destroyed.
///
///     const sluice::Subscription alarms = bus.subscribe<Alarm>([](const Alarm& alarm) { ... });
///
/// unsubscribe() and the destructor wait while the handler runs on another thread, and then destroy
/// the handler's captures. If a handler ends its own subscription, the captures are destroyed when
/// the handler returns. After its subscription has ended, a handler never runs again. Do not end a
/// subscription while holding a lock that the handler, the observer or the destructor of a message
/// takes. Two handlers must not end each other's subscriptions, not even through a Component.
///
/// The bus must outlive its subscriptions, even those that their own handlers have ended.
///
/// Thread safety: apart from the handler, only one thread at a time may use a Subscription.
class [[nodiscard]] Subscription {
public:
    Subscription() noexcept = default;
    Subscription(Subscription&& other) noexcept { take(other); }
    /// Ends the current subscription before taking over the new subscription. The new handler
    /// cannot end its own subscription before the assignment has completed.
    Subscription& operator=(Subscription&& other) noexcept {
        if (this != &other) {
            unsubscribe();
            take(other);
        }
        return *this;
    }
    ~Subscription() { unsubscribe(); }

    /// Ends the subscription. Returns false if the subscription was not active.
    bool unsubscribe() noexcept {
        const bool wasActive = isActive();
        return end(detail::UnsubscribeStep::any) != detail::UnsubscribeResult::alreadyOver &&
               wasActive;
    }

    [[nodiscard]] bool isActive() const noexcept {
        return takeStep(detail::UnsubscribeStep::none) == detail::UnsubscribeResult::refused;
    }
    [[nodiscard]] explicit operator bool() const noexcept { return isActive(); }

    /// Keeps the handler subscribed until the bus is destroyed, and makes this object empty.
    void release() noexcept { bus_.store(nullptr, std::memory_order_relaxed); }  // own variable

private:
    template <class MessageList, class Traits>
    friend class Bus;
    template <class Owner, std::size_t MaxSubscriptions>
    friend class Component;

    using Remove = detail::UnsubscribeResult (*)(void* bus, std::uint32_t slot,
                                                 CounterWord generation,
                                                 detail::UnsubscribeStep step) noexcept;

    Subscription(void* bus, Remove remove, std::uint32_t slot, CounterWord generation) noexcept
        : bus_(bus), remove_(remove), generation_(generation), slot_(slot) {}

    // Happens-before edge (docs/algorithms/bus.md): E1 taken: take -> end.

    /// In a handler, end() writes no member, because another thread may run end() simultaneously.
    detail::UnsubscribeResult end(detail::UnsubscribeStep step) noexcept {
        using detail::UnsubscribeResult;
        using detail::UnsubscribeStep;
        void* const bus = bus_.load(std::memory_order_acquire);  // E1 taken
        if (bus == nullptr) {
            return UnsubscribeResult::alreadyOver;
        }
        const auto result = remove_(bus, slot_, generation_, UnsubscribeStep::ownHandler);
        if (result != UnsubscribeResult::refused || step == UnsubscribeStep::ownHandler) {
            return result;
        }
        // Clears bus_ first, because remove_() destroys the captures, which may own this object.
        bus_.store(nullptr, std::memory_order_relaxed);  // own variable
        return remove_(bus, slot_, generation_, UnsubscribeStep::any);
    }

    detail::UnsubscribeResult takeStep(detail::UnsubscribeStep step) const noexcept {
        void* const bus = bus_.load(std::memory_order_acquire);  // E1 taken
        return bus == nullptr ? detail::UnsubscribeResult::alreadyOver
                              : remove_(bus, slot_, generation_, step);
    }

    /// Takes over the subscription of `other`, whose handler may already run.
    void take(Subscription& other) noexcept {
        remove_ = other.remove_;
        slot_ = other.slot_;
        generation_ = other.generation_;
        bus_.store(other.bus_.load(std::memory_order_relaxed),  // own variable
                   std::memory_order_release);                  // E1 taken
        other.bus_.store(nullptr, std::memory_order_relaxed);   // own variable
    }

    std::atomic<void*> bus_{nullptr};
    Remove remove_ = nullptr;
    CounterWord generation_ = 0;
    std::uint32_t slot_ = 0;
};

}  // namespace sluice
