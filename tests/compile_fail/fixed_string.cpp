#include <sluice/fixed/fixed_string.hpp>

#include <string_view>

using sluice::FixedString;
using sluice::truncateToFit;

bool use() {
    const char text[] = "sluice";
    const std::string_view view = text;
#if CASE == 0
    const FixedString<6> fits = "sluice";
    const FixedString<9> wider = fits;
    const FixedString<5> cut(truncateToFit, "sluice");
    const FixedString<5> fromView(truncateToFit, view);
    return wider == text && cut == fromView;
#elif CASE == 1
    // EXPECT: use of deleted function.*FixedString
    const FixedString<5> cut = "sluice";
    return cut == text;
#elif CASE == 2
    // EXPECT: use of deleted function.*FixedString
    FixedString<5> cut;
    cut = text;
    return cut == text;
#elif CASE == 3
    // EXPECT: no matching function for call to .*FixedString<9>::FixedString\(.*string_view
    const FixedString<9> fromView(view);
    return fromView == text;
#elif CASE == 4
    // EXPECT: conversion from .*FixedString<6>.* to non-scalar type .*FixedString<5>
    const FixedString<6> longer = "sluice";
    const FixedString<5> shorter = longer;
    return shorter == view;
#elif CASE == 5
    // EXPECT: FixedString<N>: N must be at least 1
    const FixedString<0> nothing;
    return nothing == view;
#elif CASE == 6
    // EXPECT: no match for .operator==.
    const FixedString<6> fits = "sluice";
    return fits == nullptr;
#endif
}
