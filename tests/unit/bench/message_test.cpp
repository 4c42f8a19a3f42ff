#include "harness/run/message.hpp"

#include "harness/machine/clock.hpp"

#include <gtest/gtest.h>

#include <set>
#include <type_traits>

namespace sluice::bench {
namespace {

TEST(MessageTest, HasExactlyTheSizeItNames) {
    static_assert(sizeof(Message<8>) == 8);
    static_assert(sizeof(Message<64>) == 64);
    static_assert(std::is_trivially_copyable_v<Message<64>>);
}

// BR-14: no room for a time, and none in it: a message is the same whenever it is made. Latency
// finds the time of a message by its number.
TEST(MessageTest, CarriesNoTime) {
    const Message<8> early(2, 5);
    const Nanoseconds start = now();
    while (now() == start) {
    }
    const Message<8> late(2, 5);
    EXPECT_EQ(early.words, late.words);
}

TEST(MessageTest, CarriesProducerAndSequence) {
    const Message<64> message(3, 123456789);
    EXPECT_EQ(message.producer(), 3U);
    EXPECT_EQ(message.sequence(), 123456789U);
}

TEST(MessageTest, WritesEveryWordDifferently) {
    const Message<64> message(1, 7);
    const std::set<std::uint64_t> words(message.words.begin(), message.words.end());
    EXPECT_EQ(words.size(), message.words.size());
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

TEST(ReceiptTest, SeesALostMessage) {
    Receipt receipt;
    receipt.take(Message<8>(0, 0));
    receipt.take(Message<8>(0, 2));
    EXPECT_EQ(receipt.disorder(), 1U);
}

TEST(ReceiptTest, SeesADoubledMessage) {
    Receipt receipt;
    receipt.take(Message<8>(0, 0));
    receipt.take(Message<8>(0, 0));
    EXPECT_EQ(receipt.disorder(), 1U);
}

TEST(ReceiptTest, AcceptsAnyInterleavingOfProducers) {
    Receipt receipt;
    for (const std::size_t producer : {2U, 0U, 2U, 2U, 1U, 0U}) {
        static std::uint64_t next[3] = {};
        receipt.take(Message<8>(producer, next[producer]++));
    }
    EXPECT_EQ(receipt.disorder(), 0U);
}

}  // namespace
}  // namespace sluice::bench
