#pragma once

#include <sluice/wire/detail/aggregate.hpp>
#include <sluice/wire/detail/utf8.hpp>

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace sluice::wire {

/// The argument of describe(), which names a type without an object.
template <class T>
struct Type {};

/// One field of a message: its name in the bytes and its place in the object.
template <class Class, class Member>
struct Field {
    std::string_view name;
    Member Class::*member;
};

/// Names one member of a message, for fields().
template <class Class, class Member>
[[nodiscard]] constexpr Field<Class, Member> field(std::string_view name,
                                                   Member Class::*member) noexcept {
    return {name, member};
}

/// The result of describe(), which names the fields of a message:
///
///     struct Reading {
///         std::uint32_t sensor;
///         double celsius;
///     };
///     constexpr auto describe(sluice::wire::Type<Reading>) {
///         return sluice::wire::fields(sluice::wire::field("sensor", &Reading::sensor),
///                                     sluice::wire::field("celsius", &Reading::celsius));
///     }
///
/// describe() is constexpr and stands in the message's namespace. At most 64 fields, each with a
/// unique UTF-8 name. With names, programs may have different fields. An aggregate of 1 to 16
/// members needs no describe(): its members are named by position, the same in both programs.
template <class... Fields>
[[nodiscard]] constexpr std::tuple<Fields...> fields(Fields... each) noexcept {
    static_assert(sizeof...(Fields) <= 64, "describe(): a message has at most 64 fields");
    return std::tuple<Fields...>(each...);
}

namespace detail {

template <class T, class = void>
inline constexpr bool isDescribed = false;
template <class T>
inline constexpr bool isDescribed<T, std::void_t<decltype(describe(Type<T>()))>> = true;

/// The name of field `index` of an aggregate without describe(): the number of the field.
[[nodiscard]] constexpr std::string_view numberName(std::size_t index) noexcept {
    constexpr std::string_view names = "0 1 2 3 4 5 6 7 8 9 101112131415";
    return names.substr(index * 2, index < 10 ? 1 : 2);
}

template <class T>
[[nodiscard]] constexpr std::size_t fieldCountOf() noexcept {
    if constexpr (isDescribed<T>) {
        return std::tuple_size_v<decltype(describe(Type<T>()))>;
    } else {
        static_assert(
            std::is_aggregate_v<T>,
            "wire: this type is no known type and no aggregate: write describe(wire::Type<T>)");
        return memberCount<T>();
    }
}

/// Whether the names of the fields are UTF-8 and differ from each other.
template <class... Fields>
[[nodiscard]] constexpr bool areNamed(const std::tuple<Fields...>& all) noexcept {
    return std::apply(
        [](const auto&... each) {
            // One empty name more, because an array of size 0 is an error.
            const std::string_view names[] = {{}, each.name...};
            for (std::size_t i = 1; i <= sizeof...(each); ++i) {
                for (std::size_t k = 1; k < i; ++k) {
                    if (names[i] == names[k]) {
                        return false;
                    }
                }
            }
            return (isUtf8Constant(each.name) && ...);
        },
        all);
}

/// Calls visit(name, member) for each field, in the order of describe() or of the members.
template <class T, class Visitor>
void forEachField(T& object, Visitor&& visit) {
    using Plain = std::remove_const_t<T>;
    if constexpr (isDescribed<Plain>) {
        static_assert(areNamed(describe(Type<Plain>())),
                      "describe(): two fields have the same name, or a name is not UTF-8");
        std::apply([&](const auto&... each) { (visit(each.name, object.*each.member), ...); },
                   describe(Type<Plain>()));
    } else {
        static_assert(
            std::is_aggregate_v<Plain>,
            "wire: this type is no known type and no aggregate: write describe(wire::Type<T>)");
        std::size_t index = 0;
        std::apply([&](auto&... each) { (visit(numberName(index++), each), ...); },
                   membersOf(object));
    }
}

}  // namespace detail

}  // namespace sluice::wire
