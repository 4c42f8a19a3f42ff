#pragma once

#include <sluice/actor/state_machine.hpp>
#include <sluice/inspect/detail/type_name.hpp>

#include <array>
#include <cstddef>
#include <string_view>

namespace sluice::detail {

/// The compiler's signature of this function, which contains the template argument's name.
template <auto Function>
constexpr std::string_view textOfFunction() noexcept {
    return SLUICE_FUNCTION_TEXT;
}

/// Returns the name of a function, without namespaces and classes.
template <auto Function>
constexpr std::string_view functionName() noexcept {
    std::string_view name = argumentIn(textOfFunction<Function>(), textOfFunction<0>(), "0");
    // g++ and clang write `&Robot::stop`, sometimes in brackets.
    if (name.front() == '(') {
        name = name.substr(1, name.size() - 2);
    }
    while (name.front() == '&' || name.front() == ' ') {
        name.remove_prefix(1);
    }
    return lastName(name);
}

template <auto Function>
constexpr std::string_view nameOf(If<Function> /*guard*/) noexcept {
    return functionName<Function>();
}
template <auto Function>
constexpr std::string_view nameOf(Do<Function> /*action*/) noexcept {
    return functionName<Function>();
}

/// Prints a machine as text for Graphviz. A state is a node `s<number>`, or a cluster if it has
/// inner states. An arrow from or to a cluster begins or ends at its border. The arrow from a point
/// leads to the initial state of a cluster, or of the machine.
template <class Table, class... Rows>
class MachineGraph {
public:
    template <class Write>
    static void write(Write& write) {
        write("digraph machine {\n  compound=true; node [shape=box, style=rounded];\n");
        initial(write, none, 0);
        inside(write, none);
        (arrow<Rows>(write), ...);
        write("}\n");
    }

private:
    static constexpr std::size_t none = Table::size;

    template <class... Sts>
    static constexpr std::array<std::string_view, none>
    namesOf(TypeList<Sts...> /*states*/) noexcept {
        return {typeName<Sts>()...};
    }
    template <class... Sts>
    static constexpr std::array<bool, none> historiesOf(TypeList<Sts...> /*states*/) noexcept {
        return {hasHistory<Sts>...};
    }
    static constexpr std::array<std::string_view, none> names = namesOf(typename Table::States{});
    static constexpr std::array<bool, none> histories = historiesOf(typename Table::States{});

    /// Returns the innermost initial state of a state: follows `Initial` to a state without inner
    /// states.
    static constexpr std::size_t leafOf(std::size_t state) noexcept {
        while (Table::initials[state] != none) {
            state = Table::initials[state];
        }
        return state;
    }
    static constexpr bool isCluster(std::size_t state) noexcept {
        return Table::initials[state] != none;
    }

    /// The name of a node, as in `s7`.
    struct Node {
        char letter;
        std::size_t state;
    };
    /// A text in quotation marks.
    struct Quoted {
        std::string_view text;
    };

    /// Writes texts, names of nodes and quoted texts.
    template <class Write, class... Parts>
    static void put(Write& write, const Parts&... parts) {
        (putOne(write, parts), ...);
    }
    template <class Write>
    static void putOne(Write& write, std::string_view text) {
        write(text);
    }
    template <class Write>
    static void putOne(Write& write, Node node) {
        std::array<char, 24> digits{};
        std::size_t begin = digits.size();
        do {
            digits[--begin] = static_cast<char>('0' + node.state % 10);
            node.state /= 10;
        } while (node.state != 0);
        digits[--begin] = node.letter;
        write(std::string_view(&digits[begin], digits.size() - begin));
    }
    template <class Write>
    static void putOne(Write& write, Quoted quoted) {
        for (const char& c : quoted.text) {
            if (c == '"' || c == '\\') {
                write("\\");
            }
            write(std::string_view(&c, 1));
        }
    }

    /// Writes the point of `state`, or of the machine if `state` is `none`, and the point's arrow.
    template <class Write>
    static void initial(Write& write, std::size_t state, std::size_t target) {
        const Node point{'i', state};
        put(write, "  ", point, " [shape=point]; ", point, " -> ", Node{'s', leafOf(target)});
        if (isCluster(target)) {
            put(write, " [lhead=cluster_", Node{'s', target}, "]");
        }
        write(";\n");
    }

    template <class Write>
    static void inside(Write& write, std::size_t parent) {
        for (std::size_t state = 0; state != none; ++state) {
            if (Table::parents[state] != parent) {
                continue;
            }
            const Node node{'s', state};
            if (!isCluster(state)) {
                put(write, "  ", node, " [label=\"", Quoted{names[state]}, "\"];\n");
            } else {
                put(write, "  subgraph cluster_", node, " {\n  label=\"", Quoted{names[state]},
                    histories[state] ? " (history)\";\n" : "\";\n");
                initial(write, state, Table::initials[state]);
                inside(write, state);
                write("  }\n");
            }
        }
    }

    /// Writes the borders at which an arrow begins and ends. Omits borders that the arrow does not
    /// cross, because Graphviz warns of them.
    template <class Write>
    static void border(Write& write, std::size_t from, std::size_t to) {
        if (isCluster(from) && !Table::contains(from, to)) {
            put(write, ", ltail=cluster_", Node{'s', from});
        }
        if (isCluster(to) && !Table::contains(to, from)) {
            put(write, ", lhead=cluster_", Node{'s', to});
        }
    }

    template <class Row, class Write>
    static void arrow(Write& write) {
        using Parts = RowOf<Row>;
        constexpr std::size_t from = Table::template indexOf<typename Parts::Source>;
        constexpr std::size_t to =
            Parts::kind == RowKind::on ? Table::template indexOf<typename Parts::Target> : from;
        put(write, "  ", Node{'s', leafOf(from)}, " -> ", Node{'s', leafOf(to)}, " [label=\"",
            Quoted{typeName<typename Parts::Message>()});
        options(write, typename Parts::OptionList{});
        write(Parts::kind == RowKind::defer ? " / deferred\"" : "\"");
        if (Parts::kind != RowKind::on) {
            write(", style=dashed");
        }
        border(write, from, to);
        write("];\n");
    }

    template <class Write, class... Options>
    static void options(Write& write, TypeList<Options...> /*options*/) {
        (option<Options>(write), ...);
    }
    template <class Option, class Write>
    static void option(Write& write) {
        put(write, isGuard<Option> ? " [" : " / ", Quoted{nameOf(Option{})},
            isGuard<Option> ? "]" : "");
    }
};

template <class Machine>
struct MachineGraphOf;
template <class Context, class First, class... Rows, class Traits>
struct MachineGraphOf<StateMachine<Context, First, Transitions<Rows...>, Traits>>
    : MachineGraph<MachineTable<First, Rows...>, Rows...> {};

}  // namespace sluice::detail

namespace sluice {

/// Writes the table of a StateMachine as text for Graphviz, by calling write(std::string_view) for
/// each piece. writeGraph() allocates nothing.
///
///     sluice::writeGraph<Machine>([](std::string_view piece) { std::cout << piece; });
template <class Machine, class Write>
void writeGraph(Write&& write) {
    detail::MachineGraphOf<Machine>::write(write);
}

}  // namespace sluice
