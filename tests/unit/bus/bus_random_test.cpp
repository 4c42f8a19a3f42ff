#include "unit/bus/bus_random_play.hpp"

#include "support/testing.hpp"

// One thread does anything with a bus, and handlers publish. After each step the results, the
// order, the ids, the fill, the pressure and the accounts are those of a plain model.

namespace sluice {
namespace {

using namespace test;

template <std::size_t Depth, class IndexType, PriorityOrder Served, Overflow Low = Overflow::reject,
          Overflow Medium = Overflow::reject, Overflow High = Overflow::reject>
struct Shape : DeepTraits<Depth> {
    using Index = IndexType;
    /// The index soon wraps around.
    static constexpr std::uint64_t firstPosition = static_cast<IndexType>(-10);
    static constexpr PriorityOrder service = Served;
    static constexpr std::array<std::size_t, priorityCount> weights{1, 2, 4};
    static constexpr std::array<Overflow, priorityCount> overflow{Low, Medium, High};
};
template <class Base>
struct FromOne : Base {
    static constexpr Producers producers = Producers::one;
};

template <class Traits>
class BusRandomTest : public testing::Test {};
constexpr auto strict = PriorityOrder::strict;
constexpr auto weighted = PriorityOrder::weighted;
constexpr auto reject = Overflow::reject;
constexpr auto oldest = Overflow::dropOldest;
using Shapes =
    testing::Types<Shape<2, std::uint8_t, strict>, Shape<3, std::uint8_t, strict>,
                   Shape<5, std::uint8_t, weighted>, Shape<9, std::uint8_t, strict>,
                   FromOne<Shape<9, std::uint8_t, strict>>, Shape<200, std::uint16_t, strict>,
                   FromOne<Shape<150, std::uint32_t, weighted>>,
                   Shape<2, std::uint8_t, strict, oldest, oldest, oldest>,
                   Shape<9, std::uint8_t, strict, oldest, reject, oldest>,
                   Shape<8, std::uint8_t, weighted, oldest, reject, oldest>,
                   Shape<200, std::uint16_t, strict, oldest, oldest, reject>>;
TYPED_TEST_SUITE(BusRandomTest, Shapes);

TYPED_TEST(BusRandomTest, DoesWhatAPlainModelSays) {
    for (std::uint32_t seed = 1; seed <= 25; ++seed) {
        RandomPlay<TypeParam>(seed * 2654435761U).run(300);
        ASSERT_FALSE(this->HasFailure()) << "seed " << seed;
    }
}

}  // namespace
}  // namespace sluice
