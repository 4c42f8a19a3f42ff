#include "support/crew.hpp"
#include "support/real_time.hpp"
#include "support/scale.hpp"

#include <sluice/base/priority_mutex.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <mutex>
#include <thread>

namespace sluice {
namespace {

using namespace test;

/// Six threads, half of them real-time ones on one processor if the system lets them be. Now and
/// then a holder stays so long that the others sleep.
TEST(PriorityMutexStressTest, ThreadsOfAllPrioritiesGoOn) {
    PriorityMutex mutex;
    std::size_t count = 0;
    const std::size_t rounds = scaled(20'000);
    {
        Crew crew;
        for (int i = 0; i < 6; ++i) {
            crew.add([&, i] {
                if (i % 2 == 1) {
                    (void)becomeRealTime(i);
                }
                for (std::size_t round = 0; round < rounds; ++round) {
                    const std::lock_guard<PriorityMutex> guard(mutex);
                    ++count;
                    for (int wait = 0; round % 64 == 0 && wait < 20; ++wait) {
                        std::this_thread::yield();
                    }
                }
            });
        }
    }
    EXPECT_EQ(count, 6 * rounds);
}

}  // namespace
}  // namespace sluice
