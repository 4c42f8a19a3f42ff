#pragma once

/// \file
/// The rows of a state machine's table, and the result of a message. See state_machine.hpp.

namespace sluice {

/// The result of a message.
enum class MachineResult : unsigned char {
    handled,    ///< a row was used
    deferred,   ///< the message comes back after a change of state
    refused,    ///< its state defers it, and maxDeferred messages are deferred already
    unhandled,  ///< no row was used, or the machine is not running
};

/// The name of the value, for logs and messages to people.
[[nodiscard]] constexpr const char* toString(MachineResult result) noexcept {
    switch (result) {
    case MachineResult::handled:
        return "handled";
    case MachineResult::deferred:
        return "deferred";
    case MachineResult::refused:
        return "refused";
    case MachineResult::unhandled:
        return "unhandled";
    }
    return "unknown MachineResult";
}

/// A guard. The row is used only if Function returns true. Function may be a member function of the
/// context. It takes nothing, the context, the message, or the context and the message.
template <auto Function>
struct If {};

/// An action. Function has the same parameters as a guard.
template <auto Function>
struct Do {};

/// A row: in the state Source, a message of this type leads to the state Target. Options: at most
/// one `If<guard>`, and `Do<action>` for each action, in order.
template <class Source, class Message, class Target, class... Options>
struct On {};

/// A row: in this state, the machine handles a message of this type without leaving or entering a
/// state.
template <class State, class Message, class... Options>
struct Stay {};

/// A row: in this state, the machine keeps a message of this type until it is in a state that does
/// not defer it.
template <class State, class Message>
struct Defer {};

/// The table of a machine. For a state and a type of message, the first row whose guard returns
/// true is used. Without such a row, the rows of the state's parent are checked.
template <class... Rows>
struct Transitions {};

}  // namespace sluice
