#pragma once

#include <cstddef>

namespace sluice {

/// The prototypes of a heterogeneous class, such as HeterTuple<void(), void(int)>.
///
/// A callable belongs to the first prototype that it can be called with. Arguments belong to the
/// first prototype that accepts them, also by conversions. So put the more special prototypes
/// first.
template <class... Prototypes>
struct HeterTuple {};

/// The number of prototypes: HeterTupleSize<HeterTuple<...>>::value.
template <class Tuple>
struct HeterTupleSize;
template <class... Prototypes>
struct HeterTupleSize<HeterTuple<Prototypes...>> {
    static constexpr std::size_t value = sizeof...(Prototypes);
};

}  // namespace sluice
