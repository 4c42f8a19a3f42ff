#pragma once

namespace sluice {

/// The prototypes of a heterogeneous class, such as HeterTuple<void(), void(int)>.
///
/// A callable belongs to the first prototype it can be called with, and arguments belong to the
/// first one that accepts them, conversions included; so put the more special ones first.
template <class... Prototypes>
struct HeterTuple {};

}  // namespace sluice
