#pragma once

#include <sluice/bus/bus.hpp>
#include <sluice/bus/messages.hpp>

#include <type_traits>

namespace sluice {

namespace detail {

/// Whether a public `Derived::handle` is exactly such a member function.
template <class Derived, class Function, class = void>
inline constexpr bool hasHandle = false;
template <class Derived, class Function>
inline constexpr bool
    hasHandle<Derived, Function, std::void_t<decltype(static_cast<Function>(&Derived::handle))>> =
        true;

template <class Derived, class... Args>
inline constexpr bool handles = hasHandle<Derived, void (Derived::*)(Args...)> ||
                                hasHandle<Derived, void (Derived::*)(Args...) const>;

/// Refuses a type of Handles that could not be handled.
template <class Derived, class MessageList, class Header, class T>
struct CheckedHandle {
    static_assert(MessageList::template contains<T>,
                  "a type of Handles is not among the Messages of the bus");
    static_assert(handles<Derived, const T&> || handles<Derived, const T&, const Header&>,
                  "a type of Handles has no public `void handle(const T&)` or `void handle(const "
                  "T&, const Header&)`");
    static constexpr bool isFine = true;
};

template <class Derived, class Bus, class Handles>
inline constexpr bool areHandled = false;
template <class Derived, class Bus, class... Ts>
inline constexpr bool areHandled<Derived, Bus, Messages<Ts...>> =
    (CheckedHandle<Derived, typename Bus::MessageTypes, typename Bus::Header, Ts>::isFine && ...);

}  // namespace detail

/// The base of a class whose handlers are found when the program is compiled. The class names the
/// types that it handles, and has a member function for each.
///
///     class Brake : public sluice::StaticComponent<Brake> {
///     public:
///         using Handles = sluice::Messages<Alarm, Speed>;
///         void handle(const Alarm& alarm, const VehicleBus::Header& header);
///         void handle(const Speed& speed);
///     };
///     bus.processWith(brake.visitor(bus));
///
/// The bus calls `handle` directly, without a table of handlers. It skips types that are not among
/// Handles. If a class has both forms of `handle`, the form with the header is called.
///
/// The program does not compile if a type among Handles has one of these faults:
/// - Its `handle` is missing or private.
/// - Its `handle` takes another type, also one that the message converts to.
/// - The bus does not carry the type.
///
/// Use it if one object takes all messages of a consumer. Use Component if several objects share
/// the messages, come and go, or live on other threads than the consumer.
///
/// A visitor refers to its component, so it must not outlive it. An exception of `handle` passes
/// through processWith(), as with any visitor.
template <class Derived>
class StaticComponent {
    /// The visitor that processWith() calls.
    template <class Header>
    class Visitor {
    public:
        explicit Visitor(Derived& component) noexcept : component_(component) {}

        template <class T>
        void operator()(const T& message, const Header& header) const {
            if constexpr (Derived::Handles::template contains<T>) {
                if constexpr (detail::handles<Derived, const T&, const Header&>) {
                    component_.handle(message, header);
                } else if constexpr (detail::handles<Derived, const T&>) {
                    component_.handle(message);
                }  // else visitor() has refused it
            }
        }

    private:
        Derived& component_;
    };

public:
    /// The visitor for processWith() and runWith() of this bus.
    template <class Bus>
    [[nodiscard]] auto visitor(const Bus&) noexcept {
        static_assert(detail::areHandled<Derived, Bus, typename Derived::Handles>,
                      "Handles of a StaticComponent is a sluice::Messages<...>");
        return Visitor<typename Bus::Header>(static_cast<Derived&>(*this));
    }

protected:
    StaticComponent() = default;
    ~StaticComponent() = default;
    StaticComponent(const StaticComponent&) = default;
    StaticComponent& operator=(const StaticComponent&) = default;
};

}  // namespace sluice
