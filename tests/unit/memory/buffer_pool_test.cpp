#include "support/counted_memory.hpp"
#include "support/crew.hpp"
#include "support/sanitizers.hpp"

#include <sluice/memory/buffer_pool.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory_resource>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using namespace test;

static_assert(!std::is_copy_constructible_v<BufferPool> &&
              !std::is_move_constructible_v<BufferPool>);
static_assert(!std::is_copy_constructible_v<WritableBuffer>);
static_assert(!std::is_copy_assignable_v<WritableBuffer>);
static_assert(std::is_nothrow_move_constructible_v<WritableBuffer>);
static_assert(std::is_nothrow_move_assignable_v<WritableBuffer>);
static_assert(!std::is_convertible_v<WritableBuffer, bool>, "only where a condition is asked for");
static_assert(sizeof(WritableBuffer) == sizeof(void*));

using Core = detail::BufferCore<BufferPoolTraits>;
static_assert(alignof(Core::Slot) == cacheLineSize, "buffers share no line");
static_assert(sizeof(Core::FreeList) >= BufferPoolTraits::shards * cacheLineSize,
              "lists of free buffers share no line");

BufferPoolOptions optionsFor(std::size_t bufferSize, std::size_t buffers) {
    BufferPoolOptions options;
    options.bufferSize = bufferSize;
    options.buffers = buffers;
    return options;
}

template <class Pool>
auto acquireAll(Pool& pool) {
    std::vector<typename Pool::WritableBuffer> buffers;
    while (auto buffer = pool.tryAcquire()) {
        buffers.push_back(std::move(buffer));
    }
    return buffers;
}

DataToken published(BufferPool& pool, std::size_t length) {
    return pool.tryAcquire().publish(length);
}

// ---- buffers

TEST(BufferPoolTest, GivesOutEachBufferOnce) {
    for (const std::size_t count : {1U, 2U, 7U, 8U, 9U, 100U}) {
        BufferPool pool(optionsFor(24, count));
        EXPECT_EQ(pool.buffers(), count);
        for (int round = 0; round < 3; ++round) {
            const auto buffers = acquireAll(pool);
            std::set<std::byte*> places;
            for (const WritableBuffer& buffer : buffers) {
                places.insert(buffer.data());
                EXPECT_EQ(buffer.capacity(), 24U);
            }
            EXPECT_EQ(places.size(), count);
            EXPECT_EQ(pool.statistics().inUse, count);
        }
        EXPECT_EQ(pool.statistics().inUse, 0U);
        EXPECT_EQ(pool.statistics().buffers, count);
    }
}

TEST(BufferPoolTest, BuffersAreAlignedAndApart) {
    for (const std::size_t alignment : {1U, 2U, 16U, 64U, 4096U}) {
        BufferPoolOptions options = optionsFor(100, 20);
        options.alignment = alignment;
        BufferPool pool(options);
        EXPECT_EQ(pool.alignment(), alignment);
        EXPECT_EQ(pool.bufferSize(), 100U);
        const auto buffers = acquireAll(pool);
        for (std::size_t i = 0; i < buffers.size(); ++i) {
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffers[i].data()) % alignment, 0U);
            std::memset(buffers[i].data(), static_cast<int>(i), 100);
        }
        for (std::size_t i = 0; i < buffers.size(); ++i) {
            EXPECT_EQ(buffers[i].data()[0], std::byte(i));
            EXPECT_EQ(buffers[i].data()[99], std::byte(i));
        }
    }
}

TEST(BufferPoolTest, ExhaustionIsAnAnswerAndCounted) {
    BufferPool pool(optionsFor(64, 1));
    WritableBuffer buffer = pool.tryAcquire();
    ASSERT_TRUE(buffer);
    const WritableBuffer none = pool.tryAcquire();
    EXPECT_FALSE(none);
    EXPECT_EQ(none.data(), nullptr);
    EXPECT_EQ(none.capacity(), 0U);
    EXPECT_FALSE(pool.tryAcquire());
    EXPECT_EQ(pool.statistics().exhausted, 2U);
    buffer.reset();
    EXPECT_TRUE(pool.tryAcquire());
    EXPECT_EQ(pool.statistics().exhausted, 2U);
}

