#include "support/counted_memory.hpp"
#include "support/crew.hpp"
#include "support/interrupting_platform.hpp"
#include "support/jitter_platform.hpp"
#include "support/rendezvous.hpp"
#include "support/sanitizers.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"

#include <sluice/memory/buffer_pool.hpp>

#include "support/testing.hpp"
#include <cstring>
#include <memory_resource>

namespace sluice {
namespace {

using namespace test;

static_assert(!std::is_copy_constructible_v<BufferPool> &&
              !std::is_move_constructible_v<BufferPool>);
static_assert(!std::is_convertible_v<WritableBuffer, bool>, "only where a condition is asked for");
static_assert(sizeof(WritableBuffer) == sizeof(void*));

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
    DataToken token = std::move(buffer).publish(5, 77);
    EXPECT_FALSE(buffer);
    EXPECT_EQ(token.data(), place);
    EXPECT_EQ(token.size(), 5U);
    EXPECT_EQ(token.timeStamp(), 77U);
    EXPECT_EQ(std::memcmp(token.data(), "frame", 5), 0);
    EXPECT_FALSE(pool.tryAcquire());
    token.reset();
    EXPECT_TRUE(pool.tryAcquire());
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

// ---- interruptions, played through in one thread

struct InterruptedTraits : BufferPoolTraits {
    using Platform = InterruptingPlatform;
};

struct Scene {
    using Pool = BasicBufferPool<InterruptedTraits>;
    Pool pool{optionsFor(8, 3)};
    Pool::WritableBuffer first{}, second{}, taken{};
    DataToken token{}, share{};
};

TEST(BufferPoolInterruptedTest, LastTwoTokensGiveTheBufferBackOnce) {
    const auto makeScene = [] {
        auto scene = std::make_unique<Scene>();
        scene->token = scene->pool.tryAcquire().publish(8);
        scene->share = scene->token.share();
        return scene;
    };
    const std::size_t accesses = interruptEverywhere(
        makeScene, [](Scene& scene) { scene.token.reset(); },
        [](Scene& scene) { scene.share.reset(); },
        [](Scene& scene) {
            EXPECT_EQ(scene.pool.statistics().inUse, 0U);
            EXPECT_EQ(acquireAll(scene.pool).size(), 3U);
        });
    EXPECT_GE(accesses, 2U);
}

// ---- threads

struct JitterTraits : BufferPoolTraits {
    using Platform = JitterPlatform;
};
template <class Traits>
class BufferPoolThreadsTest : public ::testing::Test {
protected:
    using Pool = BasicBufferPool<Traits>;
};
using AllTraits = ::testing::Types<BufferPoolTraits, JitterTraits>;
TYPED_TEST_SUITE(BufferPoolThreadsTest, AllTraits, );

/// A short queue from one thread to another.
class Lane {
public:
    /// A token that finds no place is given up.
    void put(DataToken token) {
        const std::size_t written = written_.load(std::memory_order_relaxed);
        if (written - taken_.load(std::memory_order_acquire) < slots_.size()) {
            slots_[written % slots_.size()] = std::move(token);
            written_.store(written + 1, std::memory_order_release);
        }
    }
    DataToken take() {
        const std::size_t taken = taken_.load(std::memory_order_relaxed);
        if (taken == written_.load(std::memory_order_acquire)) {
            return {};
        }
        DataToken token = std::move(slots_[taken % slots_.size()]);
        taken_.store(taken + 1, std::memory_order_release);
        return token;
    }

private:
    std::array<DataToken, 4> slots_;
    std::atomic<std::size_t> written_{0};
    std::atomic<std::size_t> taken_{0};
};

constexpr std::size_t words = 32;

void fill(std::byte* place, std::uint64_t seed) {
    auto* const to = reinterpret_cast<std::uint64_t*>(place);
    for (std::size_t i = 0; i < words; ++i) {
        to[i] = seed * (2 * i + 1);
    }
}

bool isIntact(const DataToken& token) {
    const auto* const from = reinterpret_cast<const std::uint64_t*>(token.data());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < token.size() / 8; ++i) {
        wrong += from[i] != from[0] * (2 * i + 1) ? 1 : 0;
    }
    return wrong == 0;
}

/// Every thread writes, and reads what the two others have written; each buffer has three tokens.
TYPED_TEST(BufferPoolThreadsTest, BuffersTravelUnharmed) {
    constexpr std::size_t threads = 3;
    typename TestFixture::Pool pool(optionsFor(words * 8, 8));
    const Watchdog watchdog([](std::FILE*) {});
    std::array<std::array<Lane, threads>, threads> lanes;
    std::atomic<std::uint64_t> refused{0};
    std::atomic<std::uint64_t> torn{0};
    const auto work = [&](std::size_t self) {
        std::uint64_t seed = (self + 1) * 0x9E3779B97F4A7C15u;
        for (std::size_t round = scaled(40'000); round != 0; --round) {
            if (auto buffer = pool.tryAcquire()) {
                fill(buffer.data(), ++seed);
                const DataToken token = std::move(buffer).publish(seed % words * 8);
                lanes[self][(self + 1) % threads].put(token.share());
                lanes[self][(self + 2) % threads].put(token.share());
                torn += isIntact(token) ? 0U : 1U;
            } else {
                ++refused;
            }
            for (auto& from : lanes) {
                if (const DataToken token = from[self].take()) {
                    torn += isIntact(token) ? 0U : 1U;
                }
            }
        }
    };
    Crew crew;
    for (std::size_t i = 0; i < threads; ++i) {
        crew.add([&work, i] { work(i); });
    }
    crew.join();
    EXPECT_EQ(torn, 0U) << "a buffer was written while it was read";
    EXPECT_EQ(pool.statistics().exhausted, refused);
    for (auto& from : lanes) {
        for (Lane& lane : from) {
            while (lane.take()) {
            }
        }
    }
    EXPECT_EQ(pool.statistics().inUse, 0U);
    EXPECT_EQ(acquireAll(pool).size(), 8U);
}

/// The other thread may still be on its way out of the pool when nothing is in use any more.
TYPED_TEST(BufferPoolThreadsTest, MayEndAsSoonAsNothingIsInUse) {
    const Watchdog watchdog([](std::FILE*) {});
    const std::size_t rounds = scaled(20'000);
    Rendezvous rendezvous;
    DataToken token;
    Crew crew;
    crew.add([&] {
        for (std::size_t round = 0; round < rounds; ++round) {
            rendezvous.arrive();
            token.reset();
            rendezvous.arrive();
        }
    });
    crew.start();
    CountedMemory memory;
    for (std::size_t round = 0; round < rounds; ++round) {
        auto pool = std::make_unique<typename TestFixture::Pool>(optionsFor(8, 2), &memory);
        token = pool->tryAcquire().publish(8);
        rendezvous.arrive();
        awaitThat([&] { return pool->statistics().inUse == 0; });
        pool.reset();
        rendezvous.arrive();
    }
    crew.join();
    EXPECT_EQ(memory.bytesInUse(), 0U);
}

}  // namespace
}  // namespace sluice
