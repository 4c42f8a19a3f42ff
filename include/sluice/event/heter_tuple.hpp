#pragma once

#include <cstddef>

namespace sluice {

/// The prototypes of a heterogeneous class, such as HeterTuple<void(), void(int)>.
///
/// A callable belongs to the first prototype it can be called with, and arguments belong to the
/// first one that accepts them, conversions included; so put the more special ones first.
template <class... Prototypes>
struct HeterTuple {};

/// How many they are: HeterTupleSize<HeterTuple<...>>::value.
template <class Tuple>
struct HeterTupleSize;
template <class... Prototypes>
struct HeterTupleSize<HeterTuple<Prototypes...>> {
    static constexpr std::size_t value = sizeof...(Prototypes);
};

}  // namespace sluice
