#include "unit/wait/scripted_platform.hpp"

#include <sluice/wait/park.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using test::Script;
using Pacing = BasicBatchPacing<test::ScriptedPlatform>;

// One object of each can be a constant: no state is shared and nothing is set up at run time.
constexpr BatchPacing constantPacing;
static_assert(std::is_nothrow_default_constructible_v<BatchPacing>);
static_assert(noexcept(constantPacing.polled(1)) && noexcept(constantPacing.full()));
static_assert(
    std::is_empty_v<NoPacing>&& noexcept(NoPacing{}.polled(1)) && noexcept(NoPacing{}.full()));

class BatchPacingTest : public testing::Test {
protected:
    BatchPacingTest() { script.step = 100ns; }

    /// The number of steps of 100 ns.
    int pausesAfter(std::size_t batch) const {
        const int before = script.pauses;
        pacing.polled(batch);
        return script.pauses - before;
    }

    Script script;
    const Pacing pacing{};
};

TEST_F(BatchPacingTest, PausesFor600NanosecondsAndTwiceThatFrom24MessagesTo511) {
    for (const std::size_t small : {std::size_t{1}, std::size_t{23}}) {
        EXPECT_EQ(pausesAfter(small), 6) << small;
    }
    EXPECT_EQ(script.clockReadings, 2 * 7) << "one to start with and one per step";
    for (const std::size_t dense : {std::size_t{24}, std::size_t{511}}) {
        EXPECT_EQ(pausesAfter(dense), 12) << dense;
    }
}

TEST_F(BatchPacingTest, NoPauseFollowsALargeOrEmptyBatch) {
    for (const std::size_t batch : {std::size_t{0}, std::size_t{512}, std::size_t{5000},
                                    std::numeric_limits<std::size_t>::max()}) {
        EXPECT_EQ(pausesAfter(batch), 0) << batch;
    }
    EXPECT_EQ(script.clockReadings, 0);
}

TEST_F(BatchPacingTest, FullPausesOnce) {
    pacing.full();
    EXPECT_EQ(script.pauses, 6);
    EXPECT_EQ(script.clockReadings, 7);
}

}  // namespace
}  // namespace sluice
