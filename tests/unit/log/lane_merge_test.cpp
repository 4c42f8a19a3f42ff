#include "support/dice.hpp"

#include <sluice/log/detail/lanes/order.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sluice::log::detail {
namespace {

struct Source {
    std::vector<Stamp> stamps;  // ascending
    std::size_t at = 0;
};

std::vector<Stamp> merged(std::vector<Source>& sources) {
    LaneMerge<Source> merge;
    for (Source& source : sources) {
        if (!source.stamps.empty()) {
            merge.add(source.stamps.front(), source);
        }
    }
    std::vector<Stamp> out;
    while (!merge.isEmpty()) {
        Source& top = merge.top();
        out.push_back(top.stamps[top.at++]);
        if (top.at == top.stamps.size()) {
            merge.removeTop();
        } else {
            merge.setTopStamp(top.stamps[top.at]);
        }
    }
    return out;
}

TEST(LaneMerge, OfNothingIsEmpty) {
    LaneMerge<Source> merge;
    EXPECT_TRUE(merge.isEmpty());
}

TEST(LaneMerge, GivesTheKeysOfAllSourcesInOrder) {
    test::Dice dice(1);
    for (std::size_t count = 1; count < 40; ++count) {
        std::vector<Source> sources(count);
        std::vector<Stamp> all;
        for (Source& source : sources) {
            Stamp stamp = 0;
            for (std::size_t i = dice() % 20; i != 0; --i) {
                stamp += dice() % 5;
                source.stamps.push_back(stamp);
                all.push_back(stamp);
            }
        }
        std::sort(all.begin(), all.end());
        EXPECT_EQ(merged(sources), all);
    }
}

TEST(LaneMerge, OfEqualKeysTheSourceAddedFirstGoesFirst) {
    std::vector<Source> sources(9);
    LaneMerge<Source> merge;
    for (Source& source : sources) {
        merge.add(5, source);
    }
    for (Source& source : sources) {
        EXPECT_EQ(&merge.top(), &source);
        merge.removeTop();
    }
}

TEST(LaneMerge, CanBeUsedAgain) {
    Source first;
    Source second;
    LaneMerge<Source> merge;
    merge.add(1, first);
    merge.reset(0);
    EXPECT_TRUE(merge.isEmpty());
    merge.add(2, second);
    EXPECT_EQ(&merge.top(), &second);
}

}  // namespace
}  // namespace sluice::log::detail
