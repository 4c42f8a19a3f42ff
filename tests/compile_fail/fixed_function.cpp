#include <sluice/fixed/fixed_function.hpp>

#include <array>
#include <cstddef>

using Callback = sluice::FixedFunction<int(), 16>;

#if CASE == 0
int callFitting() {
    std::array<char, 16> sixteen{};
    Callback callback([sixteen] { return static_cast<int>(sixteen.size()); });
    Callback moved(static_cast<Callback&&>(callback));
    return moved();
}
#elif CASE == 1
// EXPECT: FixedFunction: the callable is too large; capture less or enlarge Bytes
Callback makeTooLarge() {
    std::array<char, 17> seventeen{};
    return Callback([seventeen] { return static_cast<int>(seventeen.size()); });
}
#elif CASE == 2
// EXPECT: FixedFunction: the callable is over-aligned
struct alignas(2 * alignof(std::max_align_t)) Wide {
    int operator()() const { return 1; }
};
sluice::FixedFunction<int(), sizeof(Wide)> makeOverAligned() {
    return Wide{};
}
#elif CASE == 3
// EXPECT: use of deleted function
Callback copy(const Callback& callback) {
    return callback;
}
#elif CASE == 4
// EXPECT: no matching function for call|could not convert
Callback makeWithAnotherSignature() {
    return Callback([](const char* text) { return text[0]; });
}
#endif
