#include <sluice/memory/block_pool.hpp>
#include <sluice/memory/block_pool_options.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>

namespace sluice {
namespace {

BlockPoolOptions optionsFor(std::size_t blockSize, std::size_t capacity) {
    BlockPoolOptions options;
    options.blockSize = blockSize;
    options.capacity = capacity;
    return options;
}

#if defined(__cpp_exceptions)
void expectRefusal(const BlockPoolOptions& options, const std::string& part) {
    try {
        const BlockPool pool(options);
        FAIL() << "not refused: " << part;
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
}

TEST(BlockPoolOptionsTest, OptionsThatCannotWorkAreRefused) {
    constexpr auto huge = std::numeric_limits<std::size_t>::max();
    expectRefusal(optionsFor(0, 1), "block size of a BlockPool is too small: 0, limit 1");
    expectRefusal(optionsFor(huge, 1), "block size of a BlockPool is too large");
    expectRefusal(optionsFor(8, 0), "capacity of a BlockPool is too small: 0, limit 1");
    expectRefusal(optionsFor(8, huge / 8), "capacity of a BlockPool is too large");
    BlockPoolOptions options = optionsFor(8, 10);
    options.alignment = 24;
    expectRefusal(options, "alignment of a BlockPool is not a power of two: 24");
    options.alignment = 0;
    expectRefusal(options, "alignment of a BlockPool is not a power of two: 0");
    options = optionsFor(8, 10);
    options.initialBlocks = 11;
    expectRefusal(options, "initialBlocks of a BlockPool exceed its capacity: 11, limit 10");
    options = optionsFor(8, 10);
    options.blocksPerSlab = huge / 16;
    expectRefusal(options, "blocksPerSlab of a BlockPool is too large");
}
#endif

BlockLeak lastLeak{};

TEST(BlockPoolOptionsTest, OnLeakGetsTheBlocksThatWereNotFreed) {
    lastLeak = {};
    {
        BlockPoolOptions options = optionsFor(48, 10);
        options.name = "orders";
        options.onLeak = [](const BlockLeak& leak) noexcept { lastLeak = leak; };
        BlockPool pool(options);
        (void)pool.allocate();
        (void)pool.allocate();
    }
    EXPECT_STREQ(lastLeak.name, "orders");
    EXPECT_EQ(lastLeak.blocks, 2U);
    EXPECT_EQ(lastLeak.blockSize, 48U);
}

}  // namespace
}  // namespace sluice
