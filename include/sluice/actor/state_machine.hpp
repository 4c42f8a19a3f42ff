#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/fixed/fixed_vector.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace sluice {

/// The result of handling a message.
enum class MachineResult : unsigned char {
    handled,    ///< a row of the table was used
    deferred,   ///< the message is offered again after a change of state
    refused,    ///< a row defers the message, but maxDeferred messages are deferred already
    unhandled,  ///< no row accepts the message, or the machine is not running
};

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

/// A guard: its row is used only if Function returns true. Function may be a member of the context.
/// Function takes no argument, the context, the message, or the context and the message.
template <auto Function>
struct If {};

/// An action of a row. Function may take the same arguments as in If.
template <auto Function>
struct Do {};

/// A row of the transition table: in the state Source, the message changes the state to Target. The
/// options are at most one `If<guard>`, and a `Do<action>` for each action, in order.
template <class Source, class Message, class Target, class... Options>
struct On {};

/// A row for a message that is handled without leaving or entering a state.
template <class State, class Message, class... Options>
struct Stay {};

/// A row that defers a message until the machine enters a state without such a row.
template <class State, class Message>
struct Defer {};

/// The table of a machine. A message uses the first row whose state, message type and guard match.
/// If no row of the current state matches, the machine checks the rows of the state's parent.
template <class... Rows>
struct Transitions {};

}  // namespace sluice