TEST(BufferPoolTest, UnpublishedBuffersGoBack) {
    BufferPool pool(optionsFor(64, 2));
    {
        WritableBuffer buffer = pool.tryAcquire();
        WritableBuffer moved = std::move(buffer);
        EXPECT_FALSE(buffer);
        EXPECT_TRUE(moved);
        moved = pool.tryAcquire();
        EXPECT_EQ(pool.statistics().inUse, 1U) << "the assigned one took the place of the first";
        auto& same = moved;
        moved = std::move(same);
        EXPECT_TRUE(moved);
        moved.reset();
        moved.reset();
        EXPECT_EQ(pool.statistics().inUse, 0U);
        moved = pool.tryAcquire();
    }
    EXPECT_EQ(pool.statistics().inUse, 0U);
    EXPECT_EQ(acquireAll(pool).size(), 2U);
}

// ---- tokens

TEST(BufferPoolTest, PublishedBytesAreReadWithoutACopy) {
    BufferPool pool(optionsFor(64, 1));
    WritableBuffer buffer = pool.tryAcquire();
    std::byte* const place = buffer.data();
    std::memcpy(place, "frame", 5);
    DataToken token = std::move(buffer).publish(5);
    EXPECT_FALSE(buffer);
    EXPECT_EQ(token.data(), place);
    EXPECT_EQ(token.size(), 5U);
    EXPECT_EQ(std::memcmp(token.data(), "frame", 5), 0);
    EXPECT_FALSE(pool.tryAcquire());
    token.reset();
    EXPECT_TRUE(pool.tryAcquire());
}

TEST(BufferPoolTest, PublishGivesTheTokenItsTimeStamp) {
    BufferPool pool(optionsFor(8, 1));
    EXPECT_EQ(pool.tryAcquire().publish(4, 77).timeStamp(), 77U);
    EXPECT_EQ(published(pool, 4).timeStamp(), 0U) << "that of the last publication is gone";
}

TEST(BufferPoolTest, LengthMayBeNothingOrAll) {
    BufferPool pool(optionsFor(64, 2));
    const DataToken nothing = published(pool, 0);
    const DataToken all = published(pool, 64);
    EXPECT_TRUE(nothing);
    EXPECT_EQ(nothing.size(), 0U);
    EXPECT_EQ(all.size(), 64U);
    EXPECT_EQ(pool.statistics().inUse, 2U);
}

TEST(BufferPoolTest, BufferGoesBackOnceWithTheLastToken) {
    BufferPool pool(optionsFor(64, 2));
    DataToken first = published(pool, 10);
    DataToken second = first.share();
    DataToken third = second.share();
    EXPECT_EQ(third.data(), first.data());
    EXPECT_EQ(third.size(), 10U);
    EXPECT_EQ(pool.statistics().inUse, 1U);
    second.reset();
    first.reset();
    EXPECT_EQ(pool.statistics().inUse, 1U);
    EXPECT_EQ(acquireAll(pool).size(), 1U);
    third.reset();
    EXPECT_EQ(pool.statistics().inUse, 0U);
    EXPECT_EQ(acquireAll(pool).size(), 2U);
}

TEST(BufferPoolTest, BuffersGivenBackByManyThreadsAreThereForOne) {
    BufferPool pool(optionsFor(64, 40));
    for (int round = 0; round < 5; ++round) {
        auto buffers = acquireAll(pool);
        ASSERT_EQ(buffers.size(), 40U);
        Crew crew;
        for (std::size_t thread = 0; thread < 10; ++thread) {
            crew.add([&buffers, thread] {
                for (std::size_t i = thread; i < buffers.size(); i += 10) {
                    buffers[i].reset();
                }
            });
        }
    }
    EXPECT_EQ(acquireAll(pool).size(), 40U);
}

// ---- memory

TEST(BufferPoolTest, AllocatesOnceAndGivesItBack) {
    CountedMemory memory;
    {
        BufferPool pool(optionsFor(1000, 50), &memory);
        EXPECT_GE(memory.bytesInUse(), 50U * 1000);
        for (int i = 0; i < 100; ++i) {
            const DataToken token = published(pool, 10);
            const DataToken other = token.share();
        }
        (void)acquireAll(pool);
    }
    EXPECT_EQ(memory.allocations(), 1U);
    EXPECT_EQ(memory.bytesInUse(), 0U);
}

#if defined(__cpp_exceptions)
TEST(BufferPoolTest, PassesOnWhatTheMemoryResourceThrows) {
    EXPECT_THROW(BufferPool(optionsFor(64, 1), std::pmr::null_memory_resource()), std::bad_alloc);
}

