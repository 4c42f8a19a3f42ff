#pragma once

#include <sluice/bus/messages.hpp>
#include <sluice/inspect/detail/texts.hpp>
#include <sluice/wire/describe.hpp>
#include <sluice/wire/schema_hash.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace sluice::detail {

/// Appends the JSON Schema of T. A type inside itself is an object without a description.
template <class T, class... Outer>
void appendJsonSchema(std::string& to) {
    using namespace wire::detail;
    if constexpr (std::is_same_v<T, bool>) {
        to += R"({"type":"boolean"})";
    } else if constexpr (isInteger<T> || std::is_enum_v<T>) {
        to += R"({"type":"integer"})";
    } else if constexpr (isFloat<T>) {
        to += R"({"type":"number"})";
    } else if constexpr (isString<T>) {
        to += R"({"type":"string"})";
    } else if constexpr (isOptional<T>) {
        appendJsonSchema<typename T::value_type, Outer...>(to);
    } else if constexpr (isSequence<T> || isArray<T>) {
        to += R"({"type":"array","items":)";
        appendJsonSchema<typename T::value_type, Outer...>(to);
        to += '}';
    } else if constexpr ((std::is_same_v<T, Outer> || ...)) {
        to += R"({"type":"object"})";
    } else {
        to += R"({"type":"object","properties":{)";
        const char* comma = "";
        forEachFieldType<T>([&](std::string_view name, auto type) {
            to += comma;
            appendQuoted(to, name);
            to += ':';
            appendJsonSchema<typename decltype(type)::Message, T, Outer...>(to);
            comma = ",";
        });
        to += "}}";
    }
}

/// A message type in a file.
struct RecordType {
    std::string name;      ///< without namespaces, unless its bus has another of this name
    std::string fullName;  ///< with namespaces
    std::uint64_t hash = 0;
    /// Whether only messages of the same hash are of this type, because its fields have no names.
    bool needsSameHash = false;
    std::string jsonSchema;
};

/// The type T of a list, whose other types may have its name in another namespace.
template <class T, class List = Messages<T>>
RecordType recordTypeOf(const List* list = nullptr) {
    RecordType type{std::string(nameAmong<T>(list)), std::string(fullTypeName<T>()),
                    wire::schemaHash<T>(), wire::hasUnnamedFields<T>(), ""};
    appendJsonSchema<T>(type.jsonSchema);
    return type;
}

namespace mcap {

class Reader;
class Writer;

struct Message {
    std::uint16_t channel = 0;
    std::uint32_t sequence = 0;
    std::uint64_t logTime = 0;      ///< nanoseconds since 1970
    std::uint64_t publishTime = 0;  ///< nanoseconds since 1970
    std::string_view data;
};

}  // namespace mcap

}  // namespace sluice::detail
