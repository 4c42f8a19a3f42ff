#pragma once

#include <sluice/wire/describe.hpp>
#include <sluice/wire/detail/kinds.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sluice::wire {
namespace detail {

/// Computes FNV-1a over the structure of a type. If a type contains itself in a std::vector, the
/// inner occurrence is hashed as "..." and the number of types between both occurrences.
class SchemaHash {
public:
    [[nodiscard]] constexpr std::uint64_t result() const noexcept { return hash_; }
    [[nodiscard]] constexpr bool hasUnnamedFields() const noexcept { return hasUnnamedFields_; }

    /// Adds the structure of T, which the types `Outer` contain.
    template <class T, class... Outer>
    constexpr void add() noexcept {
        if constexpr ((std::is_same_v<T, Outer> || ...)) {
            unsigned between = 0;
            (void)((std::is_same_v<T, Outer> || (++between, false)) || ...);
            add("...");
            addByte(between);
        } else if constexpr (std::is_same_v<T, bool>) {
            add("bool");
        } else if constexpr (std::is_enum_v<T>) {
            add<std::underlying_type_t<T>>();
        } else if constexpr (isInteger<T>) {
            add(std::is_signed_v<T> ? "int" : "uint");
            addByte(sizeof(T));
        } else if constexpr (isFloat<T>) {
            add("float");
            addByte(sizeof(T));
        } else if constexpr (isString<T>) {
            add("text");
        } else if constexpr (isOptional<T>) {
            add("optional");
            add<typename T::value_type, Outer...>();
        } else if constexpr (isSequence<T>) {
            add("sequence");
            add<typename T::value_type, Outer...>();
        } else if constexpr (isArray<T>) {
            add("array");
            addByte(std::tuple_size_v<T>);
            add<typename T::value_type, Outer...>();
        } else {
            hasUnnamedFields_ = hasUnnamedFields_ || (!isDescribed<T> && !std::is_empty_v<T>);
            add("{");
            forEachFieldType<T>([this](std::string_view name, auto type) {
                add(name);
                add<typename decltype(type)::Message, T, Outer...>();
            });
            add("}");
        }
    }

private:
    constexpr void add(std::string_view text) noexcept {
        for (const char c : text) {
            addByte(static_cast<unsigned char>(c));
        }
        addByte(0);
    }

    constexpr void addByte(std::uint64_t byte) noexcept { hash_ = (hash_ ^ byte) * 0x100000001B3U; }

    std::uint64_t hash_ = 0xCBF29CE484222325U;
    bool hasUnnamedFields_ = false;  ///< true if an added type has no describe()
};

}  // namespace detail

/// A hash of the names, order and types of T's fields, evaluated at compile time. The hash is the
/// same on all machines unless T has a char field, because char is signed on some machines.
///
///     constexpr std::uint64_t hash = wire::schemaHash<Order>();
///
/// If describe() names the fields, programs with different hashes can still read each other's
/// messages, because decode() skips unknown fields.
template <class T>
[[nodiscard]] constexpr std::uint64_t schemaHash() noexcept {
    detail::SchemaHash hash;
    hash.add<T>();
    return hash.result();
}

/// Returns true if T or a type inside T has no describe(). Without describe(), positions identify
/// fields, so decode() cannot detect that another program has inserted a field in the middle.
template <class T>
[[nodiscard]] constexpr bool hasUnnamedFields() noexcept {
    detail::SchemaHash hash;
    hash.add<T>();
    return hash.hasUnnamedFields();
}

}  // namespace sluice::wire