namespace sluice::detail {

template <class... Ts>
struct TypeList {
    static constexpr std::size_t size = sizeof...(Ts);
    template <class T>
    static constexpr bool contains = (std::is_same_v<T, Ts> || ...);
    /// The index of T in the list, or `size` if T is not in the list.
    template <class T>
    static constexpr std::size_t indexOf() noexcept {
        std::size_t index = 0;
        (void)((std::is_same_v<T, Ts> || (++index, false)) || ...);
        return index;
    }
};

// ---- States

/// True if State is a complete class, so that its `Parent` is known.
template <class State, class = void>
inline constexpr bool isState = false;
template <class State>
inline constexpr bool isState<State, std::void_t<decltype(sizeof(State))>> = std::is_class_v<State>;

// Only declared. Without State::Parent or State::Initial, 0 selects the overload for `long`.
template <class State>
typename State::Parent parentOf(int);
template <class State>
void parentOf(long);
template <class State>
using Parent = decltype(parentOf<State>(0));

template <class State>
typename State::Initial initialOf(int);
template <class State>
void initialOf(long);
template <class State>
using Initial = decltype(initialOf<State>(0));

template <class State, class = void>
inline constexpr bool hasHistory = false;
template <class State>
inline constexpr bool hasHistory<State, std::void_t<decltype(State::hasHistory)>> =
    State::hasHistory;

/// Calls `State::enter`, if any, with the context or without an argument.
template <class State, class Context>
auto callEnter(Context& context, int /*rank*/) -> decltype(State::enter(context), void()) {
    State::enter(context);
}
template <class State, class Context>
auto callEnter(Context& /*context*/, long /*rank*/) -> decltype(State::enter(), void()) {
    State::enter();
}
template <class State, class Context>
void callEnter(Context& /*context*/, ...) {
}

template <class State, class Context>
auto callExit(Context& context, int /*rank*/) -> decltype(State::exit(context), void()) {
    State::exit(context);
}
template <class State, class Context>
auto callExit(Context& /*context*/, long /*rank*/) -> decltype(State::exit(), void()) {
    State::exit();
}
template <class State, class Context>
void callExit(Context& /*context*/, ...) {
}

template <class List, class State,
          bool IsThere = List::template contains<State> || std::is_void_v<State>>
struct WithState {
    using Type = List;
};
template <class... States, class State>
struct WithState<TypeList<States...>, State, false> {
    using Self = typename WithState<TypeList<States..., State>, Parent<State>>::Type;
    using Type = typename WithState<Self, Initial<State>>::Type;
};

template <class List, class... States>
struct WithStates {
    using Type = List;
};
template <class List, class State, class... Others>
struct WithStates<List, State, Others...> {
    using Type = typename WithStates<typename WithState<List, State>::Type, Others...>::Type;
};

// ---- Rows

enum class RowKind : unsigned char { on, stay, defer };

template <class Option>
inline constexpr bool isGuard = false;
template <auto Function>
inline constexpr bool isGuard<If<Function>> = true;

template <RowKind Kind, class SourceState, class MessageType, class TargetState, class... Options>
struct RowParts {
    static constexpr RowKind kind = Kind;
    static constexpr std::size_t guards = (std::size_t{0} + ... + (isGuard<Options> ? 1 : 0));
    using Source = SourceState;
    using Message = MessageType;
    using Target = TargetState;
    using OptionList = TypeList<Options...>;
};

template <class Row>
struct RowOf;
template <class S, class M, class T, class... Options>
struct RowOf<On<S, M, T, Options...>> : RowParts<RowKind::on, S, M, T, Options...> {};
template <class S, class M, class... Options>
struct RowOf<Stay<S, M, Options...>> : RowParts<RowKind::stay, S, M, void, Options...> {};
template <class S, class M>
struct RowOf<Defer<S, M>> : RowParts<RowKind::defer, S, M, void> {};

// ---- Messages that are deferred

template <class Message, class... Rows>
inline constexpr bool isDeferred = ((RowOf<Rows>::kind == RowKind::defer &&
                                     std::is_same_v<Message, typename RowOf<Rows>::Message>) ||
                                    ...);

template <class Variant, class... Rows>
struct DeferredVariant {
    using Type = Variant;
};
template <class... Ms, class Row, class... Rows>
struct DeferredVariant<std::variant<Ms...>, Row, Rows...> {
    using Message = typename RowOf<Row>::Message;
    static constexpr bool isNew =
        RowOf<Row>::kind == RowKind::defer && !TypeList<Ms...>::template contains<Message>;
    using Type = typename DeferredVariant<
        std::conditional_t<isNew, std::variant<Ms..., Message>, std::variant<Ms...>>,
        Rows...>::Type;
};
/// A variant of the message types that rows defer, or `std::variant<>` if no row defers.
template <class... Rows>
using DeferredMessage = typename DeferredVariant<std::variant<>, Rows...>::Type;

/// Calls a guard or an action with the arguments that it accepts: context, message, both, or none.
template <auto Function, class Context, class Message>
decltype(auto) callWith(Context& context, const Message& message) {
    using F = decltype(Function);
    if constexpr (std::is_invocable_v<F, Context&, const Message&>) {
        return std::invoke(Function, context, message);
    } else if constexpr (std::is_invocable_v<F, Context&>) {
        return std::invoke(Function, context);
    } else if constexpr (std::is_invocable_v<F, const Message&>) {
        return std::invoke(Function, message);
    } else {
        return std::invoke(Function);
    }
}

template <class Context, class Message, auto Function>
bool asks(If<Function> /*guard*/, Context& context, const Message& message) {
    return callWith<Function>(context, message);
}
template <class Context, class Message, class Action>
bool asks(Action /*action*/, Context& /*context*/, const Message& /*message*/) {
    return true;
}
template <class Context, class Message, class Guard>
void acts(Guard /*guard*/, Context& /*context*/, const Message& /*message*/) {
}
template <class Context, class Message, auto Function>
void acts(Do<Function> /*action*/, Context& context, const Message& message) {
    (void)callWith<Function>(context, message);
}

// ---- The table

template <class First, class... Rows>
struct MachineTable {
    using States = typename WithStates<TypeList<>, First, typename RowOf<Rows>::Source...,
                                       typename RowOf<Rows>::Target...>::Type;
    static constexpr std::size_t size = States::size;
    using Indices = std::array<std::size_t, size>;

    template <class State>
    static constexpr std::size_t indexOf = States::template indexOf<State>();

    template <class... Sts>
    static constexpr bool areStates(TypeList<Sts...> /*states*/) noexcept {
        return (isState<Sts> && ...);
    }
    template <class... Sts>
    static constexpr Indices parentsOf(TypeList<Sts...> /*states*/) noexcept {
        return {indexOf<Parent<Sts>>...};
    }
    template <class... Sts>
    static constexpr Indices initialsOf(TypeList<Sts...> /*states*/) noexcept {
        return {indexOf<Initial<Sts>>...};
    }
    /// The index of each state's parent, or `size` if the state has no parent.
    static constexpr Indices parents = parentsOf(States{});
    static constexpr Indices initials = initialsOf(States{});

    static constexpr bool contains(std::size_t ancestor, std::size_t state) noexcept {
        for (std::size_t steps = 0; state != size && steps <= size; ++steps) {
            if (state == ancestor) {
                return true;
            }
            state = parents[state];
        }
        return false;
    }

