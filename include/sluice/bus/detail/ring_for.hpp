#pragma once

#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/queue/mpsc_ring.hpp>

#include <cstddef>

namespace sluice::detail {

template <class Traits, Priority P>
inline constexpr bool dropsOldest =
    Traits::priorities && Traits::overflow[indexOf(P)] == Overflow::dropOldest;

enum class RingKind : unsigned char { none, manyPublishers, singlePublisher, dropOldest };

template <class Traits, Priority P>
inline constexpr RingKind ringKind =
    !Traits::priorities && P != Priority::medium ? RingKind::none
    : dropsOldest<Traits, P>                     ? RingKind::dropOldest
    : Traits::producers == Producers::one        ? RingKind::singlePublisher
                                                 : RingKind::manyPublishers;

/// IncludedRing ignores the priority, so that a missing header causes only one error.
template <RingKind Kind>
struct IncludedRing {
    static_assert(Kind != RingKind::singlePublisher,
                  "a bus with Producers::one needs #include <sluice/bus/single_publisher.hpp>");
    static_assert(Kind != RingKind::dropOldest,
                  "a bus with Overflow::dropOldest needs #include <sluice/bus/drop_oldest.hpp>");
};

/// A priority's ring, with quota `Room`. Headers such as drop_oldest.hpp specialise RingFor.
template <RingKind Kind, class T, std::size_t Room, class Traits>
struct RingFor : IncludedRing<Kind> {
    using Type = MpscRing<T, Room, Traits>;
};
template <class T, std::size_t Room, class Traits>
struct RingFor<RingKind::none, T, Room, Traits> {
    struct Type {};
};

}  // namespace sluice::detail