void expectRefusal(const BufferPoolOptions& options, const std::string& part) {
    try {
        const BufferPool pool(options);
        FAIL() << "not refused: " << part;
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
}

TEST(BufferPoolTest, RefusesWhatCannotWork) {
    constexpr auto huge = std::numeric_limits<std::size_t>::max();
    expectRefusal(optionsFor(0, 1), "buffer size of a BufferPool is too small: 0, limit 1");
    expectRefusal(optionsFor(huge, 1), "buffer size of a BufferPool is too large");
    expectRefusal(optionsFor(8, 0), "number of buffers of a BufferPool is too small: 0, limit 1");
    expectRefusal(optionsFor(8, huge / 8), "number of buffers of a BufferPool is too large");
    expectRefusal(optionsFor(huge / 8, 9), "number of buffers of a BufferPool is too large: 9");
    BufferPoolOptions options = optionsFor(8, 10);
    options.alignment = 24;
    expectRefusal(options, "alignment of a BufferPool is not a power of two: 24");
    options.alignment = 0;
    expectRefusal(options, "alignment of a BufferPool is not a power of two: 0");
    options.alignment = huge / 2 + 1;
    expectRefusal(options, "alignment of a BufferPool is too large");
}

#if SIZE_MAX > UINT32_MAX
TEST(BufferPoolTest, RefusesMoreBuffersThanNumbers) {
    expectRefusal(optionsFor(8, std::size_t{1} << 32U),
                  "number of buffers of a BufferPool is too large: 4294967296, limit 4294967295");
}
#endif
#endif

// ---- leaks and misuse

BufferLeak lastLeak{};

TEST(BufferPoolTest, ReportsWhatOutlivesItAndKeepsItValid) {
    lastLeak = {};
    // Gives the memory back when the pool, rightly, does not.
    std::pmr::monotonic_buffer_resource memory;
    DataToken token;
    WritableBuffer buffer;
    {
        BufferPoolOptions options = optionsFor(48, 10);
        options.name = "frames";
        options.onLeak = [](const BufferLeak& leak) noexcept { lastLeak = leak; };
        BufferPool pool(options, &memory);
        buffer = pool.tryAcquire();
        std::memset(buffer.data(), 'x', 48);
        token = std::move(buffer).publish(48);
        buffer = pool.tryAcquire();
    }
    EXPECT_STREQ(lastLeak.name, "frames");
    EXPECT_EQ(lastLeak.buffers, 2U);
    EXPECT_EQ(lastLeak.bufferSize, 48U);
    EXPECT_EQ(token.data()[47], std::byte{'x'});
    buffer.reset();
    token.share().reset();
    token.reset();
}

#if defined(NDEBUG)
TEST(BufferPoolTest, NeverShowsMoreThanTheBuffer) {
    BufferPool pool(optionsFor(64, 1));
    const DataToken token = published(pool, 65);
    EXPECT_EQ(token.size(), 64U);
    EXPECT_FALSE(published(pool, 1)) << "there was no buffer to publish";
}
#else
TEST(BufferPoolDeathTest, CatchesMisuse) {
    BufferPool pool(optionsFor(64, 1));
    EXPECT_DEATH((void)published(pool, 65), "more bytes than the buffer has: 65; write and");
    EXPECT_DEATH((void)WritableBuffer().publish(0), "there is no buffer to publish");
    const auto outlive = [] {
        std::array<DataToken, 2> tokens;
        BufferPool ending(optionsFor(8, 3));
        tokens = {published(ending, 1), published(ending, 1)};
    };
    EXPECT_DEATH(outlive(), "outlive their pool: 2; destroy their tokens first");
}
#endif

#if SLUICE_TEST_ASAN
TEST(BufferPoolDeathTest, PoisonsWhatMayNotBeTouched) {
    BufferPool pool(optionsFor(20, 1));
    WritableBuffer buffer = pool.tryAcquire();
    auto* const bytes = reinterpret_cast<volatile char*>(buffer.data());
    bytes[19] = 1;
    EXPECT_DEATH(bytes[20] = 1, "use-after-poison");
    DataToken token = std::move(buffer).publish(10);
    EXPECT_EQ(bytes[9], bytes[9]);
    EXPECT_DEATH((void)bytes[10], "use-after-poison") << "it was not published";
    token.reset();
    EXPECT_DEATH((void)bytes[0], "use-after-poison");
    buffer = pool.tryAcquire();
    bytes[19] = 1;
}
#endif

}  // namespace
}  // namespace sluice
