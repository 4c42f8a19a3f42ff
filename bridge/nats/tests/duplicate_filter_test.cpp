#include <sluice/bridge/nats/detail/duplicate_filter.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>

namespace sluice::nats {
namespace {

using detail::DuplicateFilter;

// The server may still have these messages. If they counted as received, they would be lost.
TEST(DuplicateFilterTest, SequencesBeforeTheFirstOneAreNotGivenUp) {
    DuplicateFilter filter(true);
    EXPECT_TRUE(filter.isFresh(10));
    EXPECT_EQ(filter.add(10), 0);
    for (std::uint64_t i = 6; i <= DuplicateFilter::maxRanges + 6; ++i) {
        EXPECT_EQ(filter.add(2 * i), 1);
    }
    EXPECT_TRUE(filter.isFresh(9));
    EXPECT_EQ(filter.add(9), 0);
    EXPECT_TRUE(filter.isFresh(2 * DuplicateFilter::maxRanges + 11));
}

// Otherwise a late message would be acknowledged, and no handler would ever see it.
TEST(DuplicateFilterTest, ASequenceOfADroppedRangeIsFresh) {
    DuplicateFilter filter(true);
    EXPECT_TRUE(filter.isFresh(0));
    EXPECT_EQ(filter.add(0), 0);
    for (std::uint64_t i = 1; i <= DuplicateFilter::maxRanges + 1; ++i) {
        EXPECT_EQ(filter.add(2 * i), 1);
    }
    EXPECT_TRUE(filter.isFresh(1));
    EXPECT_EQ(filter.add(1), 0) << "it may have been received already";
    EXPECT_TRUE(filter.isFresh(3));
    EXPECT_EQ(filter.add(3), -1);
    EXPECT_FALSE(filter.isFresh(3));
    EXPECT_FALSE(filter.isFresh(4));
}

// A window of 40 sequences arrives in random order, with repetitions. A std::set is the reference.
TEST(DuplicateFilterTest, ARangeThatIsDroppedLaterMakesNoOtherSequenceOld) {
    DuplicateFilter filter(true);
    std::set<std::uint64_t> received{1000};
    (void)filter.add(1000);
    const auto receive = [&](std::uint64_t sequence) {
        if (filter.isFresh(sequence)) {
            (void)filter.add(sequence);
            received.insert(sequence);
        }
    };
    for (std::uint64_t i = 1; i <= 70; ++i) {
        receive(1000 + 10 * i);  // more gaps than the filter keeps
    }
    for (std::uint64_t sequence = 500; sequence < 520; sequence += 2) {
        receive(sequence);  // each of them splits the range before the first sequence
    }
    for (std::uint64_t sequence = 1; sequence < 1700; ++sequence) {
        EXPECT_TRUE(filter.isFresh(sequence) || received.count(sequence) == 1) << sequence;
    }
}

TEST(DuplicateFilterTest, AgreesWithASet) {
    std::mt19937 random(20);
    DuplicateFilter filter(true);
    EXPECT_TRUE(filter.isFresh(1000));
    EXPECT_EQ(filter.add(1000), 0);
    std::set<std::uint64_t> seen{1000};
    std::int64_t missing = 0;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        const std::uint64_t sequence = 1001 + i / 2 + random() % 40;
        const bool isFresh = seen.insert(sequence).second;
        ASSERT_EQ(filter.isFresh(sequence), isFresh) << sequence;
        if (isFresh) {
            missing += filter.add(sequence);
        }
        ASSERT_EQ(static_cast<std::uint64_t>(missing), *seen.rbegin() - 1000 + 1 - seen.size());
    }
}

}  // namespace
}  // namespace sluice::nats
