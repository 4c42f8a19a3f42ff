#include "support/dice.hpp"

#include <sluice/memory/detail/slab_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <vector>

namespace sluice::detail {
namespace {

constexpr SlabLayout layout{16, 16, false, false};
constexpr std::size_t blocksInSlab = 4;

class SlabTreeTest : public ::testing::Test {
protected:
    SlabTreeTest() {
        for (int i = 0; i < 500; ++i) {
            slabs_.push_back(&Slab::create(layout, blocksInSlab, memory_));
        }
    }
    ~SlabTreeTest() override {
        for (Slab* const slab : slabs_) {
            Slab::destroy(*slab, layout, memory_);
        }
    }

    /// Each address of a slab finds it if the tree has it, and nothing otherwise.
    void expectFinds(const Slab& slab, bool isInTree) const {
        const Slab* const expected = isInTree ? &slab : nullptr;
        const auto* const first = static_cast<const char*>(slab.block(0, layout));
        constexpr std::size_t bytes = blocksInSlab * 16;
        EXPECT_EQ(tree_.find(first, layout), expected);
        EXPECT_EQ(tree_.find(first + bytes - 1, layout), expected);
        EXPECT_EQ(tree_.find(first + bytes, layout), nullptr) << "behind the last block";
    }

    std::pmr::memory_resource* const memory_ = std::pmr::new_delete_resource();
    std::vector<Slab*> slabs_;
    SlabTree tree_;
};

TEST_F(SlabTreeTest, FindsTheSlabsThatItHas) {
    std::vector<bool> isIn(slabs_.size(), false);
    test::Dice dice(1);
    for (int step = 0; step < 5000; ++step) {
        const std::size_t i = dice() % slabs_.size();
        if (isIn[i]) {
            slabs_[i]->freeBlocks = blocksInSlab;
            ASSERT_EQ(tree_.takeUnused(), slabs_[i]);
            slabs_[i]->next = nullptr;
        } else {
            tree_.insert(*slabs_[i]);
        }
        isIn[i] = !isIn[i];
        expectFinds(*slabs_[i], isIn[i]);
    }
    for (std::size_t i = 0; i < slabs_.size(); ++i) {
        expectFinds(*slabs_[i], isIn[i]);
    }
}

TEST_F(SlabTreeTest, TakesOutThoseWithoutAUsedBlock) {
    for (std::size_t i = 0; i < slabs_.size(); ++i) {
        tree_.insert(*slabs_[i]);
        slabs_[i]->freeBlocks = i % 3 == 0 ? blocksInSlab : 1;
    }
    std::size_t taken = 0;
    for (const Slab* slab = tree_.takeUnused(); slab != nullptr; slab = slab->next) {
        ++taken;
    }
    EXPECT_EQ(taken, (slabs_.size() + 2) / 3);
    for (std::size_t i = 0; i < slabs_.size(); ++i) {
        expectFinds(*slabs_[i], i % 3 != 0);
    }
    EXPECT_EQ(tree_.takeUnused(), nullptr) << "the counts begin anew";
}

/// The longest way down.
std::size_t depthOf(const Slab* slab) {
    if (slab == nullptr) {
        return 0;
    }
    return 1 + std::max(depthOf(slab->lower), depthOf(slab->higher));
}

TEST_F(SlabTreeTest, IsShallowWhateverTheOrder) {
    for (Slab* const slab : slabs_) {
        tree_.insert(*slab);
    }
    std::size_t deepest = 0;
    for (const Slab* const slab : slabs_) {
        deepest = std::max(deepest, depthOf(slab));
    }
    EXPECT_LT(deepest, 60U) << "about 20 for 500 slabs at random";
}

}  // namespace
}  // namespace sluice::detail