    /// Returns the innermost state that contains a and b, or their parent if a equals b. Returns
    /// `size` if only the whole machine contains both.
    static constexpr std::size_t commonOf(std::size_t a, std::size_t b) noexcept {
        std::size_t common = a == b ? parents[a] : a;
        while (common != size && !contains(common, b)) {
            common = parents[common];
        }
        return common;
    }

    static constexpr bool hasCycle() noexcept {
        for (std::size_t state = 0; state != size; ++state) {
            if (parents[state] != size && contains(state, parents[state])) {
                return true;
            }
        }
        return false;
    }

    static constexpr bool hasInitials() noexcept {
        for (std::size_t state = 0; state != size; ++state) {
            const std::size_t parent = parents[state];
            if (parent != size && initials[parent] == size) {
                return false;
            }
        }
        return true;
    }
    static constexpr bool areInitialsInside() noexcept {
        for (std::size_t state = 0; state != size; ++state) {
            if (initials[state] != size &&
                (initials[state] == state || !contains(state, initials[state]))) {
                return false;
            }
        }
        return true;
    }

    static constexpr void enter(std::array<bool, size>& reached, std::size_t state) noexcept {
        for (std::size_t steps = 0; state != size && steps <= size; ++steps) {
            for (std::size_t each = state; each != size && !reached[each]; each = parents[each]) {
                reached[each] = true;
            }
            state = initials[state];
        }
    }
    // The array has one element more than rows, because an array of size 0 is an error.
    using RowIndices = std::array<std::size_t, sizeof...(Rows) + 1>;
    static constexpr RowIndices sources{indexOf<typename RowOf<Rows>::Source>..., size};
    static constexpr RowIndices targets{indexOf<typename RowOf<Rows>::Target>..., size};

    static constexpr bool areAllReached() noexcept {
        std::array<bool, size> reached{};
        enter(reached, indexOf<First>);
        for (std::size_t round = 0; round != size; ++round) {
            for (std::size_t row = 0; row != sizeof...(Rows); ++row) {
                if (reached[sources[row]] && targets[row] != size) {
                    enter(reached, targets[row]);
                }
            }
        }
        for (const bool each : reached) {
            if (!each) {
                return false;
            }
        }
        return true;
    }

    static constexpr bool hasHiddenRow() noexcept {
        const RowIndices messages{TypeList<typename RowOf<Rows>::Message...>::template indexOf<
                                      typename RowOf<Rows>::Message>()...,
                                  size};
        const RowIndices guards{RowOf<Rows>::guards..., 0};
        for (std::size_t row = 0; row != sizeof...(Rows); ++row) {
            for (std::size_t before = 0; before != row; ++before) {
                if (sources[before] == sources[row] && messages[before] == messages[row] &&
                    guards[before] == 0) {
                    return true;
                }
            }
        }
        return false;
    }

    static_assert(
        areStates(States{}),
        "no such state: a state of the machine must be a class that is defined before the "
        "machine");
    static_assert(
        !hasCycle(),
        "a state of the machine lies in itself: one of its `Parent`s is the state itself");
    static_assert(hasInitials(),
                  "a state with inner states must name the first of them: `using Initial = ...`");
    static_assert(
        areInitialsInside(),
        "the `Initial` of a state is no state inside of it: `Parent` of the `Initial` must lead "
        "to the state");
    static_assert(areAllReached(), "a state of the machine is never reached from its first one");
    static_assert(
        !hasHiddenRow(),
        "a row of the machine is never used: an earlier row of the same state and message has "
        "no guard");
    static_assert(
        ((RowOf<Rows>::guards <= 1) && ...),
        "a row of the machine has more than one `If`: write one guard for both conditions");
};

// ---- Deferred messages

template <class Message, std::size_t Capacity>
class DeferredMessages {
    using Slot = std::optional<Message>;

public:
    /// Stores a copy of a message. Returns false if Capacity messages are stored already.
    template <class M>
    [[nodiscard]] bool keep(const M& message) {
        static_assert(std::is_copy_constructible_v<M>,
                      "a deferred message needs a copy constructor: the machine keeps a copy");
        for (Slot& slot : slots_) {
            if (!slot.has_value()) {
                slot.emplace(std::in_place_type<M>, message);
                return messages_.pushBack(&slot);
            }
        }
        return false;
    }
    /// Makes redeliver() offer the stored messages again.
    void stateChanged() noexcept { hasChanged_ |= messages_.size() != 0; }
    /// Discards all stored messages, and counts them in discarded().
    void clear() {
        while (!messages_.empty()) {
            Slot& newest = *messages_.back();
            messages_.popBack();
            ++discarded_;
            newest.reset();
        }
        hasChanged_ = false;
    }

