#pragma once

#include <cstddef>
#include <string_view>

namespace sluice::detail {

/// Returns the name of a template argument in the compiler's text `function`. `what` is the text
/// before the name, such as "Type = ".
constexpr std::string_view argumentIn(std::string_view function, std::string_view what) noexcept {
    const std::size_t begin = function.find(what) + what.size();
    std::size_t depth = 0;
    for (std::size_t end = begin; end < function.size(); ++end) {
        const char c = function[end];
        if (depth == 0 && (c == ';' || c == ']' || c == ',')) {
            return function.substr(begin, end - begin);
        }
        depth += c == '<' || c == '(' ? 1 : 0;
        depth -= c == '>' || c == ')' ? 1 : 0;
    }
    return function.substr(begin);
}

/// Removes the namespaces and classes before a name. Those of template arguments stay.
constexpr std::string_view lastName(std::string_view name) noexcept {
    std::size_t begin = 0;
    std::size_t depth = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        depth += c == '<' || c == '(' ? 1 : 0;
        depth -= (c == '>' || c == ')') && depth != 0 ? 1 : 0;
        begin = c == ':' && depth == 0 ? i + 1 : begin;
    }
    return name.substr(begin);
}

/// Returns the name of a type, without namespaces.
template <class Type>
constexpr std::string_view typeName() noexcept {
    return lastName(argumentIn(__PRETTY_FUNCTION__, "Type = "));
}

/// Returns the name of a function, without namespaces and classes.
template <auto Function>
constexpr std::string_view functionName() noexcept {
    std::string_view name = argumentIn(__PRETTY_FUNCTION__, "Function = ");
    // g++ and clang write `&Robot::stop`, sometimes in brackets.
    while (!name.empty() && (name.back() == ')' || name.back() == ' ')) {
        name.remove_suffix(1);
    }
    while (!name.empty() && (name.front() == '(' || name.front() == '&' || name.front() == ' ')) {
        name.remove_prefix(1);
    }
    return lastName(name);
}

}  // namespace sluice::detail
