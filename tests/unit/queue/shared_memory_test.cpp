#include "support/watchdog.hpp"

#include <sluice/queue.hpp>

#include "support/testing.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#endif

namespace sluice {
namespace {

struct SharedPlatform : StdPlatform {
    using Fence = PortableFence;
};
struct SharedTraits : OverwriteRingTraits {
    using Platform = SharedPlatform;
};

static_assert(isSharedMemoryReady<SpscRing<int, 4, SharedTraits>>);
static_assert(isSharedMemoryReady<MpscRing<int, 4, SharedTraits>>);
static_assert(isSharedMemoryReady<MpmcRing<int, 4, SharedTraits>>);
static_assert(isSharedMemoryReady<OverwriteRing<int, 4, SharedTraits>>);
static_assert(isSharedMemoryReady<Latest<int, 4, SharedTraits>>);
static_assert(!isSharedMemoryReady<SpscRing<std::string, 4, SharedTraits>>);
static_assert(!isSharedMemoryReady<SpscRing<int, dynamicCapacity, SharedTraits>>);
static_assert(!isSharedMemoryReady<MpscLanes<int>>);
static_assert(!isSharedMemoryReady<SegmentQueue<int>>);
static_assert(!isSharedMemoryReady<BlockingQueue<SpscRing<int, 4, SharedTraits>>>);

#if defined(__linux__)
static_assert(!isSharedMemoryReady<SpscRing<int, 4>>, "membarrier covers one process");

template <class Ring>
class SharedMemoryTest : public testing::Test {};
using Rings = testing::Types<SpscRing<std::uint64_t, 16, SharedTraits>,
                             MpscRing<std::uint64_t, 16, SharedTraits>,
                             MpmcRing<std::uint64_t, 16, SharedTraits>>;
TYPED_TEST_SUITE(SharedMemoryTest, Rings, );

TYPED_TEST(SharedMemoryTest, CarriesMessagesFromAChildProcess) {
    constexpr std::uint64_t messages = 2000;
    const test::Watchdog watchdog([](std::FILE*) {});
    void* const memory = ::mmap(nullptr, sizeof(TypeParam), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto* const ring = new (memory) TypeParam;
    const pid_t child = ::fork();
    ASSERT_NE(child, -1);
    if (child == 0) {
        for (std::uint64_t i = 0; i < messages;) {
            if (ring->tryPush(i) == SendResult::ok) {
                ++i;
            } else {
                std::this_thread::yield();
            }
        }
        ring->close();
        ::_exit(0);
    }
    std::uint64_t expected = 0;
    std::uint64_t wrong = 0;
    while (!ring->isDrained()) {
        if (ring->consume([&](std::uint64_t value) { wrong += value == expected++ ? 0 : 1; }) ==
            0) {
            std::this_thread::yield();
        }
    }
    EXPECT_EQ(wrong, 0U);
    EXPECT_EQ(expected, messages);
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    ring->~TypeParam();
    ::munmap(memory, sizeof(TypeParam));
}
#endif

}  // namespace
}  // namespace sluice
