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
#elif CASE == 5
    // EXPECT: FixedVector<T, N>: T must be a plain object type
    const FixedVector<const int, 4> constants;
    return constants.size() + owners.size() + numbers.size();
#endif
}
