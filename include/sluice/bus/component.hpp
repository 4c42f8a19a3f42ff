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

/// The subscriptions of an object, its owner. They end before any other member of the owner is
/// destroyed, so the owner may be destroyed on any thread, even in one of its handlers.
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
/// The Component must be the last member of a final class, so that it is destroyed first; compiler
/// and constructor check this. The buses must outlive it.
///
/// After the destructor, no handler of the owner runs, except one that called it. Handlers may run
/// on other threads during the body of the owner's destructor: begin it with unsubscribeAll() if it
/// uses members. Do not destroy the owner while holding a lock that one of its handlers takes.
///
/// Thread safety: one thread at a time calls the members. A handler of the owner may call
/// unsubscribeAll() while another thread destroys the owner.
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
        for (Subscription& each : subscriptions_) {  // all, before any is destroyed: a handler
            each.unsubscribe();                      // may be in unsubscribeAll()
        }
    }

    /// Subscribes a handler for Bus::subscribe(), or a member function of the owner. Returns false
    /// if this component is full; then the caller keeps the handler. Also returns false if the bus
    /// has maxHandlers handlers, but a handler passed as an rvalue has been moved from then. A
    /// subscription that ended in its own handler counts until the handler returns.
    template <class T, class MessageList, class Traits, class Handler>
    [[nodiscard]] bool trySubscribe(Bus<MessageList, Traits>& bus, Handler&& handler) {
        if (isFull()) {
            return false;
        }
        Subscription subscription =
            bus.template trySubscribe<T>(bind(std::forward<Handler>(handler)));
        return subscription && subscriptions_.pushBack(std::move(subscription));
    }

    /// Like trySubscribe(), but missing room is a set-up error.
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

    /// Ends all subscriptions. Afterwards no handler of the owner runs, except the caller.
    void unsubscribeAll() noexcept {
        using Step = detail::UnsubscribeStep;
        FixedVector<Subscription, MaxSubscriptions> ending;
        for (Subscription& each : subscriptions_) {
            // The subscription whose handler calls this stays: a thread that destroys the owner
            // must wait for that handler.
            if (each.end(Step::ownHandler) == detail::UnsubscribeResult::refused) {
                (void)ending.pushBack(std::move(each));
            }
        }
        for (Subscription& each : ending) {
            if (each.takeStep(Step::keepCaptures) != detail::UnsubscribeResult::done) {
                each.release();  // it has ended before, or another thread ends it
            }
        }
        // Last, because the captures of a handler may own the owner.
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
    /// Returns true if only padding follows in the owner. If the owner is aligned more strictly
    /// than a pointer, this misses a small member in that padding.
    [[nodiscard]] bool isLastMember() const noexcept {
        const auto end = reinterpret_cast<std::uintptr_t>(std::addressof(owner_) + 1);
        const auto endOfThis = reinterpret_cast<std::uintptr_t>(this + 1);
        return end - endOfThis < alignof(Owner);
    }

    /// Removes ended subscriptions if there is no room, except one whose handler calls this.
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

    /// A callable for a member function of the owner, with the same parameters; otherwise
    /// `handler`.
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
