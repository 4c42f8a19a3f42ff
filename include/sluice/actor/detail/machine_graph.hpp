#pragma once

#include <sluice/actor/detail/machine_table.hpp>
#include <sluice/actor/detail/type_name.hpp>

#include <array>
#include <cstddef>
#include <string_view>

namespace sluice::detail {

template <auto Function>
constexpr std::string_view nameOf(If<Function> /*guard*/) noexcept {
    return functionName<Function>();
}
template <auto Function>
constexpr std::string_view nameOf(Do<Function> /*action*/) noexcept {
    return functionName<Function>();
}

/// A machine as text for Graphviz. A state with others inside is a cluster; an arrow from or to it
/// begins or ends at its border.
template <class Table, class... Rows>
class MachineGraph {
public:
    template <class Write>
    static void write(Write& write) {
        write("digraph machine {\n  compound=true; node [shape=box, style=rounded];\n");
        write("  start [shape=point]; start -> ");
        node(write, leafOf(0));
        border(write, none, 0);
        write(";\n");
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
    static constexpr std::array<std::string_view, none> names = namesOf(typename Table::States{});

    /// What a state begins with, innermost.
    static constexpr std::size_t leafOf(std::size_t state) noexcept {
        while (Table::initials[state] != none) {
            state = Table::initials[state];
        }
        return state;
    }

    template <class Write>
    static void node(Write& write, std::size_t state) {
        write(names[state]);
    }

    template <class Write>
    static void inside(Write& write, std::size_t parent) {
        for (std::size_t state = 0; state != none; ++state) {
            if (Table::parents[state] != parent) {
                continue;
            }
            if (Table::initials[state] == none) {
                write("  ");
                node(write, state);
                write(";\n");
            } else {
                write("  subgraph cluster_");
                write(names[state]);
                write(" {\n  label=");
                write(names[state]);
                write(";\n");
                inside(write, state);
                write("  }\n");
            }
        }
    }

    /// Where an arrow ends whose states are clusters.
    template <class Write>
    static void border(Write& write, std::size_t from, std::size_t to, bool hasLabel = false) {
        const bool fromCluster = from != none && Table::initials[from] != none;
        const bool toCluster = to != none && Table::initials[to] != none;
        if (!fromCluster && !toCluster) {
            return;
        }
        write(hasLabel ? ", " : " [");
        if (fromCluster) {
            write("ltail=cluster_");
            write(names[from]);
        }
        if (toCluster) {
            write(fromCluster ? ", lhead=cluster_" : "lhead=cluster_");
            write(names[to]);
        }
        if (!hasLabel) {
            write("]");
        }
    }

    template <class Row, class Write>
    static void arrow(Write& write) {
        using Parts = RowOf<Row>;
        constexpr std::size_t from = Table::template indexOf<typename Parts::Source>;
        constexpr std::size_t to =
            Parts::kind == RowKind::on ? Table::template indexOf<typename Parts::Target> : from;
        write("  ");
        node(write, leafOf(from));
        write(" -> ");
        node(write, leafOf(to));
        write(" [label=\"");
        write(typeName<typename Parts::Message>());
        options(write, typename Parts::OptionList{});
        write(Parts::kind == RowKind::defer ? " / deferred\"" : "\"");
        if (Parts::kind != RowKind::on) {
            write(", style=dashed");
        }
        border(write, from, to, true);
        write("];\n");
    }

    template <class Write, class... Options>
    static void options(Write& write, TypeList<Options...> /*options*/) {
        (option<Options>(write), ...);
    }
    template <class Option, class Write>
    static void option(Write& write) {
        write(isGuard<Option> ? " [" : " / ");
        write(nameOf(Option{}));
        if (isGuard<Option>) {
            write("]");
        }
    }
};

}  // namespace sluice::detail
