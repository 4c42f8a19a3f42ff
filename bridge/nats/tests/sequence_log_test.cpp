#include <sluice/bridge/nats/detail/sequence_log.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>

namespace sluice::nats {
namespace {

using detail::SequenceLog;

TEST(SequenceLogTest, AMissingSequenceMayReturnOnce) {
    SequenceLog log(true);
    EXPECT_TRUE(log.isFresh(10));
    EXPECT_EQ(log.add(10), 0);
    EXPECT_FALSE(log.isFresh(10));
    EXPECT_EQ(log.add(14), 3);
    for (const std::uint64_t sequence : {12U, 13U, 11U}) {
        EXPECT_TRUE(log.isFresh(sequence));
        EXPECT_EQ(log.add(sequence), -1);
        EXPECT_FALSE(log.isFresh(sequence));
    }
    EXPECT_FALSE(log.isFresh(14));
    EXPECT_EQ(log.add(15), 0);
}

TEST(SequenceLogTest, NothingBeforeTheFirstOneWasMissed) {
    SequenceLog log(true);
    EXPECT_TRUE(log.isFresh(10));
    EXPECT_EQ(log.add(10), 0);
    for (const std::uint64_t sequence : {9U, 0U, 5U}) {
        EXPECT_TRUE(log.isFresh(sequence));
        EXPECT_EQ(log.add(sequence), 0);
        EXPECT_FALSE(log.isFresh(sequence));
    }
    EXPECT_TRUE(log.isFresh(6));
    EXPECT_EQ(log.add(12), 1);
    EXPECT_EQ(log.add(11), -1);
}

// The server may still have them: they would be lost.
TEST(SequenceLogTest, SequencesBeforeTheFirstOneAreNotGivenUp) {
    SequenceLog log(true);
    EXPECT_TRUE(log.isFresh(10));
    EXPECT_EQ(log.add(10), 0);
    for (std::uint64_t i = 6; i <= SequenceLog::maxRanges + 6; ++i) {
        EXPECT_EQ(log.add(2 * i), 1);
    }
    EXPECT_TRUE(log.isFresh(9));
    EXPECT_EQ(log.add(9), 0);
    EXPECT_TRUE(log.isFresh(2 * SequenceLog::maxRanges + 11));
}

TEST(SequenceLogTest, WithoutReturnOnlyLaterSequencesAreFresh) {
    SequenceLog log(false);
    EXPECT_TRUE(log.isFresh(10));
    EXPECT_EQ(log.add(10), 0);
    EXPECT_EQ(log.add(12), 1);
    EXPECT_FALSE(log.isFresh(11));
    EXPECT_FALSE(log.isFresh(9));
    EXPECT_TRUE(log.isFresh(13));
}

// Otherwise a late message would be acknowledged, and no handler would ever see it.
TEST(SequenceLogTest, ASequenceOfADroppedRangeIsFresh) {
    SequenceLog log(true);
    EXPECT_TRUE(log.isFresh(0));
    EXPECT_EQ(log.add(0), 0);
    for (std::uint64_t i = 1; i <= SequenceLog::maxRanges + 1; ++i) {
        EXPECT_EQ(log.add(2 * i), 1);
    }
    EXPECT_TRUE(log.isFresh(1));
    EXPECT_EQ(log.add(1), 0) << "it may have been received already";
    EXPECT_TRUE(log.isFresh(3));
    EXPECT_EQ(log.add(3), -1);
    EXPECT_FALSE(log.isFresh(3));
    EXPECT_FALSE(log.isFresh(4));
}

// A window of 40 sequences arrives in a random order and with repetitions, beside a plain set.
TEST(SequenceLogTest, ARangeThatIsDroppedLaterMakesNoOtherSequenceOld) {
    SequenceLog log(true);
    std::set<std::uint64_t> received{1000};
    (void)log.add(1000);
    const auto receive = [&](std::uint64_t sequence) {
        if (log.isFresh(sequence)) {
            (void)log.add(sequence);
            received.insert(sequence);
        }
    };
    for (std::uint64_t i = 1; i <= 70; ++i) {
        receive(1000 + 10 * i);  // more gaps than the log keeps
    }
    for (std::uint64_t sequence = 500; sequence < 520; sequence += 2) {
        receive(sequence);  // each splits the range before the first one
    }
    for (std::uint64_t sequence = 1; sequence < 1700; ++sequence) {
        EXPECT_TRUE(log.isFresh(sequence) || received.count(sequence) == 1) << sequence;
    }
}

TEST(SequenceLogTest, AgreesWithASet) {
    std::mt19937 random(20);
    SequenceLog log(true);
    EXPECT_TRUE(log.isFresh(1000));
    EXPECT_EQ(log.add(1000), 0);
    std::set<std::uint64_t> seen{1000};
    std::int64_t missing = 0;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        const std::uint64_t sequence = 1001 + i / 2 + random() % 40;
        const bool isFresh = seen.insert(sequence).second;
        ASSERT_EQ(log.isFresh(sequence), isFresh) << sequence;
        if (isFresh) {
            missing += log.add(sequence);
        }
        ASSERT_EQ(static_cast<std::uint64_t>(missing), *seen.rbegin() - 1000 + 1 - seen.size());
    }
}

}  // namespace
}  // namespace sluice::nats
