#include "stress/queue_stress.hpp"
#include "support/queue_shapes.hpp"
#include "support/scale.hpp"

#include <sluice/queue/segment_queue.hpp>

#include <gtest/gtest.h>

#include <cstddef>

namespace sluice::test {
namespace {

TEST(SegmentQueueStressTest, DeliversWhatOneProducerPushes) {
    stressAtAllCapacities<SegmentQueueShape>(1);
}

TEST(SegmentQueueStressTest, DeliversWhatTwoProducersPush) {
    stressAtAllCapacities<SegmentQueueShape>(2);
}

TEST(SegmentQueueStressTest, DeliversWhatFourProducersPush) {
    stressAtAllCapacities<SegmentQueueShape>(4);
}

/// As shipped: large segments, no limit.
struct UnlimitedShape : SegmentQueueShape {
    template <class Q>
    static Q make(std::size_t) {
        return Q();
    }
};

TEST(SegmentQueueStressTest, DeliversWhatFourProducersPushWithoutALimit) {
    stress<UnlimitedShape, 0, SegmentQueueTraits>(4, scaled(60000));
}

}  // namespace
}  // namespace sluice::test
