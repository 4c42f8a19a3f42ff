#pragma once

#include <sluice/base/utf8.hpp>

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sluice::wire::detail {

/// Converts to any type, so that memberCount() can test how many values initialise an aggregate.
/// AnyMember's conversion is never called.
struct AnyMember {
    template <class T>
    operator T() const;
};

template <std::size_t>
using AnyMemberAt = AnyMember;

// g++ warns if std::optional could use either AnyMember's conversion or its own constructor.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
/// True if T can be initialised with as many values as there are Indices.
template <class T, class Indices, class = void>
inline constexpr bool takesMembers = false;
template <class T, std::size_t... I>
inline constexpr bool
    takesMembers<T, std::index_sequence<I...>, std::void_t<decltype(T{AnyMemberAt<I>()...})>> =
        true;
#pragma GCC diagnostic pop

/// The number of members of an aggregate, or 17 if there are more than 16.
template <class T, std::size_t N = 17>
[[nodiscard]] constexpr std::size_t memberCount() noexcept {
    if constexpr (N == 0 || takesMembers<T, std::make_index_sequence<N>>) {
        return N;
    } else {
        return memberCount<T, N - 1>();
    }
}

/// Returns the addresses of the members of an aggregate. Fails to compile if a member is a
/// bit-field or memberCount() is wrong.
template <class T>
[[nodiscard]] constexpr auto membersOf([[maybe_unused]] T& object) noexcept {
    constexpr std::size_t count = memberCount<std::remove_const_t<T>>();
    constexpr bool isEmpty = std::is_empty_v<T>;
    static_assert(isEmpty || (std::is_aggregate_v<T> && count >= 1 && count <= 16),
                  "wire: this type is no known type and no aggregate of 1 to 16 members: write "
                  "describe(wire::Type<T>)");
    if constexpr (isEmpty) {
        return std::tuple<>();
    } else if constexpr (count == 1) {
        auto& [m0] = object;
        return std::tuple(&m0);
    } else if constexpr (count == 2) {
        auto& [m0, m1] = object;
        return std::tuple(&m0, &m1);
    } else if constexpr (count == 3) {
        auto& [m0, m1, m2] = object;
        return std::tuple(&m0, &m1, &m2);
    } else if constexpr (count == 4) {
        auto& [m0, m1, m2, m3] = object;
        return std::tuple(&m0, &m1, &m2, &m3);
    } else if constexpr (count == 5) {
        auto& [m0, m1, m2, m3, m4] = object;
        return std::tuple(&m0, &m1, &m2, &m3, &m4);
    } else if constexpr (count == 6) {
        auto& [m0, m1, m2, m3, m4, m5] = object;
        return std::tuple(&m0, &m1, &m2, &m3, &m4, &m5);
    } else if constexpr (count == 7) {
        auto& [m0, m1, m2, m3, m4, m5, m6] = object;
        return std::tuple(&m0, &m1, &m2, &m3, &m4, &m5, &m6);
    } else if constexpr (count == 8) {
        auto& [m0, m1, m2, m3, m4, m5, m6, m7] = object;
        return std::tuple(&m0, &m1, &m2, &m3, &m4, &m5, &m6, &m7);
    } else if constexpr (count == 9) {
        auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8] = object;
        return std::tuple(&m0, &m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8);
    } else if constexpr (count == 10) {
        auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9] = object;
        return std::tuple(&m0, &m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9);
    } else if constexpr (count == 11) {
        auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10] = object;
        return std::tuple(&m0, &m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10);
    } else if constexpr (count == 12) {
        auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11] = object;
        return std::tuple(&m0, &m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11);
    } else if constexpr (count == 13) {
        auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12] = object;
        return std::tuple(&m0, &m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12);
    } else if constexpr (count == 14) {
        auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13] = object;
        return std::tuple(&m0, &m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13);
    } else if constexpr (count == 15) {
        auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14] = object;
        return std::tuple(&m0, &m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13,
                          &m14);
    } else if constexpr (count == 16) {
        auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15] = object;
        return std::tuple(&m0, &m1, &m2, &m3, &m4, &m5, &m6, &m7, &m8, &m9, &m10, &m11, &m12, &m13,
                          &m14, &m15);
    }
}

}  // namespace sluice::wire::detail

namespace sluice::wire {

/// The argument of describe(), which selects a message type without an object.
template <class T>
struct Type {
    using Message = T;
};

/// One field of a message: the name in encoded bytes, and the member of the object.
template <class Class, class Member>
struct Field {
    std::string_view name;
    Member Class::*member;
};

/// Returns an argument of fields(), which gives a name to one member of a message.
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
/// Define describe() as a constexpr function in the message's namespace. A message has at most 64
/// fields with unique UTF-8 names. Names identify fields, so two programs can exchange a message
/// even if their fields differ. Empty types, and aggregates of 1 to 16 members without base
/// classes, need no describe(): their fields are identified by position.
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

/// Returns the index as text, which is the name of a field of an aggregate without describe().
[[nodiscard]] constexpr std::string_view numberName(std::size_t index) noexcept {
    constexpr std::string_view names = "0 1 2 3 4 5 6 7 8 9 101112131415";
    return names.substr(index * 2, index < 10 ? 1 : 2);
}

template <class T>
[[nodiscard]] constexpr std::size_t fieldCountOf() noexcept {
    if constexpr (isDescribed<T>) {
        return std::tuple_size_v<decltype(describe(Type<T>()))>;
    } else {
        return memberCount<T>();
    }
}

/// Returns true if the names of the fields are UTF-8 and unique.
template <class... Fields>
[[nodiscard]] constexpr bool areNamed(const std::tuple<Fields...>& all) noexcept {
    return std::apply(
        [](const auto&... each) {
            // `names` begins with an empty name, because an array must not have size 0.
            const std::string_view names[] = {{}, each.name...};
            for (std::size_t i = 1; i <= sizeof...(each); ++i) {
                for (std::size_t k = 1; k < i; ++k) {
                    if (names[i] == names[k]) {
                        return false;
                    }
                }
            }
            return (isUtf8(each.name) && ...);
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
        std::size_t index = 0;
        std::apply([&](auto*... each) { (visit(numberName(index++), *each), ...); },
                   membersOf(object));
    }
}

template <class Class, class Member>
constexpr Type<Member> typeOf(const Field<Class, Member>&) noexcept {
    return {};
}
template <class... Members>
constexpr std::tuple<Type<Members>...> typesOf(const std::tuple<Members*...>*) noexcept {
    return {};
}

/// Calls visit(name, Type<Member>()) for each field, in forEachField()'s order, without an object.
template <class T, class Visitor>
constexpr void forEachFieldType(Visitor&& visit) {
    if constexpr (isDescribed<T>) {
        std::apply([&](const auto&... each) { (visit(each.name, typeOf(each)), ...); },
                   describe(Type<T>()));
    } else {
        using Members = decltype(membersOf(std::declval<T&>()));
        std::size_t index = 0;
        std::apply([&](auto... each) { (visit(numberName(index++), each), ...); },
                   typesOf(static_cast<const Members*>(nullptr)));
    }
}

}  // namespace detail

}  // namespace sluice::wire
