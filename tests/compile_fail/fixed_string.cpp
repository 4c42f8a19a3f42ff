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
#elif CASE == 5
    // EXPECT: FixedString<N>: N must be at least 1
    const FixedString<0> nothing;
    return nothing == view;
#endif
}