    [[nodiscard]] std::size_t size() const noexcept { return messages_.size(); }
    [[nodiscard]] std::size_t discarded() const noexcept { return discarded_; }

    [[nodiscard]] bool isDue() const noexcept { return hasChanged_; }

    /// Passes each message to offer(message), and starts again with the oldest message after each
    /// change of state. redeliver() is out of line, because most calls find no deferred message.
    template <class Offer>
    [[gnu::noinline]] void redeliver(const Offer& offer) {
        while (hasChanged_) {
            hasChanged_ = false;
            for (std::size_t i = 0; i != messages_.size() && !hasChanged_;) {
                i += staysDeferred(i, offer) ? 1 : 0;
            }
        }
    }

private:
    /// The scope of one offer(). Its destructor removes the message unless the message stays
    /// deferred. If offer() throws, the next redeliver() offers the remaining messages.
    struct Offered {
        Offered(DeferredMessages& owner, std::size_t offered) noexcept
            : messages(owner), index(offered) {}
        ~Offered() {
            messages.hasChanged_ |= !hasReturned;
            if (!isDeferred) {
                messages.messages_[index]->reset();
                messages.messages_.eraseOrdered(index);
            }
        }
        Offered(const Offered&) = delete;
        Offered& operator=(const Offered&) = delete;

        DeferredMessages& messages;
        std::size_t index;
        bool hasReturned = false;
        bool isDeferred = false;
    };

    template <class Offer>
    bool staysDeferred(std::size_t index, const Offer& offer) {
        Offered offered(*this, index);
        const MachineResult result = std::visit(offer, **messages_[index]);
        offered.hasReturned = true;
        offered.isDeferred = result == MachineResult::deferred;
        discarded_ += result == MachineResult::unhandled ? 1 : 0;
        return offered.isDeferred;
    }

    std::array<Slot, Capacity> slots_;
    FixedVector<Slot*, Capacity> messages_;  ///< the slots with a message, oldest first
    std::size_t discarded_ = 0;
    bool hasChanged_ = false;  ///< the state has changed since the last redeliver()
};

template <std::size_t Capacity>
class DeferredMessages<std::variant<>, Capacity> {
public:
    void stateChanged() const noexcept {}
    void clear() const noexcept {}
    [[nodiscard]] std::size_t size() const noexcept { return 0; }
    [[nodiscard]] std::size_t discarded() const noexcept { return 0; }
    [[nodiscard]] bool isDue() const noexcept { return false; }
    template <class Offer>
    void redeliver(const Offer& /*offer*/) const noexcept {}
};

}  // namespace sluice::detail

namespace sluice {

struct MachineTraits {
    /// The maximum number of deferred messages.
    static constexpr std::size_t maxDeferred = 8;
};

/// A hierarchical state machine whose transition table is checked at compile time. A state machine
/// can be a member of an active object, or used alone.
///
///     struct Slow {                                 // a state is a type; all members are optional
///         using Parent = Moving;                    // the state that contains Slow
///         using Initial = Crawling;                 // the inner state that is entered first
///         static constexpr bool hasHistory = true;  // on a return, the inner state left last
///         static void enter(Motor& motor);          // or enter(); likewise exit()
///     };
///     using Table = sluice::Transitions<
///         sluice::On<Standing, Start, Moving, sluice::If<&Motor::isClear>>,
///         sluice::Stay<Moving, Speed, sluice::Do<&Motor::setSpeed>>,
///         sluice::On<Moving, Stop, Standing>,
///         sluice::Defer<Standing, Speed>>;
///     sluice::StateMachine<Motor, Standing, Table> machine(motor);
///     machine.start();
///     machine.handle(Start{});
///
/// Order: a change of state calls the guard, then exit() from the inside out, then the actions, and
/// then enter() from the outside in. States that contain both source and target are neither left
/// nor entered. A change to the same state leaves and enters that state. After each change of
/// state, the machine offers the deferred messages again, the oldest first.
///
/// Thread safety: one thread at a time may use a machine. Guards, actions, enter() and exit() must
/// not call start(), stop() or handle() of their own machine: the program would terminate with a
/// message.
///
/// Errors: if a guard, an action, enter() or exit() throws, the machine stays in the innermost
/// state that it has entered and not left. A machine that has left all states is stopped. A
/// deferred message whose handling throws is dropped.
///
/// Performance: one table look-up per message, and no heap allocation.
template <class Context, class First, class Table, class Traits = MachineTraits>
class StateMachine;

template <class Context, class First, class... Rows, class Traits>
class StateMachine<Context, First, Transitions<Rows...>, Traits> {
    using Table = detail::MachineTable<First, Rows...>;
    using States = typename Table::States;
    using Result = MachineResult;
    template <class State>
    static constexpr std::size_t indexOf = Table::template indexOf<State>;
    static constexpr std::size_t none = Table::size;

public:
    explicit StateMachine(Context& context) noexcept : context_(&context) { last_.fill(none); }
    StateMachine(const StateMachine&) = delete;
    StateMachine& operator=(const StateMachine&) = delete;

