#pragma once

#include <sluice/base/counter.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice {

namespace detail {

enum class UnsubscribeResult : unsigned char {
    alreadyOver,  ///< it had ended before, and its handler does not run
    done,         ///< it has ended, and its handler does not run
    atReturn,     ///< it ends when its handler, the caller, returns
    refused,      ///< the caller is not its handler
};

enum class UnsubscribeStep : unsigned char {
    any,              ///< all steps
    ownHandler,       ///< all steps, but only in the subscription's own handler
    keepCaptures,     ///< ends it and waits for its handler; never for another thread that ends it
    destroyCaptures,  ///< the last step, if the result of keepCaptures was `done`
};

}  // namespace detail

/// Keeps a handler subscribed until this object is destroyed.
///
///     const sluice::Subscription alarms = bus.subscribe<Alarm>([](const Alarm& alarm) { ... });
///
/// When unsubscribe() or the destructor has returned, the handler will not run again and its
/// captures are destroyed. If the handler itself makes the call, that happens when it returns.
/// Otherwise the call waits for a running handler, perhaps until the next handler begins. So do not
/// end a subscription while holding a lock that the handler, its message's destructor or the
/// observer takes, nor in a handler that the other handler may be ending.
///
/// The bus must outlive its subscriptions, also those that have ended themselves.
///
/// Thread safety: one thread at a time, and the handler may end its own subscription any time. If
/// another thread moves this object meanwhile, isActive() of the new one may remain true.
class [[nodiscard]] Subscription {
public:
    Subscription() noexcept = default;
    Subscription(Subscription&& other) noexcept { take(other); }
    /// Ends this subscription first. A call of unsubscribe() by the new handler has an
    /// effect only after the assignment.
    Subscription& operator=(Subscription&& other) noexcept {
        if (this != &other) {
            unsubscribe();
            take(other);
        }
        return *this;
    }
    ~Subscription() { unsubscribe(); }

    /// Ends the subscription. Returns false if there was nothing to end. May be called repeatedly.
    bool unsubscribe() noexcept {
        const bool wasActive = isActive();
        return end(detail::UnsubscribeStep::any) != detail::UnsubscribeResult::alreadyOver &&
               wasActive;
    }

    [[nodiscard]] bool isActive() const noexcept {
        return bus_.load(std::memory_order_relaxed) != nullptr &&
               !hasEnded_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] explicit operator bool() const noexcept { return isActive(); }

    /// Keeps the handler subscribed until the bus is destroyed. This object is then empty.
    void release() noexcept { bus_.store(nullptr, std::memory_order_relaxed); }

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

    /// The handler and another thread may run this simultaneously: the handler writes hasEnded_
    /// only, and the other thread waits for it.
    detail::UnsubscribeResult end(detail::UnsubscribeStep step) noexcept {
        using detail::UnsubscribeResult;
        using detail::UnsubscribeStep;
        void* const bus = bus_.load(std::memory_order_acquire);  // E1 taken
        if (bus == nullptr) {
            return UnsubscribeResult::alreadyOver;
        }
        const auto result = remove_(bus, slot_, generation_, UnsubscribeStep::ownHandler);
        if (result == UnsubscribeResult::atReturn) {
            hasEnded_.store(true, std::memory_order_relaxed);
        }
        if (result != UnsubscribeResult::refused || step == UnsubscribeStep::ownHandler) {
            return result;
        }
        // Stored first: the handler's captures, which are destroyed next, may own this object.
        bus_.store(nullptr, std::memory_order_relaxed);
        return remove_(bus, slot_, generation_, UnsubscribeStep::any);
    }

    /// Takes one step of the end.
    detail::UnsubscribeResult takeStep(detail::UnsubscribeStep step) noexcept {
        void* const bus = bus_.load(std::memory_order_relaxed);
        return bus == nullptr ? detail::UnsubscribeResult::alreadyOver
                              : remove_(bus, slot_, generation_, step);
    }

    /// Moves the other's subscription into this object, whose own is over. E1 taken: the fields are
    /// written before bus_, because the handler may already run and end this object.
    void take(Subscription& other) noexcept {
        remove_ = other.remove_;
        slot_ = other.slot_;
        generation_ = other.generation_;
        hasEnded_.store(other.hasEnded_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        bus_.store(other.bus_.load(std::memory_order_relaxed),
                   std::memory_order_release);  // E1 taken
        other.bus_.store(nullptr, std::memory_order_relaxed);
    }

    std::atomic<void*> bus_{nullptr};
    std::atomic<bool> hasEnded_{false};  ///< its own handler has ended it, and may still run
    Remove remove_ = nullptr;
    CounterWord generation_ = 0;
    std::uint32_t slot_ = 0;
};

}  // namespace sluice
