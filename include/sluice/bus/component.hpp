#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/bus/bus.hpp>
#include <sluice/bus/subscription.hpp>
#include <sluice/fixed/fixed_vector.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace sluice {

/// A member that ends the subscriptions of its owner before the owner's other members are
/// destroyed. The owner may be destroyed on any thread, even in one of its handlers.
///
///     class Brake final {
///     public:
///         explicit Brake(VehicleBus& bus) { component_.subscribe<Alarm>(bus, &Brake::onAlarm); }
///     private:
///         void onAlarm(const Alarm& alarm) { ... }
///         std::vector<Alarm> seen_;
///         sluice::Component<Brake, 1> component_{*this};  // the last member
///     };
///
/// The Component must be the last member of its owner, and the owner's class must be final. The
/// buses must outlive the Component.
///
/// After the destructor, no handler of the owner runs, except one that destroyed the owner. If the
/// owner's destructor uses members, first call unsubscribeAll(), because handlers may still run on
/// other threads. Do not destroy the owner while holding a lock that its handlers take.
///
/// Thread safety: only one thread at a time may use a Component. A handler of the owner may call
/// unsubscribeAll() while another thread destroys the owner. If the destroying thread also runs a
/// handler of the owner, the two handlers deadlock.
template <class Owner, std::size_t MaxSubscriptions>
class Component {
public:
    explicit Component(Owner& owner) noexcept : owner_(owner) {
        static_assert(std::is_final_v<Owner>,
                      "the owner of a Component must be final: the part that a derived class adds "
                      "would be gone before the subscriptions end");
        if (!isLastMember()) {
            failAssertion({"Component",
                           "make the Component the last member of its owner: members behind it "
                           "would be gone before the subscriptions end",
                           __FILE__, __LINE__});
        }
    }
    Component(const Component&) = delete;
    Component& operator=(const Component&) = delete;
    ~Component() {
        // Ends all subscriptions before destroying any, because a handler that still runs on
        // another thread may use the whole list in unsubscribeAll().
        for (Subscription& each : subscriptions_) {
            each.unsubscribe();
        }
    }

    /// Subscribes a callable or a member function of the owner to messages of type T. Returns false
    /// and leaves the handler untouched if the Component is full, or if T has maxHandlers handlers.
    /// A subscription that its own handler has ended still counts until the handler returns.
    template <class T, class MessageList, class Traits, class Handler>
    [[nodiscard]] bool trySubscribe(Bus<MessageList, Traits>& bus, Handler&& handler) {
        if (isFull()) {
            return false;
        }
        Subscription subscription =
            bus.template trySubscribe<T>(bind(std::forward<Handler>(handler)));
        return subscription && subscriptions_.pushBack(std::move(subscription));
    }

    /// Like trySubscribe(), but calls setupError() instead of returning false.
    template <class T, class MessageList, class Traits, class Handler>
    void subscribe(Bus<MessageList, Traits>& bus, Handler&& handler) {
        const bool hasRoom = !isFull();
        if (!trySubscribe<T>(bus, std::forward<Handler>(handler))) {
            const std::size_t limit = hasRoom ? Traits::maxHandlers : MaxSubscriptions;
            setupError(hasRoom ? "handlers of one type of message on a bus"
                               : "subscriptions of a Component",
                       limit + 1, limit);
        }
    }

    /// Ends all subscriptions. Waits for running handlers, but not for the calling handler.
    void unsubscribeAll() noexcept {
        using Step = detail::UnsubscribeStep;
        FixedVector<Subscription, MaxSubscriptions> ending;
        for (Subscription& each : subscriptions_) {
            // Keeps a calling handler's subscription, so ~Component() can wait for the handler.
            if (each.end(Step::ownHandler) == detail::UnsubscribeResult::refused) {
                (void)ending.pushBack(std::move(each));
            }
        }
        for (Subscription& each : ending) {
            if (each.takeStep(Step::keepCaptures) != detail::UnsubscribeResult::done) {
                each.release();  // the subscription has ended, or another thread is ending it
            }
        }
        // Destroys the captures last, because they may own the Component's owner.
        for (Subscription& each : ending) {
            (void)each.takeStep(Step::destroyCaptures);
            each.release();
        }
    }

    [[nodiscard]] std::size_t count() const noexcept {
        return static_cast<std::size_t>(
            std::count_if(subscriptions_.begin(), subscriptions_.end(),
                          [](const Subscription& each) { return each.isActive(); }));
    }

private:
    /// Returns true if only padding follows the Component in the owner. If the owner is aligned
    /// more strictly than a pointer, a small member in the padding stays undetected.
    [[nodiscard]] bool isLastMember() const noexcept {
        const auto end = reinterpret_cast<std::uintptr_t>(std::addressof(owner_) + 1);
        const auto endOfThis = reinterpret_cast<std::uintptr_t>(this + 1);
        return end - endOfThis < alignof(Owner);
    }

    /// Removes ended subscriptions from a full list, except the calling handler's subscription.
    [[nodiscard]] bool isFull() noexcept {
        for (std::size_t i = subscriptions_.size(); subscriptions_.full() && i != 0; --i) {
            Subscription& each = subscriptions_[i - 1];
            if (!each.isActive() && each.end(detail::UnsubscribeStep::ownHandler) !=
                                        detail::UnsubscribeResult::atReturn) {
                subscriptions_.eraseUnordered(i - 1);
            }
        }
        return subscriptions_.full();
    }

    template <class Handler>
    decltype(auto) bind(Handler&& handler) const noexcept {
        if constexpr (std::is_member_function_pointer_v<std::decay_t<Handler>>) {
            return [&owner = owner_, handler](const auto&... args)
                       -> std::invoke_result_t<Handler, Owner&, decltype(args)...> {
                return std::invoke(handler, owner, args...);
            };
        } else {
            return std::forward<Handler>(handler);
        }
    }

    Owner& owner_;
    FixedVector<Subscription, MaxSubscriptions> subscriptions_;
};

}  // namespace sluice