    /// Enters First and its initial inner states. Returns false if the machine is already running.
    bool start() {
        if (isRunning()) {
            return false;
        }
        const Calling calling(*this);
        enter<none, First>();
        begin<First>();
        redeliver();
        return true;
    }
    /// Leaves all states, discards the deferred messages, and clears the history of each state.
    void stop() {
        static constexpr auto leaving = leaveTable(States{});
        const Calling calling(*this);
        while (isRunning()) {
            leaving[current_](*this);
        }
        deferred_.clear();
        last_.fill(none);
    }

    template <class Message>
    Result handle(const Message& message) {
        const Calling calling(*this);
        Result result = offer(message);
        if constexpr (detail::isDeferred<Message, Rows...>) {
            if (result == Result::deferred && !deferred_.keep(message)) {
                result = Result::refused;
            }
        }
        redeliver();
        return result;
    }

    [[nodiscard]] bool isRunning() const noexcept { return current_ != none; }
    /// Returns true if the machine is in State, or in a state inside State.
    template <class State>
    [[nodiscard]] bool isIn() const noexcept {
        static_assert(States::template contains<State>, "this state is not in the machine's table");
        return Table::contains(indexOf<State>, current_);
    }
    [[nodiscard]] std::size_t deferredCount() const noexcept { return deferred_.size(); }
    /// The number of deferred messages that stop() discarded, or that no row accepted later.
    [[nodiscard]] std::size_t discardedCount() const noexcept { return deferred_.discarded(); }

private:
    template <class Row>
    using RowOf = detail::RowOf<Row>;
    using Deferred = detail::DeferredMessage<Rows...>;

    /// The scope of start(), stop() or handle(). A nested call terminates the program.
    struct Calling {
        explicit Calling(StateMachine& called) noexcept : machine(called) {
            if (std::exchange(machine.isCalled_, true)) {
                failAssertion({"no call is running",
                               "a state machine is called by one of its own functions: let the "
                               "function post a message",
                               __FILE__, __LINE__});
            }
        }
        ~Calling() { machine.isCalled_ = false; }
        Calling(const Calling&) = delete;
        Calling& operator=(const Calling&) = delete;
        StateMachine& machine;
    };

    // ---- Messages

    template <class Message>
    Result offer(const Message& message) {
        static constexpr auto offers = offerTable<Message>(States{});
        return offers[current_](*this, message);
    }
    /// Returns an offerTo() function for each state, and a last one for a stopped machine.
    template <class Message, class... Sts>
    static constexpr auto offerTable(detail::TypeList<Sts...> /*states*/) noexcept {
        using Offer = Result (*)(StateMachine&, const Message&);
        return std::array<Offer, none + 1>{&StateMachine::template offerTo<Sts, Sts, Message>...,
                                           &StateMachine::template offerTo<void, void, Message>};
    }

    /// Offers a message to the rows of State and of its parents. Current is the machine's state.
    template <class Current, class State, class Message>
    static Result offerTo(StateMachine& machine, const Message& message) {
        if constexpr (std::is_void_v<State>) {
            return Result::unhandled;
        } else {
            Result result = Result::unhandled;
            (void)((machine.take<Current, RowFor<Rows, State, Message>>(message, result)) || ...);
            return result != Result::unhandled
                       ? result
                       : offerTo<Current, detail::Parent<State>, Message>(machine, message);
        }
    }

