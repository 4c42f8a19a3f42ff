#include <sluice/fixed/fixed_vector.hpp>

#include <memory>
#include <utility>

using sluice::FixedVector;

using Owner = std::unique_ptr<int>;

std::size_t use(FixedVector<Owner, 4>& owners, FixedVector<int, 4>& numbers) {
#if CASE == 0
    const FixedVector<Owner, 4> moved = std::move(owners);
    const FixedVector<int, 4> copied = numbers;
    return numbers.pushBack(1) ? moved.size() : copied.size();
#elif CASE == 1
    // EXPECT: use of deleted function.*FixedVector
    const FixedVector<Owner, 4> copied = owners;
    return copied.size() + numbers.size();
#elif CASE == 2
    // EXPECT: use of deleted function.*unique_ptr
    const Owner owner;
    return owners.pushBack(owner) ? numbers.size() : 0;
#elif CASE == 3
#pragma GCC diagnostic error "-Wunused-result"
    // EXPECT: ignoring return value of .*pushBack
    numbers.pushBack(1);
    return owners.size();
#elif CASE == 4
    // EXPECT: FixedVector<T, N>: N must be at least 1
    const FixedVector<int, 0> nothing;
    return nothing.size() + owners.size() + numbers.size();
#elif CASE == 5
    // EXPECT: FixedVector<T, N>: T must be a plain object type
    const FixedVector<const int, 4> constants;
    return constants.size() + owners.size() + numbers.size();
#endif
}
