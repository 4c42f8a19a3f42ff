#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sluice::wire::detail {

/// Converts to any type. memberCount() uses it to find how many members an aggregate has. The
/// conversion is never called.
struct AnyMember {
    template <class T>
    operator T() const;
};

template <std::size_t>
using AnyMemberAt = AnyMember;

/// Whether T can be initialised with this many members.
template <class T, class Indices, class = void>
inline constexpr bool takesMembers = false;
template <class T, std::size_t... I>
inline constexpr bool
    takesMembers<T, std::index_sequence<I...>, std::void_t<decltype(T{AnyMemberAt<I>()...})>> =
        true;

/// The number of members of an aggregate. 17 if it has more than 16.
template <class T, std::size_t N = 17>
[[nodiscard]] constexpr std::size_t memberCount() noexcept {
    if constexpr (N == 0 || takesMembers<T, std::make_index_sequence<N>>) {
        return N;
    } else {
        return memberCount<T, N - 1>();
    }
}

/// Returns references to the members of an aggregate. If memberCount() is wrong, it does not
/// compile.
template <class T>
[[nodiscard]] constexpr auto membersOf(T& object) noexcept {
    constexpr std::size_t count = memberCount<std::remove_const_t<T>>();
    static_assert(
        count >= 1 && count <= 16,
        "wire: without describe(), an aggregate must have 1 to 16 members: write describe()");
    if constexpr (count == 1) {
        auto& [m0] = object;
        return std::tie(m0);
    } else if constexpr (count == 2) {
        auto& [m0, m1] = object;
        return std::tie(m0, m1);
    } else if constexpr (count == 3) {
        auto& [m0, m1, m2] = object;
        return std::tie(m0, m1, m2);
    } else if constexpr (count == 4) {
        auto& [m0, m1, m2, m3] = object;
        return std::tie(m0, m1, m2, m3);
    } else if constexpr (count == 5) {
        auto& [m0, m1, m2, m3, m4] = object;
        return std::tie(m0, m1, m2, m3, m4);
    } else if constexpr (count == 6) {
        auto& [m0, m1, m2, m3, m4, m5] = object;
        return std::tie(m0, m1, m2, m3, m4, m5);
    } else if constexpr (count == 7) {
        auto& [m0, m1, m2, m3, m4, m5, m6] = object;
        return std::tie(m0, m1, m2, m3, m4, m5, m6);
    } else if constexpr (count == 8) {
        auto& [m0, m1, m2, m3, m4, m5, m6, m7] = object;
        return std::tie(m0, m1, m2, m3, m4, m5, m6, m7);
    } else if constexpr (count == 9) {
        auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8] = object;
        return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8);
    } else if constexpr (count == 10) {
        auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9] = object;
        return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9);
    } else if constexpr (count == 11) {
        auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10] = object;
        return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10);
    } else if constexpr (count == 12) {
        auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11] = object;
        return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11);
    } else if constexpr (count == 13) {
        auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12] = object;
        return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12);
    } else if constexpr (count == 14) {
        auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13] = object;
        return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13);
    } else if constexpr (count == 15) {
        auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14] = object;
        return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14);
    } else if constexpr (count == 16) {
        auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15] = object;
        return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15);
    }
}

}  // namespace sluice::wire::detail
