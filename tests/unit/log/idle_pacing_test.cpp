#include <sluice/log/detail/backend/backend_core.hpp>

#include "support/testing.hpp"

namespace sluice::log::detail {
namespace {

using namespace std::chrono_literals;

/// Batches at times that the test chooses.
class Batches {
public:
    explicit Batches(pacing_policy policy) : pacing_(policy) {}

    IdlePacing::Rest after(IdlePacing::Rest passed, std::uint64_t delivered) {
        now_ += passed;
        return pacing_.after(delivered, now_);
    }

private:
    IdlePacing pacing_;
    IdlePacing::TimePoint now_ = IdlePacing::TimePoint(1h);
};

TEST(LogIdlePacing, TheWorkerSleepsAfterNothingOrALoneRecord) {
    Batches batches(pacing_policy::park);
    for (std::uint64_t i = 0; i < 1000; ++i) {
        EXPECT_EQ(batches.after(100us, i % 4 != 0 ? 1 : 0), IdlePacing::untilWoken);
    }
}

TEST(LogIdlePacing, TheWorkerNapsWhileRecordsFlow) {
    Batches batches(pacing_policy::park);
    std::uint64_t sparse = 0;
    while (batches.after(20us, 2) == IdlePacing::untilWoken) {
        ++sparse;
    }
    EXPECT_GT(sparse, 1u) << "one or two records are no flow";
    EXPECT_LE(sparse, IdlePacing::flowStart);
    for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(batches.after(20us, 2), IdlePacing::shortestNap) << "100,000 a second";
    }
    EXPECT_EQ(batches.after(20us, 0), IdlePacing::untilWoken) << "the flow has ended";
    EXPECT_EQ(batches.after(20us, 100), IdlePacing::shortestNap);
    EXPECT_EQ(batches.after(2ms, 1), IdlePacing::untilWoken) << "it is forgotten";
    EXPECT_EQ(batches.after(20us, IdlePacing::large), IdlePacing::none);
}

TEST(LogIdlePacing, ANappingWorkerNeverHasToBeWoken) {
    Batches batches(pacing_policy::nap);
    EXPECT_EQ(batches.after(1ms, 1), IdlePacing::shortestNap);
    IdlePacing::Rest last = IdlePacing::shortestNap;
    for (int i = 0; i < 20; ++i) {
        const IdlePacing::Rest nap = batches.after(1ms, 0);
        EXPECT_GE(nap, last);
        EXPECT_LE(nap, IdlePacing::longestNap);
        last = nap;
    }
    EXPECT_EQ(last, IdlePacing::longestNap);
    EXPECT_EQ(batches.after(1ms, 1), IdlePacing::shortestNap);
    EXPECT_EQ(batches.after(20us, IdlePacing::large), IdlePacing::none);
    EXPECT_EQ(Batches(pacing_policy::spin).after(1ms, 0), IdlePacing::none);
}

}  // namespace
}  // namespace sluice::log::detail
