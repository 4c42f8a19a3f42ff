#include <sluice/queue/blocking_queue.hpp>
#include <sluice/queue/mpsc_lanes.hpp>
#include <sluice/queue/segment_queue.hpp>
#include <sluice/queue/spsc_ring.hpp>

#include <cstdint>
#include <memory>
#include <utility>

struct OddTraits : sluice::SegmentQueueTraits {
    static constexpr std::uint64_t firstPosition = 7;
};
using Lanes = sluice::MpscLanes<std::unique_ptr<int>>;
using Segments = sluice::SegmentQueue<std::unique_ptr<int>>;
using Blocking = sluice::BlockingQueue<sluice::SpscRing<std::unique_ptr<int>, 4>>;

#if CASE == 0
bool allThatTheOtherCasesNearlyAre(Lanes& lanes, Segments& segments, Blocking& blocking) {
    Lanes::Producer producer = lanes.producer();
    Lanes::Producer moved = std::move(producer);
    return moved.tryPush(std::make_unique<int>(1)) == sluice::SendResult::ok &&
           segments.tryPush(std::make_unique<int>(1)) == sluice::SendResult::ok &&
           blocking.push(std::make_unique<int>(1)) == sluice::SendResult::ok;
}
#elif CASE == 1
// EXPECT: no matching (function for call to|constructor for initialization of) .*MpscLanes
Lanes lanes;
#elif CASE == 2
// EXPECT: use of deleted function|call to (implicitly-)?deleted
Lanes::Producer shareAHandle(const Lanes::Producer& producer) {
    return producer;
}
#elif CASE == 3
// EXPECT: firstPosition of the traits must be even
sluice::SegmentQueue<int, OddTraits> queue;
#elif CASE == 4
// EXPECT: no member named .tryPush
bool pushWithoutAHandle(Lanes& lanes) {
    return lanes.tryPush(std::make_unique<int>(1)) == sluice::SendResult::ok;
}
#elif CASE == 5
// EXPECT: use of deleted function|call to (implicitly-)?deleted
bool pushACopyOfWhatCannotBeCopied(Blocking& queue, const std::unique_ptr<int>& message) {
    return queue.push(message) == sluice::SendResult::ok;
}
#elif CASE == 6
// EXPECT: ignoring returned value|nodiscard
void forgetTheResult(Blocking& queue) {
    queue.push(std::make_unique<int>(1));
}
#elif CASE == 7
// EXPECT: ignoring return value|nodiscard
void forgetTheHandle(Lanes& lanes) {
    lanes.producer();
}
#elif CASE == 8
// EXPECT: no matching function for call|no type named|no match
bool askForAHandleWhereThereIsNone(Blocking& queue) {
    auto producer = queue.producer();
    return producer.tryPush(std::make_unique<int>(1)) == sluice::SendResult::ok;
}
#endif
