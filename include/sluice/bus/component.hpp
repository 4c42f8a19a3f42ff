#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/bus/bus.hpp>
#include <sluice/bus/subscription.hpp>
#include <sluice/fixed/fixed_vector.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace sluice {

/// The subscriptions of one owner, which end before anything else of the owner does.
///
/// Purpose: an object whose member functions handle messages may be destroyed at any time, on any
/// thread, also by one of these handlers. None of them must ever find a part of it gone.
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
/// The last member of a class is the first part of it to be destroyed, and a final class has no
/// derived part that would go before. So the owner must be final, which the compiler checks, and
/// its Component the last member, which the constructor checks, in release builds too. (Where the
/// owner has a larger alignment than a pointer, a small member that hides in the padding behind the
/// Component is not noticed.)
///
/// Use it for handlers that belong to an object. Use Subscription for a single one, StaticComponent
/// when the types that are handled are known at compile time.
///
/// Threads: members by one thread at a time, for which a handler of the owner counts as
/// well. The destructor may run on any thread, also inside a handler of the owner.
///
/// When the destructor returns, no handler of the owner runs or will run, except the handler that
/// called it: that one may go on, without its owner. One that has ended its own subscription, or
/// all of them, is waited for like any other. While the body of the owner's own destructor
/// runs, handlers may still run beside it: begin it with unsubscribeAll() where that matters. Do
/// not destroy the owner while holding a lock that one of its handlers takes.
///
/// Capacity: MaxSubscriptions, in the object itself; nothing is allocated. One that has ended in
/// its own handler counts until that returns. The buses must outlive it.
///
/// Tests: tests/unit/bus/component_test.cpp, tests/compile_fail/bus_components.cpp.
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
    /// Ends all subscriptions, as unsubscribeAll().
    ~Component() = default;

    /// Subscribes for T. The handler is one for Bus::subscribe(), or a member function of the
    /// owner that takes the same. False, and there is no subscription more, when this component or
    /// the table of the bus is full; in the first case the handler is still the caller's.
    template <class T, class MessageList, class Traits, class Handler>
    [[nodiscard]] bool trySubscribe(Bus<MessageList, Traits>& bus, Handler&& handler) {
        if (isFull()) {
            return false;
        }
        using Header = typename Bus<MessageList, Traits>::Header;
        Subscription subscription =
            bus.template subscribe<T>(bind<T, Header>(std::forward<Handler>(handler)));
        return subscription && subscriptions_.pushBack(std::move(subscription));
    }

    /// The same for subscriptions that must succeed: if trySubscribe() returns false, it is a
    /// set-up error.
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

    /// Ends all subscriptions. When it returns, no handler of the owner runs or will run,
    /// except the one that called it.
    void unsubscribeAll() noexcept {
        // Out of this object first: the captures of a handler may keep the owner alive.
        auto ending = std::move(subscriptions_);
        // Except the one whose handler calls this: it goes on, and if another thread destroys the
        // owner then, that must wait for it.
        for (Subscription& each : ending) {
            if (each.end(detail::UnsubscribeCaller::ownHandler) ==
                detail::UnsubscribeResult::atReturn) {
                (void)subscriptions_.pushBack(std::move(each));
            }
        }
    }

    [[nodiscard]] std::size_t count() const noexcept {
        return static_cast<std::size_t>(
            std::count_if(subscriptions_.begin(), subscriptions_.end(),
                          [](const Subscription& each) { return each.isActive(); }));
    }
    [[nodiscard]] static constexpr std::size_t capacity() noexcept { return MaxSubscriptions; }

private:
    /// Nothing but padding lies between the end of this object and that of its owner.
    [[nodiscard]] bool isLastMember() const noexcept {
        const auto end = reinterpret_cast<std::uintptr_t>(std::addressof(owner_) + 1);
        const auto endOfThis = reinterpret_cast<std::uintptr_t>(this + 1);
        return end - endOfThis < alignof(Owner);
    }

    /// After forgetting the subscriptions that have ended, unless one still goes on and calls this.
    [[nodiscard]] bool isFull() noexcept {
        for (std::size_t i = subscriptions_.size(); subscriptions_.full() && i != 0; --i) {
            Subscription& each = subscriptions_[i - 1];
            if (!each.isActive() && each.end(detail::UnsubscribeCaller::ownHandler) !=
                                        detail::UnsubscribeResult::atReturn) {
                subscriptions_.eraseUnordered(i - 1);
            }
        }
        return subscriptions_.full();
    }

    template <class T, class Header, class Handler>
    decltype(auto) bind(Handler&& handler) const noexcept {
        if constexpr (std::is_member_function_pointer_v<std::decay_t<Handler>>) {
            return [&owner = owner_, handler](const T& message, const Header& header) {
                if constexpr (std::is_invocable_v<Handler, Owner&, const T&, const Header&>) {
                    (owner.*handler)(message, header);
                } else {
                    constexpr bool takesIt = std::is_invocable_v<Handler, Owner&, const T&>;
                    static_assert(takesIt, "a handler of the owner takes (const T&) or (const T&, "
                                           "const Header&)");
                    if constexpr (takesIt) {  // or there would be other errors besides
                        (owner.*handler)(message);
                    } else {
                        static_cast<void>(&owner), static_cast<void>(handler);
                    }
                }
            };
        } else {
            return std::forward<Handler>(handler);
        }
    }

    Owner& owner_;
    FixedVector<Subscription, MaxSubscriptions> subscriptions_;
};

}  // namespace sluice
