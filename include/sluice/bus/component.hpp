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

/// The subscriptions of one owner, which end before any other member of the owner is destroyed. So
/// the owner may be destroyed at any time and on any thread, even by one of its handlers.
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
/// Use it for handlers that belong to an object, Subscription for a single handler.
///
/// The Component must be the last member of a final class: then it is destroyed first. The compiler
/// and, in release builds too, the constructor check this. (If the owner has a larger alignment
/// than a pointer, the check misses a small member in the padding behind the Component.)
///
/// When the destructor has returned, no handler of the owner runs or will run, except the one that
/// called the destructor. Handlers may still run on other threads while the body of the owner's
/// destructor runs: begin it with unsubscribeAll() if it uses members. Do not destroy the owner
/// while holding a lock that one of its handlers takes.
///
/// Thread safety: one thread at a time calls the members, also in a handler of the owner.
///
/// Performance: it allocates nothing. A subscription that has ended in its own handler counts
/// until the handler returns. The buses must outlive the Component.
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
    ~Component() = default;

    /// Subscribes a handler for Bus::subscribe(), or a member function of the owner with the same
    /// parameters. Returns false if this component or the table of the bus is full. If the
    /// component is full, the caller keeps the handler.
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

    /// Ends all subscriptions. When it has returned, no handler of the owner runs or will run,
    /// except its caller.
    void unsubscribeAll() noexcept {
        // Takes the subscriptions out first: the captures of a handler may own the owner.
        auto ending = std::move(subscriptions_);
        // Keeps the subscription whose handler calls this. That handler still runs, and a thread
        // that destroys the owner must wait for it.
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
    /// Returns true if only padding lies between the end of this object and that of its owner.
    [[nodiscard]] bool isLastMember() const noexcept {
        const auto end = reinterpret_cast<std::uintptr_t>(std::addressof(owner_) + 1);
        const auto endOfThis = reinterpret_cast<std::uintptr_t>(this + 1);
        return end - endOfThis < alignof(Owner);
    }

    /// Returns true if there is no room, after it has removed the subscriptions that have ended,
    /// except one whose handler calls this.
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
                    if constexpr (takesIt) {  // avoids follow-up errors
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
