// Rounds of allocators, and what is written into their blocks.

#include "harness/machine/clock.hpp"
#include "harness/run/allocation.hpp"
#include "harness/run/child.hpp"
#include "harness/run/message.hpp"
#include "harness/run/touch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
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

TEST(ChildTest, BooksThatDoNotBalanceAreAnError) {
    const Round round = inChild([](Round& answer) { answer.counts.planned = 1; });
    EXPECT_NE(round.error, "");
}

TEST(ChildTest, ChildThatDiesIsAnError) {
    const Round round = inChild([](Round&) { std::_Exit(3); });
    EXPECT_EQ(round.error, "the child process did not answer");
}

template <std::size_t Bytes>
std::size_t bytesWritten() {
    std::vector<std::byte> block(Bytes, std::byte{0});
    Touch<Bytes>::write(block.data(), ~std::uint64_t{0});
    return std::size_t(std::count(block.begin(), block.end(), std::byte{0xff}));
}

TEST(TouchTest, WritesTheFirstAndTheLastWordOfEachLineOrPage) {
    EXPECT_EQ(bytesWritten<1>(), 1U);
    EXPECT_EQ(bytesWritten<64>(), 16U);
    EXPECT_EQ(bytesWritten<1024>(), 16U * 16);
    EXPECT_EQ(bytesWritten<4096>(), 64U * 16);
    EXPECT_EQ(bytesWritten<32768>(), 8U * 16);
}

template <std::size_t Bytes>
void expectToReadWhatWasWritten() {
    std::vector<std::byte> block(Bytes);
    Touch<Bytes>::write(block.data(), 300);
    EXPECT_EQ(Touch<Bytes>::read(block.data()), Touch<Bytes>::expected(300));
    block.back() ^= std::byte{1};
    EXPECT_NE(Touch<Bytes>::read(block.data()), Touch<Bytes>::expected(300));
}

TEST(TouchTest, ReadsWhatWasWritten) {
    expectToReadWhatWasWritten<1>();
    expectToReadWhatWasWritten<64>();
    expectToReadWhatWasWritten<1024>();
    expectToReadWhatWasWritten<32768>();
}

// The payload is read as a whole, so a change anywhere in it shows.
template <class Sized>
class MessageOfSizeTest : public ::testing::Test {};
using Sizes = ::testing::Types<Message<8>, Message<32>, Message<64>, Message<512>, Message<4096>>;
TYPED_TEST_SUITE(MessageOfSizeTest, Sizes);

TYPED_TEST(MessageOfSizeTest, SumsAllItsWords) {
    TypeParam message(3, 77);
    EXPECT_EQ(message.checksum(), message.expectedSum());
    for (std::uint64_t& word : message.words) {
        word += 1;
        EXPECT_NE(message.checksum(), TypeParam(3, 77).expectedSum());
        word -= 1;
    }
}

TEST(ReceiptTest, SeesLostAndDoubledMessages) {
    for (const std::uint64_t second : {0U, 2U}) {
        Receipt receipt;
        receipt.take(Message<8>(0, 0));
        receipt.take(Message<8>(0, second));
        EXPECT_EQ(receipt.disorder(), 1U);
    }
}

TEST(ReceiptTest, SumsAndCountsWhatItTakes) {
    Receipt receipt;
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < 10; ++i) {
        const Message<64> message(i % 2, i / 2);
        sum += message.checksum();
        receipt.take(message);
    }
    EXPECT_EQ(receipt.count(), 10U);
    EXPECT_EQ(receipt.sum(), sum);
    EXPECT_EQ(receipt.disorder(), 0U);
}

// There is no room for a time: a message is the same whenever it is made.
static_assert(sizeof(Message<8>) == 8 && sizeof(Message<64>) == 64);

TEST(MessageTest, WritesEveryWordDifferently) {
    const Message<64> message(1, 7);
    const std::set<std::uint64_t> words(message.words.begin(), message.words.end());
    EXPECT_EQ(words.size(), message.words.size());
}
}  // namespace
}  // namespace sluice::bench
