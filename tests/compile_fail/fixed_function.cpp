#include <sluice/fixed/fixed_function.hpp>

using sluice::FixedFunction;

struct Exact {
    char bytes[16];
    int operator()() const { return bytes[0]; }
};

struct TooLarge {
    char bytes[17];
    int operator()() const { return bytes[0]; }
};

struct alignas(32) OverAligned {
    int operator()() const { return 1; }
};

struct ThrowsOnMove {
    ThrowsOnMove() = default;
    ThrowsOnMove(ThrowsOnMove&&) noexcept(false) {}
    int operator()() const noexcept { return 1; }
};

int use() {
#if CASE == 0
    FixedFunction<int(), 16> exact = Exact();
    const FixedFunction<int() const noexcept> quiet = []() noexcept { return 1; };
    return exact() + quiet();
#elif CASE == 1
    // EXPECT: FixedFunction: the callable is too large; capture less or enlarge Bytes
    FixedFunction<int(), 16> function = TooLarge();
    return function();
#elif CASE == 2
    // EXPECT: FixedFunction: the callable is over-aligned; capture a pointer instead
    FixedFunction<int(), 64> function = OverAligned();
    return function();
#elif CASE == 3
    // EXPECT: FixedFunction: moving the callable must not throw; mark its move noexcept
    FixedFunction<int()> function = ThrowsOnMove();
    return function();
#elif CASE == 8
    // EXPECT: FixedFunction: Signature must be R\(Args\.\.\.\), with const or noexcept or both
    FixedFunction<int*> function;
    return function ? 1 : 0;
#endif
}
