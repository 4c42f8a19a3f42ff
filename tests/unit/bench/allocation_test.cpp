#include "harness/run/allocation.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <vector>

namespace sluice::bench {
namespace {

/// An allocator that can do all that the rounds ask for, and notes what they did.
class Shelf {
public:
    explicit Shelf(std::size_t most) : bytes_(64 * most) {
        for (std::size_t i = 0; i < most; ++i) {
            free_.push_back(bytes_.data() + 64 * i);
        }
    }
    ~Shelf() { leaked = int(bytes_.size() / 64 - free_.size()); }
    std::byte* allocate() {
        std::byte* const block = free_.back();
        free_.pop_back();
        return block;
    }
    void deallocate(std::byte* block) { free_.push_back(block); }
    void emptied() { ++batches; }
    void trim() { trimmed = true; }

    inline static int leaked = 0;
    inline static int batches = 0;
    inline static bool trimmed = false;

private:
    std::vector<std::byte> bytes_;
    std::vector<std::byte*> free_;
};

/// Gives the same block to everybody.
struct Overlapping {
    explicit Overlapping(std::size_t) {}
    std::byte* allocate() { return block; }
    void deallocate(std::byte*) {}
    void emptied() {}
    alignas(64) std::byte block[64];
};

struct Exhausted {
    explicit Exhausted(std::size_t) {}
    static std::byte* allocate() { return nullptr; }
    static void deallocate(std::byte*) {}
    static void emptied() {}
};

RoundPlan planOf(std::uint64_t calls, std::size_t live) {
    RoundPlan plan;
    plan.placement.consumerCpu = allowedCpus().front();
    plan.messages = calls;
    plan.runIn = 10;
    plan.capacity = live;
    return plan;
}

TEST(AllocationRoundTest, PairsAreAllCountedAndRead) {
    const Round round = pairRound<Shelf, 64>(planOf(1000, 1));
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.counts.accepted, 1010U);
    EXPECT_EQ(round.counts.delivered, 1010U);
    EXPECT_GT(round.ns, 0);
    EXPECT_EQ(Shelf::leaked, 0);
}

TEST(AllocationRoundTest, BatchesTellTheAllocatorWhenTheyAreEmpty) {
    Shelf::batches = 0;
    for (const bool shuffled : {false, true}) {
        RoundPlan plan = planOf(1000, 100);
        plan.shuffled = shuffled;
        const Round round = batchRound<Shelf, 64>(plan);
        EXPECT_EQ(round.error, "");
        EXPECT_EQ(round.counts.delivered, 1200U) << "the run-in and the last batch are whole";
        EXPECT_EQ(Shelf::leaked, 0);
    }
    EXPECT_EQ(Shelf::batches, 2 * 12);
}

TEST(AllocationRoundTest, ShuffledIndicesAreAPermutation) {
    const std::vector<std::size_t> plain = indices(50, false);
    const std::vector<std::size_t> shuffled = indices(50, true);
    EXPECT_NE(plain, shuffled);
    EXPECT_EQ(std::set<std::size_t>(shuffled.begin(), shuffled.end()).size(), 50U);
}

TEST(AllocationRoundTest, BlocksThatOverlapAreNoticed) {
    const Round batch = batchRound<Overlapping, 64>(planOf(100, 10));
    const Round calls = callLatencyRound<Overlapping, 64>(planOf(100, 10));
    EXPECT_NE(batch.error.find("checksum"), std::string::npos);
    EXPECT_NE(calls.error.find("checksum"), std::string::npos);
}

TEST(AllocationRoundTest, AnAllocatorWithoutABlockIsInvalid) {
    const Round pair = pairRound<Exhausted, 64>(planOf(100, 1));
    const Round batch = batchRound<Exhausted, 64>(planOf(100, 10));
    const Round calls = callLatencyRound<Exhausted, 64>(planOf(100, 10));
    EXPECT_NE(pair.error, "");
    EXPECT_NE(batch.error, "");
    EXPECT_NE(calls.error, "");
}

TEST(AllocationRoundTest, EachSampleIsOneCallOfTheKindAskedFor) {
    for (const bool timesFree : {false, true}) {
        RoundPlan plan = planOf(500, 64);
        plan.timesFree = timesFree;
        const Round round = callLatencyRound<Shelf, 64>(plan);
        EXPECT_EQ(round.error, "");
        EXPECT_EQ(round.samples.size(), 500U);
        EXPECT_GE(round.counts.accepted, 500U) << "calls of the other kind are no samples";
        EXPECT_EQ(Shelf::leaked, 0) << "what still lives at the end is freed";
    }
    EXPECT_EQ(clockAloneRound(planOf(500, 1)).samples.size(), 500U);
}

TEST(AllocationRoundTest, ResidentMemoryIsThatOfTheChild) {
    RoundPlan plan = planOf(0, 50000);
    plan.moment = Moment::peak;
    const Round round = residentRound<Shelf, 64>(plan);
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.counts.delivered, 250000U);
    EXPECT_GE(round.ns, 50000 * 64 / 1024.0 / 1024.0);
    EXPECT_FALSE(Shelf::trimmed) << "that was another process";
}

}  // namespace
}  // namespace sluice::bench
