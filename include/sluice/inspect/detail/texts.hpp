#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/base/utf8.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::detail {

/// The compiler's text of a function, with the name of the template argument.
template <class Type>
constexpr std::string_view textOfType() noexcept {
    return SLUICE_FUNCTION_TEXT;
}

/// Returns the name of a type, with its namespaces.
template <class Type>
constexpr std::string_view fullTypeName() noexcept {
    constexpr std::string_view known = textOfType<double>();  // which differs in the name only
    constexpr std::size_t begin = known.rfind("double");
    constexpr std::string_view text = textOfType<Type>();
    return text.substr(begin, text.size() - (known.size() - std::string_view("double").size()));
}

/// Returns the name of a type, without namespaces. Those of template arguments stay, and so do the
/// names before a class that is nested in a template.
template <class Type>
constexpr std::string_view typeName() noexcept {
    constexpr std::string_view name = fullTypeName<Type>();
    constexpr std::size_t colon = name.substr(0, name.find('<')).rfind(':');
    return name.substr(colon + 1);  // npos + 1 is 0
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

/// Appends a text in quotes, with escapes. Each byte that is not UTF-8 becomes U+FFFD, and each
/// other control character `?`.
inline void appendQuoted(std::string& to, std::string_view text) {
    to += '"';
    while (!text.empty()) {
        const std::size_t size = characterSize(text, 0);
        const std::string_view character = text.substr(0, std::max<std::size_t>(size, 1));
        to += size == 0           ? "\xEF\xBF\xBD"
              : character == "\n" ? "\\n"
              : character == "\\" ? "\\\\"
              : character == "\"" ? "\\\""
              : character < " "   ? "?"
                                  : character;
        text.remove_prefix(character.size());
    }
    to += '"';
}

}  // namespace sluice::detail
