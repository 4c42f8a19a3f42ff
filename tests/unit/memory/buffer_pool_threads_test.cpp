#include "support/counted_memory.hpp"
#include "support/crew.hpp"
#include "support/interrupting_platform.hpp"
#include "support/jitter_platform.hpp"
#include "support/rendezvous.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"

#include <sluice/memory/buffer_pool.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <utility>
#include <vector>

// Several threads use a BufferPool at once.

namespace sluice {
namespace {

using namespace test;

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

// ---- interruptions, played through in one thread

// An interruption plays another thread, which moves its home when it loses an exchange.
struct InterruptedThreads : InterruptingPlatform {
    static constexpr bool hasThreads = true;
};

template <std::size_t Shards>
struct InterruptedTraits : BufferPoolTraits {
    using Platform = InterruptedThreads;
    static constexpr std::size_t shards = Shards;
};

template <class Traits>
struct Scene {
    using Pool = BasicBufferPool<Traits>;
    Pool pool{optionsFor(8, 3)};
    typename Pool::WritableBuffer first{}, second{}, taken{};
    DataToken token{}, share{};
};

TEST(BufferPoolInterruptedTest, FreeListIsNotFooledByAHeadThatCameBack) {
    using TestScene = Scene<InterruptedTraits<1>>;
    const auto makeScene = [] { return std::make_unique<TestScene>(); };
    const std::size_t accesses = interruptEverywhere(
        makeScene, [](TestScene& scene) { scene.taken = scene.pool.tryAcquire(); },
        [](TestScene& scene) {
            scene.first = scene.pool.tryAcquire();
            scene.second = scene.pool.tryAcquire();
            scene.first.reset();
        },
        [](TestScene& scene) {
            const auto rest = acquireAll(scene.pool);
            ASSERT_EQ(rest.size(), 1U);
            const std::set<std::byte*> places{scene.taken.data(), scene.second.data(),
                                              rest.front().data()};
            EXPECT_EQ(places.size(), 3U) << "a buffer was given out twice";
        });
    EXPECT_GE(accesses, 3U);
}

/// One buffer is free, in the shard that is looked at last. Meanwhile two come back to the shard
/// that was looked at first, then that one goes: not for a moment are all of them out.
TEST(BufferPoolInterruptedTest, LooksAgainForBuffersThatMoveBehindItsBack) {
    using TestScene = Scene<InterruptedTraits<2>>;
    const auto makeScene = [] {
        auto scene = std::make_unique<TestScene>();
        scene->first = scene->pool.tryAcquire();
        scene->second = scene->pool.tryAcquire();
        return scene;
    };
    // The interruption is itself interrupted, somewhere in its giving back, so that it loses an
    // exchange: then it acquires from the other shard.
    for (std::size_t access = 0; access < 8; ++access) {
        interruptEverywhere(
            makeScene, [](TestScene& scene) { scene.taken = scene.pool.tryAcquire(); },
            [access](TestScene& scene) {
                {
                    const Interruption inner(access, [&scene] { scene.second.reset(); });
                    scene.first.reset();
                }
                scene.second.reset();
                scene.first = scene.pool.tryAcquire();
            },
            [](TestScene& scene) {
                EXPECT_TRUE(scene.taken);
                EXPECT_TRUE(scene.first);
                EXPECT_EQ(scene.pool.statistics().exhausted, 0U);
                EXPECT_EQ(acquireAll(scene.pool).size(), 1U);
            });
    }
}

TEST(BufferPoolInterruptedTest, LastTwoTokensGiveTheBufferBackOnce) {
    using TestScene = Scene<InterruptedTraits<2>>;
    const auto makeScene = [] {
        auto scene = std::make_unique<TestScene>();
        scene->token = scene->pool.tryAcquire().publish(8);
        scene->share = scene->token.share();
        return scene;
    };
    const std::size_t accesses = interruptEverywhere(
        makeScene, [](TestScene& scene) { scene.token.reset(); },
        [](TestScene& scene) { scene.share.reset(); },
        [](TestScene& scene) {
            EXPECT_EQ(scene.pool.statistics().inUse, 0U);
            EXPECT_EQ(acquireAll(scene.pool).size(), 3U);
        });
    EXPECT_GE(accesses, 2U);
}

// ---- threads

struct JitterTraits : BufferPoolTraits {
    using Platform = JitterPlatform;
};
struct OneShardTraits : JitterTraits {
    static constexpr std::size_t shards = 1;
};

template <class Traits>
class BufferPoolThreadsTest : public ::testing::Test {
protected:
    using Pool = BasicBufferPool<Traits>;
};
using AllTraits = ::testing::Types<BufferPoolTraits, JitterTraits, OneShardTraits>;
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

/// No thread has more than one buffer, and there is one for each thread. So each request must
/// succeed, however the free buffers move between the shards.
TYPED_TEST(BufferPoolThreadsTest, IsNotExhaustedWhileABufferIsFree) {
    constexpr std::size_t threads = 3;
    typename TestFixture::Pool pool(optionsFor(8, threads));
    const Watchdog watchdog([](std::FILE*) {});
    {
        Crew crew;
        for (std::size_t i = 0; i < threads; ++i) {
            crew.add([&pool] {
                for (std::size_t round = scaled(60'000); round != 0; --round) {
                    (void)pool.tryAcquire();
                }
            });
        }
    }
    EXPECT_EQ(pool.statistics().exhausted, 0U);
}

/// Two threads give up the last two tokens at once, then the buffer must be there again.
TYPED_TEST(BufferPoolThreadsTest, LastTwoTokensMayGoAtOnce) {
    typename TestFixture::Pool pool(optionsFor(8, 1));
    const Watchdog watchdog([](std::FILE*) {});
    const std::size_t rounds = scaled(20'000);
    Rendezvous rendezvous;
    DataToken shared;
    std::size_t failed = 0;
    Crew crew;
    crew.add([&] {
        for (std::size_t round = 0; round < rounds; ++round) {
            rendezvous.arrive();
            shared.reset();
            rendezvous.arrive();
        }
    });
    crew.start();
    for (std::size_t round = 0; round < rounds; ++round) {
        auto buffer = pool.tryAcquire();
        failed += buffer ? 0 : 1;
        DataToken token = buffer ? std::move(buffer).publish(8) : DataToken();
        shared = token.share();
        rendezvous.arrive();
        token.reset();
        rendezvous.arrive();
    }
    crew.join();
    EXPECT_EQ(failed, 0U);
    EXPECT_EQ(acquireAll(pool).size(), 1U);
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