    /// Row if it is for State and Message, else void, so that all other rows share one take().
    template <class Row, class State, class Message>
    using RowFor = std::conditional_t<std::is_same_v<State, typename RowOf<Row>::Source> &&
                                          std::is_same_v<Message, typename RowOf<Row>::Message>,
                                      Row, void>;
    /// Applies Row and returns true, unless Row is void or a guard of Row returns false.
    template <class Current, class Row, class Message>
    bool take(const Message& message, Result& result) {
        if constexpr (std::is_void_v<Row>) {
            return false;
        } else {
            if (!isAllowed(typename RowOf<Row>::OptionList{}, message)) {
                return false;
            }
            result = Result::handled;
            if constexpr (RowOf<Row>::kind == detail::RowKind::defer) {
                result = Result::deferred;
            } else if constexpr (RowOf<Row>::kind == detail::RowKind::stay) {
                act(typename RowOf<Row>::OptionList{}, message);
            } else {
                change<Current, Row>(message);
            }
            return true;
        }
    }

    template <class Message, class... Options>
    bool isAllowed(detail::TypeList<Options...> /*options*/, const Message& message) {
        return (detail::asks(Options{}, *context_, message) && ...);
    }
    template <class Message, class... Options>
    void act(detail::TypeList<Options...> /*options*/, const Message& message) {
        (detail::acts(Options{}, *context_, message), ...);
    }

    void redeliver() {
        if (deferred_.isDue() && isRunning()) {
            deferred_.redeliver([this](const auto& message) { return this->offer(message); });
        }
    }

    // ---- States

    template <class Current, class Row, class Message>
    void change(const Message& message) {
        using Source = typename RowOf<Row>::Source;
        using Target = typename RowOf<Row>::Target;
        constexpr std::size_t common = Table::commonOf(indexOf<Source>, indexOf<Target>);
        deferred_.stateChanged();
        leave<common, Current>();
        if constexpr (Table::contains(indexOf<Target>, indexOf<Source>)) {
            last_[indexOf<Target>] = none;  // so that begin<Target>() does not use the history
        }
        act(typename RowOf<Row>::OptionList{}, message);
        enter<common, Target>();
        begin<Target>();
    }

    /// Leaves State and its parents up to, but not including, the state with index Common.
    template <std::size_t Common, class State>
    void leave() {
        if constexpr (indexOf<State> != Common) {
            leaveState<State>();
            leave<Common, detail::Parent<State>>();
        }
    }
    template <class State>
    void leaveState() {
        detail::callExit<State>(*context_, 0);
        current_ = indexOf<detail::Parent<State>>;
        if constexpr (!std::is_void_v<detail::Parent<State>>) {
            last_[current_] = indexOf<State>;
        }
    }
    template <class... Sts>
    static constexpr auto leaveTable(detail::TypeList<Sts...> /*states*/) noexcept {
        using Leave = void (*)(StateMachine&);
        return std::array<Leave, none>{
            [](StateMachine& machine) { machine.template leaveState<Sts>(); }...};
    }

    /// Enters the parents of State below the state with index Common, and then State.
    template <std::size_t Common, class State>
    void enter() {
        if constexpr (indexOf<State> != Common) {
            enter<Common, detail::Parent<State>>();
            detail::callEnter<State>(*context_, 0);
            current_ = indexOf<State>;
        }
    }

    /// Enters the initial inner state of State, or with hasHistory, the inner state left last.
    template <class State>
    void begin() {
        if constexpr (!std::is_void_v<detail::Initial<State>>) {
            if constexpr (detail::hasHistory<State>) {
                static constexpr auto beginning = beginTable(States{});
                if (last_[indexOf<State>] != none) {
                    beginning[last_[indexOf<State>]](*this);
                    return;
                }
            }
            enter<indexOf<State>, detail::Initial<State>>();
            begin<detail::Initial<State>>();
        }
    }
    template <class... Sts>
    static constexpr auto beginTable(detail::TypeList<Sts...> /*states*/) noexcept {
        using Begin = void (*)(StateMachine&);
        return std::array<Begin, none>{[](StateMachine& machine) {
            machine.template enter<indexOf<detail::Parent<Sts>>, Sts>();
            machine.template begin<Sts>();
        }...};
    }

    Context* context_;
    std::size_t current_ = none;          ///< the index of the innermost state, or none if stopped
    std::array<std::size_t, none> last_;  ///< for each state, the inner state that was left last
    bool isCalled_ = false;               ///< true while start(), stop() or handle() runs
    detail::DeferredMessages<Deferred, Traits::maxDeferred> deferred_;
};

}  // namespace sluice
