#pragma once

#include <sluice/actor/detail/machine_graph.hpp>
#include <sluice/actor/detail/machine_table.hpp>
#include <sluice/base/assert.hpp>
#include <sluice/fixed/fixed_vector.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace sluice::detail {

/// The deferred messages of a state machine, in slots so that they need no move. `Message` is a
/// variant of their types.
template <class Message, std::size_t Capacity>
class DeferredMessages {
    using Slot = std::optional<Message>;

public:
    /// Copies a message, with the strong guarantee. Returns false at Capacity messages.
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
    /// Makes the messages due.
    void stateChanged() noexcept { hasChanged_ |= messages_.size() != 0; }
    /// Discards and counts all messages.
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

    /// Offers each message by offer(message), from the oldest one after each change of state. Out
    /// of line, because most calls find no deferred message.
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
    /// Removes an offered message unless it stays deferred, also if offer() throws. Then the next
    /// call of redeliver() offers the others.
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
    bool hasChanged_ = false;  ///< the state has changed since the last offers
};

/// The same for a machine that defers nothing.
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
    /// The largest number of deferred messages.
    static constexpr std::size_t maxDeferred = 8;
};

/// A hierarchical state machine whose table the compiler checks. Use it for a part of a program
/// that treats a message differently in different states, inside an active object or alone.
///
///     struct Slow {                                 // a state is a type; all members are optional
///         using Parent = Moving;                    // it lies in this state
///         using Initial = Crawling;                 // the inner state that it begins with
///         static constexpr bool hasHistory = true;  // from outside: with the one left last
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
/// Order: a change calls the guard, the exits from the inside out up to the innermost state that
/// contains source and target, the actions, and the entries from the outside in. A change to the
/// same state leaves and enters it. Deferred messages return in order after each change.
///
/// Thread safety: one thread at a time. Guards, actions, enter() and exit() must not call start(),
/// stop() or handle() of their own machine, which ends the program with a message; they post a
/// message instead.
///
/// Errors: if a user's function throws, the machine stays in the innermost state that it has
/// entered and not left, or stops if there is none; a deferred message whose function throws is
/// dropped.
///
/// Performance: one table look-up for each message, and no heap: the machine holds maxDeferred
/// messages.
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

    /// Enters the first state. Returns false if the machine is running.
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
    /// Leaves all states, discards the deferred messages, and forgets the history.
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
    /// Whether the machine is in this state, or in a state inside it.
    template <class State>
    [[nodiscard]] bool isIn() const noexcept {
        static_assert(States::template contains<State>, "this state is not in the machine's table");
        return Table::contains(indexOf<State>, current_);
    }
    [[nodiscard]] std::size_t deferredCount() const noexcept { return deferred_.size(); }
    /// Deferred messages that no row took when they returned, or that stop() discarded.
    [[nodiscard]] std::size_t discardedCount() const noexcept { return deferred_.discarded(); }

    /// Writes the machine as text for Graphviz: calls write(std::string_view) for each piece.
    template <class Write>
    static void writeGraph(Write&& write) {
        detail::MachineGraph<Table, Rows...>::write(write);
    }

private:
    template <class Row>
    using RowOf = detail::RowOf<Row>;
    using Deferred = detail::DeferredMessage<Rows...>;

    /// One call of start(), stop() or handle().
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
    /// The last function is for a stopped machine.
    template <class Message, class... Sts>
    static constexpr auto offerTable(detail::TypeList<Sts...> /*states*/) noexcept {
        using Offer = Result (*)(StateMachine&, const Message&);
        return std::array<Offer, none + 1>{&StateMachine::template offerTo<Sts, Sts, Message>...,
                                           &StateMachine::template offerTo<void, void, Message>};
    }

    /// Searches the rows of State and its parents. The machine is in Current.
    template <class Current, class State, class Message>
    static Result offerTo(StateMachine& machine, const Message& message) {
        if constexpr (std::is_void_v<State>) {
            return Result::unhandled;
        } else {
            Result result = Result::unhandled;
            (void)((machine.take<Current, State, Rows>(message, result)) || ...);
            return result != Result::unhandled
                       ? result
                       : offerTo<Current, detail::Parent<State>, Message>(machine, message);
        }
    }

    /// Returns whether the row fits and its guard allows it.
    template <class Current, class State, class Row, class Message>
    bool take(const Message& message, Result& result) {
        if constexpr (std::is_same_v<State, typename RowOf<Row>::Source> &&
                      std::is_same_v<Message, typename RowOf<Row>::Message>) {
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
        } else {
            return false;
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
            last_[indexOf<Target>] = none;  // history is for changes from outside
        }
        act(typename RowOf<Row>::OptionList{}, message);
        enter<common, Target>();
        begin<Target>();
    }

    /// Leaves State and its parents inside Common.
    template <std::size_t Common, class State>
    void leave() {
        if constexpr (indexOf<State> != Common) {
            leaveState<State>();
            leave<Common, detail::Parent<State>>();
        }
    }
    template <class State>
    void leaveState() {
        detail::callExit<State>(*context_);
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

    /// Enters the parents of State inside Common, then State.
    template <std::size_t Common, class State>
    void enter() {
        if constexpr (indexOf<State> != Common) {
            enter<Common, detail::Parent<State>>();
            detail::callEnter<State>(*context_);
            current_ = indexOf<State>;
        }
    }

    /// Enters the inner states of State: the initial one, or with history the last one.
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
    std::size_t current_ = none;          ///< the innermost state; none: it is not running
    std::array<std::size_t, none> last_;  ///< for each state, the inner state that was left last
    bool isCalled_ = false;               ///< start(), stop() or handle() has not returned
    detail::DeferredMessages<Deferred, Traits::maxDeferred> deferred_;
};

}  // namespace sluice
