#include <sluice/sluice.hpp>

#include <gtest/gtest.h>

namespace sluice {
namespace {

#if defined(__linux__) && defined(__x86_64__) && defined(__GLIBCXX__)

struct Tick {
    int value;
};
struct Stop {};

/// A change of these numbers is a change of the ABI, and of the memory that users reserve.
TEST(SizeTest, OfPublicTypesOnLinux) {
    EXPECT_EQ(sizeof(Park), 32U);
    EXPECT_EQ(sizeof(WaitSet), 88U);
    EXPECT_EQ(sizeof(EventFdWait), 40U);
    EXPECT_EQ(sizeof(SpinLock), 1U);
    EXPECT_EQ((sizeof(SpscRing<int, 64>)), 512U);
    EXPECT_EQ((sizeof(MpscRing<int, 64>)), 1152U);
    EXPECT_EQ((sizeof(MpmcRing<int, 64>)), 1152U);
    EXPECT_EQ(sizeof(SegmentQueue<int>), 192U);
    EXPECT_EQ(sizeof(MpscLanes<int>), 128U);
    EXPECT_EQ((sizeof(OverwriteRing<int, 64>)), 2240U);
    EXPECT_EQ((sizeof(Latest<int, 1>)), 384U);
    EXPECT_EQ((sizeof(BlockingQueue<SpscRing<int, 64>>)), 704U);
    EXPECT_EQ(sizeof(CallbackList<void(int)>), 16U);
    EXPECT_EQ(sizeof(CallbackList<void(int)>::Handle), 8U);
    EXPECT_EQ((sizeof(EventDispatcher<int, void(int)>)), 24U);
    EXPECT_EQ((sizeof(EventQueue<int, void(int)>)), 384U);
    EXPECT_EQ(sizeof(ScopedConnection<CallbackList<void(int)>>), 16U);
    EXPECT_EQ(sizeof(BlockPool), 88U);
    EXPECT_EQ(sizeof(ObjectPool<Tick>), 88U);
    EXPECT_EQ(sizeof(BufferPool), 48U);
    EXPECT_EQ(sizeof(PoolResource), 1304U);
    EXPECT_EQ(sizeof(FixedBlockPool), 176U);
    EXPECT_EQ((sizeof(Bus<Messages<Tick, Stop>>)), 252160U);
    EXPECT_EQ(sizeof(Subscription), 32U);
    EXPECT_EQ(sizeof(FixedFunction<void()>), 64U);
    EXPECT_EQ(sizeof(ThreadPool), 432U);
}

#endif

}  // namespace
}  // namespace sluice
