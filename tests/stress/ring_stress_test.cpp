#include "stress/queue_stress.hpp"
#include "support/queue_shapes.hpp"

#include <gtest/gtest.h>

namespace sluice::test {
namespace {

TEST(SpscRingStressTest, DeliversWhatItAccepts) {
    stressAtAllCapacities<SpscRingShape>(1);
}

TEST(SpscRingStressTest, DeliversWhatItAcceptsWithRunTimeCapacity) {
    stressAtAllCapacities<DynamicSpscRingShape>(1);
}

TEST(MpscRingStressTest, DeliversWhatOneProducerPushes) {
    stressAtAllCapacities<MpscRingShape>(1);
}

TEST(MpscRingStressTest, DeliversWhatTwoProducersPush) {
    stressAtAllCapacities<MpscRingShape>(2);
}

TEST(MpscRingStressTest, DeliversWhatFourProducersPush) {
    stressAtAllCapacities<MpscRingShape>(4);
}

TEST(MpscRingStressTest, DeliversWhatFourProducersPushWithRunTimeCapacity) {
    stressAtAllCapacities<DynamicMpscRingShape>(4);
}

TEST(MpmcRingStressTest, DeliversWhatFourProducersPush) {
    stressAtAllCapacities<MpmcRingShape>(4);
}

TEST(MpmcRingStressTest, DeliversWhatFourProducersPushWithRunTimeCapacity) {
    stressAtAllCapacities<DynamicMpmcRingShape>(4);
}

}  // namespace
}  // namespace sluice::test
