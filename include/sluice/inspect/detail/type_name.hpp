#pragma once

#include <sluice/base/platform.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace sluice::detail {

/// The compiler's text of a function, with the name of the template argument.
template <class Type>
constexpr std::string_view textOfType() noexcept {
    return SLUICE_FUNCTION_TEXT;
}

/// Returns the name of the template argument in `text`. `known` is the text of the same function
/// for the argument `name`. The texts before and after the names are the same.
constexpr std::string_view argumentIn(std::string_view text, std::string_view known,
                                      std::string_view name) noexcept {
    const std::size_t begin = known.rfind(name);
    return text.substr(begin, text.size() - (known.size() - name.size()));
}

/// Removes the namespaces and classes before a name. Those of template arguments stay. A character
/// between quotes, as in `Key<'>'>`, is no bracket.
constexpr std::string_view lastName(std::string_view name) noexcept {
    std::size_t begin = 0;
    std::size_t depth = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool isQuoted =
            i != 0 && i + 1 < name.size() && name[i - 1] == '\'' && name[i + 1] == '\'';
        const char c = isQuoted ? ' ' : name[i];
        depth += c == '<' || c == '(' ? 1 : 0;
        depth -= (c == '>' || c == ')') && depth != 0 ? 1 : 0;
        begin = c == ':' && depth == 0 ? i + 1 : begin;
    }
    return name.substr(begin);
}

/// Returns the name of a type, with its namespaces.
template <class Type>
constexpr std::string_view fullTypeName() noexcept {
    return argumentIn(textOfType<Type>(), textOfType<double>(), "double");
}

/// Returns the name of a type, without namespaces.
template <class Type>
constexpr std::string_view typeName() noexcept {
    return lastName(fullTypeName<Type>());
}

/// Returns the name of one of a list's types, without namespaces unless another one has the same.
template <class Type, template <class...> class List, class... Ts>
constexpr std::string_view nameAmong(const List<Ts...>* /*list*/) noexcept {
    const bool isUnique = (int{typeName<Ts>() == typeName<Type>()} + ...) <= 1;
    return isUnique ? typeName<Type>() : fullTypeName<Type>();
}

/// Returns these names for all types of a list.
template <template <class...> class List, class... Ts>
std::vector<std::string_view> namesOf(const List<Ts...>* list) {
    return {nameAmong<Ts>(list)...};
}

}  // namespace sluice::detail
